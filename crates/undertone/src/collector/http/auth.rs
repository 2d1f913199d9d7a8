//! Who asks.

use super::problem::Problem;
use crate::collector::Collector;
use crate::collector::tokens::Role;
use axum::http::{HeaderMap, header};

/// Refuses whoever may not do what `role` may. Without any token of that role everybody may send and read; nobody may
/// operate.
pub(super) fn require(collector: &Collector, headers: &HeaderMap, role: Role) -> Result<(), Problem> {
    if !collector.tokens.guard(role) {
        return match role {
            Role::Operate => Err(Problem::unauthorized("no token of the role `operate` is configured")),
            Role::Submit | Role::Read => Ok(()),
        };
    }
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = value.and_then(|value| value.strip_prefix("Bearer "));
    match token {
        None => Err(Problem::unauthorized("there is no `Authorization: Bearer` header")),
        Some(token) if collector.tokens.admit(token, role) => Ok(()),
        Some(_) => Err(Problem::unauthorized("this token is not good for this")),
    }
}
