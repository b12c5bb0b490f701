//! What the sections of bridges have in common: `[PROTOCOL.bridge.NAME]` with its lines and its login.
#![allow(
    clippy::disallowed_methods,
    reason = "a password and certificates are in files that the operator names"
)]

use super::{Mapping, NoFilter};
use crate::{ConfigFault, Section, nearest};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fs;
use weir_model::TopicError;

/// Bridges of one protocol.
const BRIDGES_MAX: usize = 64;
/// Lines of one bridge in one direction.
const LINES_MAX: usize = 256;
/// Longest name of a bridge, bytes.
const NAME_BYTES_MAX: usize = 64;

/// A user and, where there is one, a password.
pub type Login = (String, Option<String>);

/// Takes all bridges out of a protocol's section: names and sections of their own.
pub fn bridges(
    section: &mut Section,
    protocol: &str,
) -> Result<Vec<(String, Section)>, ConfigFault> {
    let mut named: BTreeMap<String, Section> = BTreeMap::new();
    for (key, value) in section.take_under("bridge.") {
        let (name, rest) = key.split_once('.').unwrap_or((&key, ""));
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(good) {
            let problem = "a bridge's name has letters, digits, `-` and `_`, 64 at most";
            return Err(section.fault(&format!("bridge.{key}"), problem));
        }
        let of_name = named.entry(name.to_owned());
        let of_name = of_name.or_insert_with(|| Section::new(&format!("{protocol}.bridge.{name}")));
        of_name.set(rest, &value);
    }
    if named.len() > BRIDGES_MAX {
        return Err(section.fault("bridge", format!("more than {BRIDGES_MAX} bridges")));
    }
    Ok(named.into_iter().collect())
}

/// Takes `user`, `password` and `password_file`; without them the login is the URL's.
pub fn login(section: &mut Section, of_url: Option<Login>) -> Result<Option<Login>, ConfigFault> {
    let (user, password) = (section.optional("user"), section.optional("password"));
    let password = match section.optional("password_file") {
        None => password,
        Some(_) if password.is_some() => {
            let problem = "`password` and `password_file` exclude each other";
            return Err(section.fault("password_file", problem));
        }
        Some(path) => {
            let text = file(section, "password_file", &path)?;
            let text = String::from_utf8_lossy(&text);
            Some(text.trim_end_matches(['\r', '\n']).to_owned())
        }
    };
    match (user, password) {
        (Some(user), password) => Ok(Some((user, password))),
        (None, Some(_)) => Err(section.fault("user", "a password needs a user name")),
        (None, None) => Ok(of_url),
    }
}

/// Takes `ca_file`: certificates in PEM that are trusted like the Web's roots.
pub fn certificates(section: &mut Section) -> Result<Option<Bytes>, ConfigFault> {
    let path = section.optional("ca_file");
    path.map(|path| file(section, "ca_file", &path)).transpose()
}

fn file(section: &Section, key: &str, path: &str) -> Result<Bytes, ConfigFault> {
    let cannot = |error| section.fault(key, format!("`{path}` cannot be read: {error}"));
    fs::read(path).map(Bytes::from).map_err(cannot)
}

/// A line as it stands in the configuration.
pub struct RawLine {
    /// Its names.
    pub names: Mapping,
    place: String,
    keys: BTreeMap<String, String>,
}

impl RawLine {
    /// What a key says; empty where it was left out.
    pub fn text(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }

    /// An error about a key of it; where that was left out, the line is at fault as a whole.
    pub fn fault(&self, section: &Section, key: &str, problem: &str) -> ConfigFault {
        fault(section, &self.place, &self.keys, key, problem)
    }
}

fn fault(
    section: &Section,
    place: &str,
    keys: &BTreeMap<String, String>,
    key: &str,
    problem: &str,
) -> ConfigFault {
    let key = match keys.contains_key(key) {
        true => key,
        false => "filter",
    };
    section.fault(&format!("{place}.{key}"), problem)
}

/// Takes the lines of one direction, `in.0.filter` and so on; `in.0` alone is a filter.
pub fn lines(
    section: &mut Section,
    direction: &str,
    known: &[&str],
) -> Result<Vec<RawLine>, ConfigFault> {
    if let Some(alone) = section.optional(direction) {
        let problem = format!("expected a list, such as [\"{alone}\"]");
        return Err(section.fault(direction, problem));
    }
    let mut numbered: BTreeMap<usize, BTreeMap<String, String>> = BTreeMap::new();
    for (key, value) in section.take_under(&format!("{direction}.")) {
        let (number, rest) = key.split_once('.').unwrap_or((&key, "filter"));
        let number = number.parse().ok().filter(|number| *number < LINES_MAX);
        let refused = |problem| section.fault(&format!("{direction}.{key}"), problem);
        let known_here = known.join(", ");
        let Some(number) = number else {
            let problem =
                format!("expected a list of lines, {LINES_MAX} at most, each with {known_here}");
            return Err(refused(problem));
        };
        if !known.contains(&rest) {
            return Err(refused(format!("unknown key; {}", nearest(rest, known))));
        }
        numbered
            .entry(number)
            .or_default()
            .insert(rest.into(), value);
    }
    let line = |(number, keys)| line(section, format!("{direction}.{number}"), keys);
    numbered.into_iter().map(line).collect()
}

fn line(
    section: &Section,
    place: String,
    keys: BTreeMap<String, String>,
) -> Result<RawLine, ConfigFault> {
    let text = |key: &str| keys.get(key).map_or("", String::as_str);
    let bad = |key: &str, problem: &str| fault(section, &place, &keys, key, problem);
    let made = Mapping::new(text("filter"), text("local"), text("remote"));
    let names = made.map_err(|NoFilter { key, text, error }| match error {
        TopicError::Empty => bad(key, "a filter, or both prefixes, must be set"),
        error => bad(
            key,
            &format!("`{text}` is no filter on the {key} side: {error}"),
        ),
    })?;
    // The other broker does not write where only this gateway does.
    if place.starts_with("in.") && names.local_filter().as_str().starts_with('$') {
        let problem = "topics that begin with `$` are this gateway's own: set a `local` prefix";
        return Err(bad("filter", problem));
    }
    Ok(RawLine { names, place, keys })
}
