//! Encrypted connections.

use super::{Folder, NURSERY};
use crate::run::{json, refused};
use std::fs;

/// A folder with a certificate for the loopback address and its key; and another certificate, of somebody else.
fn certified(name: &str) -> Folder {
    let folder = Folder::new(name, "--learner shares-only");
    for file in ["own", "other"] {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".into()]).unwrap();
        fs::write(folder.path(&format!("{file}.pem")), made.cert.pem()).unwrap();
        fs::write(folder.path(&format!("{file}.key")), made.signing_key.serialize_pem()).unwrap();
    }
    folder
}

fn tls(folder: &Folder, certificate: &str, key: &str) -> String {
    format!("[tls]\ncertificate = {:?}\nkey = {:?}\n", folder.path(certificate), folder.path(key))
}

#[test]
fn reports_are_sent_over_tls_to_a_certificate_that_is_trusted_and_to_no_other() {
    let folder = certified("tls");
    folder.configure(&tls(&folder, "own.pem", "own.key"));
    let collector = folder.serve();
    assert!(collector.url.starts_with("https://"), "{}", collector.url);
    let send = format!("send {NURSERY} --to {}", collector.url);
    let sent = json(&format!("{send} --ca {}", folder.path("own.pem")));
    assert_eq!(sent["accepted"], 12_960);
    let untrusted = "shows a certificate that is not trusted here; --ca names the one to trust";
    refused(&format!("{send} --ca {}", folder.path("other.pem")), 1, untrusted);
    refused(&format!("{send} --ca {}", folder.path("task.toml")), 1, "there is no certificate to trust");
    refused(&format!("{send} --ca {}", folder.path("nowhere.pem")), 1, "nowhere.pem");
    // Whoever does not encrypt is not understood.
    let plain = collector.url.replace("https://", "http://");
    refused(&format!("send {NURSERY} --to {plain}"), 1, "does not answer");
}

#[test]
fn what_is_no_certificate_is_said() {
    let folder = certified("no-tls");
    let refuse = |certificate: &str, key: &str, message: &str| {
        folder.configure(&tls(&folder, certificate, key));
        refused(&folder.words(), 1, message);
    };
    refuse("nowhere.pem", "own.key", "nowhere.pem is no certificate in PEM");
    refuse("own.pem", "own.pem", "own.pem is no key in PEM");
    refuse("own.pem", "other.key", "the certificate and the key do not fit together");
    refuse("task.toml", "own.key", "the certificate and the key do not fit together");
}
