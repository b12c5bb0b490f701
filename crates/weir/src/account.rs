//! Users and tokens of the policy file.

use crate::{Failure, output};
use std::io::{BufRead, stdin};

/// Prints a user's entry; the password comes from standard input, so that no shell remembers it.
pub(crate) fn user(name: &str, role: &str) -> Result<(), Failure> {
    eprintln!("password of {name} (one line on standard input):");
    let mut line = String::new();
    stdin().lock().read_line(&mut line).map_err(Failure::no)?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Failure::usage("an empty password is none"));
    }
    let hash = weir_gateway::hash_password(password).map_err(Failure::no)?;
    output::print(format!(
        "[user.{name}]\npassword = \"{hash}\"\nrole = \"{role}\"\n"
    ))
}

/// Prints a token, shown this once, and its entry.
pub(crate) fn token(name: &str, role: &str) -> Result<(), Failure> {
    let (token, hash) = weir_gateway::new_token().map_err(Failure::no)?;
    eprintln!("the token, shown this once: {token}");
    output::print(format!(
        "[token.{name}]\nsha256 = \"{hash}\"\nrole = \"{role}\"\n"
    ))
}
