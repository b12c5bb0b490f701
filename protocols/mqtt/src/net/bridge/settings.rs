//! Sections `[mqtt.bridge.NAME]` of the configuration.
#![allow(
    clippy::disallowed_methods,
    reason = "a password and certificates are in files that the operator names"
)]

use super::mapping::{Mapping, NoFilter};
use crate::net::client::Url;
use crate::wire::QoS;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use weir_binding::{ConfigFault, Section};
use weir_model::TopicError;
use weir_sansio::Duration;

/// Bridges of one gateway.
const BRIDGES_MAX: usize = 64;
/// Lines of one bridge in one direction.
const LINES_MAX: usize = 256;
/// Longest name of a bridge, bytes.
const NAME_BYTES_MAX: usize = 64;

const KEYS: &[&str] = &[
    "url",
    "user",
    "password",
    "password_file",
    "ca_file",
    "client_id",
    "version",
    "keep_alive",
    "session_seconds",
    "max_retry_seconds",
    "in",
    "out",
];
const LINE_KEYS: &[&str] = &["filter", "local", "remote", "qos", "retain"];

/// One bridge, as it is wanted.
#[derive(Clone, Debug)]
pub(in crate::net) struct Plan {
    pub(super) name: String,
    pub(super) url: String,
    /// The same without a login, for people.
    pub(super) shown: String,
    pub(super) login: Option<(String, Option<String>)>,
    /// Certificates in PEM that are trusted like the Web's roots.
    pub(super) roots: Option<Bytes>,
    /// Where none is set, one is made that stays.
    pub(super) client_id: Option<String>,
    pub(super) speaks: Speaks,
    /// Whether an older version is spoken where the broker wants that.
    pub(super) falls_back: bool,
    pub(super) keep_alive: u16,
    pub(super) session_secs: u32,
    pub(super) retry_max: Duration,
    pub(super) inward: Vec<Mapping>,
    pub(super) outward: Vec<Mapping>,
}

/// What is spoken to the other broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    V5,
    /// 3.1.1 as bridges speak it to Mosquitto and others that know it.
    V311Bridge,
    V311,
}

/// Takes all bridges out of the section of MQTT.
pub(in crate::net) fn read(section: &mut Section) -> Result<Vec<Plan>, ConfigFault> {
    let mut named: BTreeMap<String, Section> = BTreeMap::new();
    for (key, value) in section.take_under("bridge.") {
        let (name, rest) = key.split_once('.').unwrap_or((&key, ""));
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(good) {
            let problem = "a bridge's name has letters, digits, `-` and `_`, 64 at most";
            return Err(section.fault(&format!("bridge.{key}"), problem));
        }
        let of_name = named.entry(name.to_owned());
        let of_name = of_name.or_insert_with(|| Section::new(&format!("mqtt.bridge.{name}")));
        of_name.set(rest, &value);
    }
    if named.len() > BRIDGES_MAX {
        return Err(section.fault("bridge", format!("more than {BRIDGES_MAX} bridges")));
    }
    named
        .into_iter()
        .map(|(name, section)| Plan::read(name, section))
        .collect()
}

impl Plan {
    fn read(name: String, mut section: Section) -> Result<Self, ConfigFault> {
        let url = section.text("url", "");
        let parsed = Url::parse(&url).map_err(|error| section.fault("url", error.to_string()))?;
        let login = login(&mut section, &parsed)?;
        let roots = section.optional("ca_file");
        let roots = roots.map(|path| file(&section, "ca_file", &path));
        let (speaks, falls_back) = version(&mut section)?;
        let seconds = "a number of seconds";
        let retry_secs: u64 = section.parsed("max_retry_seconds", 30, seconds)?;
        let plan = Self {
            shown: shown(&url),
            url,
            login,
            roots: roots.transpose()?,
            client_id: section.optional("client_id"),
            speaks,
            falls_back,
            keep_alive: section.parsed("keep_alive", 60, "a number of seconds up to 65535")?,
            session_secs: section.parsed("session_seconds", 7 * 86_400, seconds)?,
            retry_max: Duration::from_secs(retry_secs.clamp(1, 86_400)),
            inward: lines(&mut section, "in")?,
            outward: lines(&mut section, "out")?,
            name,
        };
        section.finish(KEYS)?;
        Ok(plan)
    }
}

