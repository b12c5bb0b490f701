//! How near the emulated links come to what they mean, on this machine: a line of a table a profile.
//!
//! `cargo run -p weir-link --example accuracy [PROFILE...]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use weir_link::{Lab, Options, PROFILES, Profile, prepare};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    prepare()?;
    let named: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<String> = PROFILES
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let wanted = if named.is_empty() { all } else { named };
    for name in wanted {
        let profile = Profile::read(&name)?;
        let mut lab = Lab::unchecked(profile, &Options::default())?;
        println!("{name}: {}", lab.check()?);
    }
    Ok(())
}
