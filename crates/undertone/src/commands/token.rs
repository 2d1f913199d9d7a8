//! `token`: who may do what at a collector.

use crate::collector::tokens::{Role, new_token};
use crate::output;
use serde::Serialize;
use std::io::Write;

/// Make a bearer token for a collector
///
/// The token is for its holder and is shown once. The collector's configuration gets the hash.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone token --role operate")]
pub(crate) struct Token {
    /// What it is good for
    #[arg(long, value_enum)]
    role: Role,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Made {
    token: String,
    role: Role,
    sha256: String,
}

impl Token {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (token, hash) = new_token(self.role)?;
        let made = Made { token, role: hash.role, sha256: hash.sha256 };
        if self.json {
            return output::json(&made, out);
        }
        writeln!(out, "{}\n", made.token)?;
        writeln!(out, "For the configuration of the collector:\n")?;
        let role = serde_json::to_string(&made.role)?;
        writeln!(out, "[[tokens]]\nrole = {role}\nsha256 = \"{}\"", made.sha256)?;
        Ok(())
    }
}