/// A URL without its login.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return String::new();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[host..])
}

fn login(
    section: &mut Section,
    url: &Url,
) -> Result<Option<(String, Option<String>)>, ConfigFault> {
    let (user, password) = (section.optional("user"), section.optional("password"));
    let password = match section.optional("password_file") {
        None => password,
        Some(_) if password.is_some() => {
            let problem = "`password` and `password_file` exclude each other";
            return Err(section.fault("password_file", problem));
        }
        Some(path) => {
            let text = file(section, "password_file", &path)?;
            let text = String::from_utf8_lossy(&text)
                .trim_end_matches(['\r', '\n'])
                .to_owned();
            Some(text)
        }
    };
    match (user, password) {
        (Some(user), password) => Ok(Some((user, password))),
        // [MQTT311-3.1.2-22]
        (None, Some(_)) => Err(section.fault("user", "a password needs a user name")),
        (None, None) => Ok(url
            .login
            .clone()
            .map(|(user, password)| (user, Some(password)))),
    }
}

fn file(section: &Section, key: &str, path: &str) -> Result<Bytes, ConfigFault> {
    let cannot = |error| section.fault(key, format!("`{path}` cannot be read: {error}"));
    fs::read(path).map(Bytes::from).map_err(cannot)
}

fn version(section: &mut Section) -> Result<(Speaks, bool), ConfigFault> {
    Ok(match section.text("version", "auto").as_str() {
        "auto" => (Speaks::V5, true),
        "5" | "5.0" => (Speaks::V5, false),
        "3.1.1" => (Speaks::V311Bridge, true),
        other => {
            let problem = format!("expected auto, 5 or 3.1.1, found `{other}`");
            return Err(section.fault("version", problem));
        }
    })
}

/// The lines of one direction, `in.0.filter` and so on; `in.0` alone is a filter.
fn lines(section: &mut Section, direction: &'static str) -> Result<Vec<Mapping>, ConfigFault> {
    let mut numbered: BTreeMap<usize, BTreeMap<String, String>> = BTreeMap::new();
    for (key, value) in section.take_under(&format!("{direction}.")) {
        let (number, rest) = key.split_once('.').unwrap_or((&key, "filter"));
        let known = LINE_KEYS.contains(&rest);
        match number.parse() {
            Ok(number) if number < LINES_MAX && known => {
                numbered
                    .entry(number)
                    .or_default()
                    .insert(rest.into(), value);
            }
            _ => {
                let problem = format!(
                    "expected a list of lines, {LINES_MAX} at most, each with {}",
                    LINE_KEYS.join(", ")
                );
                return Err(section.fault(&format!("{direction}.{key}"), problem));
            }
        }
    }
    let line = |(number, keys): (usize, BTreeMap<String, String>)| {
        line(section, &format!("{direction}.{number}"), &keys)
    };
    numbered.into_iter().map(line).collect()
}

