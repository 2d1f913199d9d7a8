//! Tokens that admit a number of reports: what bounds how much anybody can say.
//!
//! > token = nonce ‖ cap ‖ HMAC-SHA256(secret, task ‖ nonce ‖ cap), the first 16 bytes
//!
//! The collector keeps no list of tokens: that it made one is shown by the code, and how often it was used is known from
//! the log, which counts the reports of each nonce when it stores them. Whoever hands out the tokens decides how many
//! reports strangers can add; how far they move an answer is stated with it.

use super::tokens::{from_hex, random, to_hex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use undertone_collect::Admission;
use undertone_report::TaskId;

/// nonce, cap and code.
const LENGTH: usize = 16 + 4 + CODE;
const CODE: usize = 16;

/// Makes and checks the tokens of one task.
#[derive(Clone)]
pub(crate) struct AdmissionKey {
    secret: [u8; 32],
    task: TaskId,
}

impl AdmissionKey {
    pub(crate) fn new(secret: [u8; 32], task: TaskId) -> Self {
        Self { secret, task }
    }

    /// A token that admits `cap` reports.
    pub(crate) fn issue(&self, cap: u32) -> anyhow::Result<String> {
        let admission = Admission { nonce: random()?, cap };
        let mut bytes = admission.nonce.to_vec();
        bytes.extend(cap.to_be_bytes());
        bytes.extend(&self.code(&admission).finalize().into_bytes()[..CODE]);
        Ok(to_hex(&bytes))
    }

    /// What a token admits, if this collector made it for this task.
    pub(crate) fn check(&self, token: &str) -> Option<Admission> {
        let bytes: [u8; LENGTH] = from_hex(token).ok()?.try_into().ok()?;
        let (nonce, rest) = bytes.split_first_chunk::<16>()?;
        let (cap, code) = rest.split_first_chunk::<4>()?;
        let admission = Admission { nonce: *nonce, cap: u32::from_be_bytes(*cap) };
        self.code(&admission).verify_truncated_left(code).ok()?;
        Some(admission)
    }

    fn code(&self, admission: &Admission) -> Hmac<Sha256> {
        // A key of any length will do.
        let mut code = Hmac::<Sha256>::new_from_slice(&self.secret).expect("32 bytes are a key");
        code.update(b"undertone admission 1");
        code.update(self.task.as_bytes());
        code.update(&admission.nonce);
        code.update(&admission.cap.to_be_bytes());
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_report::sha256_of;

    fn task(name: &str) -> TaskId {
        sha256_of(name.as_bytes()).parse().unwrap()
    }

    #[test]
    fn a_token_admits_what_it_was_made_for_and_nothing_else_does() {
        let key = AdmissionKey::new([7; 32], task("a"));
        let token = key.issue(3).unwrap();
        assert_eq!(key.check(&token).unwrap().cap, 3);
        assert_ne!(key.check(&token), key.check(&key.issue(3).unwrap()));
        assert_eq!(AdmissionKey::new([8; 32], task("a")).check(&token), None);
        assert_eq!(AdmissionKey::new([7; 32], task("b")).check(&token), None);
        for place in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[place] = if forged[place] == b'0' { b'1' } else { b'0' };
            assert_eq!(key.check(&String::from_utf8(forged).unwrap()), None, "{place}");
        }
        for nonsense in ["", "00", "zz", &token[2..], &format!("{token}00")] {
            assert_eq!(key.check(nonsense), None);
        }
    }
}
