//! Who may do what: bearer tokens, of which the collector keeps the hashes only.
//!
//! A token is 32 random bytes, so a plain hash of it gives nothing away and need not be slow. Every hash is compared with
//! every other in the same time, whether it fits or not.

use anyhow::{Context, ensure};
use clap::ValueEnum;
use getrandom::SysRng;
use rand_core::TryRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// To send reports
    Submit,
    /// To see what was learnt
    Read,
    /// To see it, to export reports and to run the collection
    Operate,
}

impl Role {
    /// Whether whoever has this role may do what `asked` may.
    fn covers(self, asked: Self) -> bool {
        self == asked || (self == Self::Operate && asked == Self::Read)
    }
}

/// A token as the configuration keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenHash {
    pub(crate) role: Role,
    /// SHA-256 of the token, in hexadecimal
    pub(crate) sha256: String,
}

/// All tokens of a collector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    hashes: Vec<(Role, [u8; 32])>,
}

impl Tokens {
    /// Those of a configuration.
    pub(crate) fn new(tokens: &[TokenHash]) -> anyhow::Result<Self> {
        let hash = |token: &TokenHash| {
            // Not what is there: it may be a token that was pasted in the place of its hash.
            let role = token.role;
            let bytes = from_hex(&token.sha256).with_context(|| {
                format!(
                    "the hash of a token ({role:?}) is not hexadecimal; `undertone token` prints the line"
                )
            })?;
            let length = bytes.len();
            let bytes = <[u8; 32]>::try_from(bytes).ok();
            Ok((token.role, bytes.with_context(|| format!("a hash of {length} bytes is no SHA-256"))?))
        };
        Ok(Self { hashes: tokens.iter().map(hash).collect::<anyhow::Result<_>>()? })
    }

    /// Whether anybody at all needs a token for this.
    pub(crate) fn guard(&self, asked: Role) -> bool {
        self.hashes.iter().any(|(role, _)| role.covers(asked))
    }

    /// Whether this token is good for it.
    pub(crate) fn admit(&self, token: &str, asked: Role) -> bool {
        let found: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let fits =
            |(role, hash): &(Role, [u8; 32])| hash.ct_eq(&found) & Choice::from(u8::from(role.covers(asked)));
        self.hashes.iter().map(fits).fold(Choice::from(0), |any, one| any | one).into()
    }
}

/// A new token: what its holder keeps, and what the configuration does.
pub(crate) fn new_token(role: Role) -> anyhow::Result<(String, TokenHash)> {
    let token = format!("ut_{}", to_hex(&random::<32>()?));
    let sha256 = to_hex(&Sha256::digest(token.as_bytes()));
    Ok((token, TokenHash { role, sha256 }))
}

/// Bytes of the operating system's generator.
pub(crate) fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).context("the operating system gives no randomness")?;
    Ok(bytes)
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(crate) fn from_hex(text: &str) -> anyhow::Result<Vec<u8>> {
    // Secrets are written like that, so an error does not repeat them.
    ensure!(text.len().is_multiple_of(2), "an odd number of digits");
    let digit = |byte: u8| char::from(byte).to_digit(16).context("a character that is no hexadecimal digit");
    let byte = |pair: &[u8]| Ok((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    text.as_bytes().chunks_exact(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_its_role_and_for_no_other() {
        let (submit, submit_hash) = new_token(Role::Submit).unwrap();
        let (operate, operate_hash) = new_token(Role::Operate).unwrap();
        let tokens = Tokens::new(&[submit_hash, operate_hash]).unwrap();
        assert!(tokens.admit(&submit, Role::Submit) && !tokens.admit(&submit, Role::Read));
        assert!(!tokens.admit(&submit, Role::Operate));
        assert!(tokens.admit(&operate, Role::Operate) && tokens.admit(&operate, Role::Read));
        assert!(!tokens.admit(&operate, Role::Submit));
        assert!(!tokens.admit("", Role::Submit) && !tokens.admit("ut_00", Role::Submit));
        assert!(tokens.guard(Role::Submit) && tokens.guard(Role::Read));
        assert!(!Tokens::default().guard(Role::Submit));
    }

    #[test]
    fn a_hash_that_is_none_is_named() {
        let refused = |sha256: &str| {
            let hash = TokenHash { role: Role::Read, sha256: sha256.into() };
            format!("{:#}", Tokens::new(&[hash]).unwrap_err())
        };
        assert!(
            refused("abc").contains("(Read) is not hexadecimal") && refused("abc").contains("odd number")
        );
        assert!(refused("+f").contains("no hexadecimal digit"));
        assert!(refused("00ff").contains("2 bytes"));
        let (token, _) = new_token(Role::Read).unwrap();
        assert!(!refused(&token).contains(&token[3..]), "a token that was pasted is not shown");
    }
}