fn line(
    section: &Section,
    place: &str,
    keys: &BTreeMap<String, String>,
) -> Result<Mapping, ConfigFault> {
    let text = |key: &str| keys.get(key).map_or("", String::as_str);
    let bad = |key: &str, problem: &dyn Display| {
        // Where a key was left out, the line is at fault as a whole.
        let key = if keys.contains_key(key) {
            key
        } else {
            "filter"
        };
        section.fault(&format!("{place}.{key}"), problem.to_string())
    };
    let made = Mapping::new(text("filter"), text("local"), text("remote"));
    let mut line = made.map_err(|NoFilter { key, text, error }| match error {
        TopicError::Empty => bad(key, &"a filter, or both prefixes, must be set"),
        error => bad(
            key,
            &format!("`{text}` is no filter on the {key} side: {error}"),
        ),
    })?;
    // The other broker does not write where only this gateway does.
    if place.starts_with("in.") && line.local_filter().as_str().starts_with('$') {
        let problem = "topics that begin with `$` are this gateway's own: set a `local` prefix";
        return Err(bad("filter", &problem));
    }
    line.qos = match text("qos") {
        "" => QoS::AtLeastOnce,
        "0" => QoS::AtMostOnce,
        "1" => QoS::AtLeastOnce,
        "2" => QoS::ExactlyOnce,
        other => return Err(bad("qos", &format!("expected 0, 1 or 2, found `{other}`"))),
    };
    line.retain = match text("retain") {
        "" | "true" => true,
        "false" => false,
        other => {
            let problem = format!("expected true or false, found `{other}`");
            return Err(bad("retain", &problem));
        }
    };
    Ok(line)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn section(keys: &[(&str, &str)]) -> Section {
        let mut section = Section::new("mqtt");
        for (key, value) in keys {
            section.set(key, value);
        }
        section
    }

    #[test]
    fn a_bridge_has_its_lines_in_their_order() {
        let mut section = section(&[
            ("listen", ""),
            ("bridge.site.url", "mqtt://ann:secret@site.example"),
            ("bridge.site.in.0", "a/#"),
            ("bridge.site.in.10.filter", "c/#"),
            ("bridge.site.in.2.filter", "b/#"),
            ("bridge.site.in.2.local", "site/"),
            ("bridge.site.in.2.qos", "2"),
            ("bridge.site.in.2.retain", "false"),
        ]);
        let plans = read(&mut section).unwrap();
        let plan = &plans[0];
        let filters = plan.inward.iter().map(|line| line.local_filter().as_str());
        assert_eq!(filters.collect::<Vec<_>>(), ["a/#", "site/b/#", "c/#"]);
        assert_eq!(plan.inward[1].qos, QoS::ExactlyOnce);
        assert!(!plan.inward[1].retain && plan.outward.is_empty());
        assert_eq!(plan.shown, "mqtt://site.example");
        assert_eq!(plan.login, Some(("ann".into(), Some("secret".into()))));
        assert!(section.finish(&["listen"]).is_err(), "listen is left");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let url = ("bridge.b.url", "mqtt://h");
        for (keys, key) in [
            (vec![("bridge.b.user", "x")], "mqtt.bridge.b.url"),
            (vec![("bridge.b.url", "http://h")], "mqtt.bridge.b.url"),
            (vec![url, ("bridge.b.urk", "x")], "mqtt.bridge.b.urk"),
            (vec![url, ("bridge.b.password", "x")], "mqtt.bridge.b.user"),
            (
                vec![url, ("bridge.b.password_file", "/nowhere")],
                "mqtt.bridge.b.password_file",
            ),
            (
                vec![url, ("bridge.b.version", "4")],
                "mqtt.bridge.b.version",
            ),
            (vec![url, ("bridge.b.in.x", "a")], "mqtt.bridge.b.in.x"),
            (vec![url, ("bridge.b.in.0.q", "a")], "mqtt.bridge.b.in.0.q"),
            (
                vec![
                    url,
                    ("bridge.b.in.0.qos", "3"),
                    ("bridge.b.in.0.filter", "a"),
                ],
                "mqtt.bridge.b.in.0.qos",
            ),
            (
                vec![url, ("bridge.b.out.0.filter", "a/#/b")],
                "mqtt.bridge.b.out.0.filter",
            ),
            (
                vec![url, ("bridge.b.in.0", "$SYS/#")],
                "mqtt.bridge.b.in.0.filter",
            ),
            (vec![("bridge.b c.url", "mqtt://h")], "mqtt.bridge.b c.url"),
        ] {
            let fault = read(&mut section(&keys)).unwrap_err();
            assert_eq!(fault.key, key, "{fault}");
        }
    }
}
