//! With what targets are started: their command lines, and the files that the bench writes for them.
//!
//! Taken down where programs are started, so that no target can forget it. What it deliberately does not keep: keys,
//! passwords, and what is no text. The decision worth arguing: folders and ports of the moment are named `FOLDER` and
//! `PORT`, so that a target that starts alike in a hundred cells is told once.

use std::path::Path;
use std::process::Command;

use super::ports::is_given_port;
use weir_bench_model::configuration::Configuration;
use weir_bench_model::limits::CONFIGURATION_BYTES_MAX;

/// The hidden subcommand that becomes a target.
pub const SUBCOMMAND: &str = "__exec";

/// With what a command in a folder that was made for it is about to start a target.
pub fn configuration_of(command: &Command, folder: &Path) -> Configuration {
    let of_the_moment = folder.display().to_string();
    let lasting = |text: &str| without_ports(&text.replace(&of_the_moment, "FOLDER"));
    Configuration {
        command: lasting(&shown(command)),
        files: files(folder)
            .map(|(name, text)| (name, lasting(&text)))
            .collect(),
    }
}

/// The target for which a folder was made: its name without the moment behind it.
pub fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    match name.rsplit_once('-') {
        Some((name, moment)) if moment.bytes().all(|it| it.is_ascii_digit()) => name.into(),
        _ => name.into(),
    }
}

/// A command as for a shell, without the words by which this program becomes another.
fn shown(command: &Command) -> String {
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words: Vec<String> = words.map(|it| it.to_string_lossy().into()).collect();
    let own = words.iter().position(|word| word == SUBCOMMAND);
    let set = command.get_envs().filter_map(|(name, value)| {
        let value = quoted(&value?.to_string_lossy());
        Some(format!("{}={value}", name.to_string_lossy()))
    });
    let words = words.iter().skip(own.map_or(0, |own| own + 1));
    let all: Vec<String> = set.chain(words.map(|word| quoted(word))).collect();
    all.join(" ")
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Texts of a folder that are not too long and no secrets.
fn files(folder: &Path) -> impl Iterator<Item = (String, String)> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        let about = file.metadata().ok()?;
        let is_short = about.is_file() && about.len() <= CONFIGURATION_BYTES_MAX;
        if !is_short || name.contains("passw") || name.ends_with(".log") {
            return None;
        }
        let text = std::fs::read_to_string(file.path()).ok()?;
        let is_told = !text.is_empty() && !text.contains("PRIVATE KEY");
        is_told.then_some((name, text))
    })
}

/// A text in which ports that were free when they were asked for are named `PORT`.
fn without_ports(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit());
        let (number, behind) = number.split_at(end.unwrap_or(number.len()));
        kept += before;
        kept += match number.parse().is_ok_and(is_given_port) {
            true => "PORT",
            false => number,
        };
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeMap;

    use crate::targets::free_port;
    use weir_bench_model::clock::now_ns;
    use weir_bench_model::configuration::Starts;

    #[test]
    fn a_target_that_starts_alike_is_told_once_and_keeps_its_secrets() {
        let starts = Starts::default();
        for _ in 0..2 {
            let folder = std::env::temp_dir().join(format!("broker-{}", now_ns()));
            std::fs::create_dir_all(&folder).unwrap();
            let port = free_port().unwrap();
            let listen = format!("listener {port} 127.0.0.1\n");
            std::fs::write(folder.join("broker.conf"), listen).unwrap();
            std::fs::write(folder.join("key.pem"), "-----BEGIN PRIVATE KEY-----").unwrap();
            std::fs::write(folder.join("passwords"), "page:secret").unwrap();
            let mut command = Command::new("weir");
            command.args(["bench", SUBCOMMAND, "/usr/sbin/broker", "-c"]);
            command.arg(folder.join("broker.conf")).arg("a b");
            command.env("HOME", &folder);
            starts.add(name_of(&folder), configuration_of(&command, &folder));
            std::fs::remove_dir_all(&folder).unwrap();
        }
        let command = "HOME=FOLDER /usr/sbin/broker -c FOLDER/broker.conf 'a b'".to_owned();
        let file = (
            "broker.conf".to_owned(),
            "listener PORT 127.0.0.1\n".to_owned(),
        );
        let files = BTreeMap::from([file]);
        let once = vec![Configuration { command, files }];
        assert_eq!(starts.all(), BTreeMap::from([("broker".to_owned(), once)]));
    }

    #[test]
    fn numbers_that_are_no_ports_of_the_moment_stay() {
        let port = free_port().unwrap();
        let text = format!("max 65535 at {port}, not {port}0 or 7 in {port}");
        let kept = format!("max 65535 at PORT, not {port}0 or 7 in PORT");
        assert_eq!(without_ports(&text), kept);
        assert_eq!(without_ports(""), "");
    }
}
