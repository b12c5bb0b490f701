//! Users and tokens of the policy file.

use std::fs::OpenOptions;
use std::io::{BufRead, Write, stdin};
use std::path::Path;
use weir_program::Failure;
use weir_program::print;

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
    print(format!(
        "[user.{name}]\npassword = \"{hash}\"\nrole = \"{role}\"\n"
    ))
}

/// Prints a token, shown this once, and its entry.
pub(crate) fn token(name: &str, role: &str) -> Result<(), Failure> {
    let (token, hash) = weir_gateway::new_token().map_err(Failure::no)?;
    eprintln!("the token, shown this once: {token}");
    print(format!(
        "[token.{name}]\nsha256 = \"{hash}\"\nrole = \"{role}\"\n"
    ))
}

/// Makes keys of OSCORE: the device's half goes into a file that nobody else can read.
pub(crate) fn oscore(name: &str, role: &str, device: &Path) -> Result<(), Failure> {
    let (gateway, half) = weir_gateway::new_oscore(name, role).map_err(Failure::no)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let said = |error| Failure::no(format!("{}: {error}", device.display()));
    let mut file = options.open(device).map_err(said)?;
    file.write_all(half.as_bytes()).map_err(said)?;
    print(gateway)
}
