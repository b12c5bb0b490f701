//! Section `[alert]` of the configuration: a table an alert.
#![allow(
    clippy::disallowed_methods,
    reason = "a token is in a file that the operator names"
)]

use crate::address::Address;
use crate::limits::{ALERTS_MAX, FILTERS_MAX, NAME_CHARS_MAX, RECIPIENTS_MAX};
use crate::mail::{Mail, Server};
use crate::web::Web;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsConnector;
use weir_binding::bridge::{certificates, login};
use weir_binding::{ConfigFault, Section};
use weir_carrier::tls::client_config;
use weir_hub::{Condition, InUnit, parse_duration};
use weir_model::url::Authority;
use weir_model::{Filter, Url};

/// An alert, as it is wanted.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) filters: Vec<Filter>,
    /// What must hold of a result.
    pub(crate) condition: Option<Condition>,
    /// In which unit that is looked at.
    pub(crate) unit: InUnit,
    /// How long nothing more is told of a datastream that was told of.
    pub(crate) quiet: Option<Duration>,
    /// Where it goes.
    pub(crate) addresses: Vec<Address>,
    /// What is shown of the URL: nothing of credentials.
    pub(crate) shown: String,
}

const KEYS: &[&str] = &[
    "topics",
    "where",
    "unit",
    "quiet",
    "url",
    "token_file",
    "from",
    "to",
    "user",
    "password",
    "password_file",
    "ca_file",
];

/// All of the section.
pub(crate) fn all(mut section: Section) -> Result<Vec<Plan>, ConfigFault> {
    let mut tables: BTreeMap<String, Section> = BTreeMap::new();
    for (key, value) in section.take_under("") {
        let Some((name, key)) = key.split_once('.') else {
            let problem = "an alert is a table: [alert.NAME]";
            return Err(section.fault(&key, problem));
        };
        let table = tables.entry(name.to_owned());
        let table = table.or_insert_with(|| Section::new(&format!("alert.{name}")));
        table.set(key, &value);
    }
    let is_name = |name: &&String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        name.len() <= NAME_CHARS_MAX && name.chars().all(plain)
    };
    if let Some(name) = tables.keys().find(|name| !is_name(name)) {
        let problem =
            format!("expected a name of letters, digits, - and _, {NAME_CHARS_MAX} at most");
        return Err(section.fault(name, problem));
    }
    if tables.len() > ALERTS_MAX {
        let problem = format!("{} alerts, {ALERTS_MAX} at most", tables.len());
        return Err(section.fault("", problem));
    }
    let tables = tables.into_iter();
    tables
        .map(|(name, table)| Plan::read(name, table))
        .collect()
}

impl Plan {
    fn read(name: String, mut table: Section) -> Result<Self, ConfigFault> {
        let filters = filters(&mut table)?;
        let condition = table.optional("where").map(|text| {
            let bad = |error| table.fault("where", format!("`{text}`: {error}"));
            text.parse().map_err(bad)
        });
        let condition = condition.transpose()?;
        let unit = table.optional("unit");
        if unit.is_some() && condition.is_none() {
            return Err(table.fault("unit", "is that of `where`, which is not there"));
        }
        let quiet = table.optional("quiet").map(|text| {
            let bad = |error| table.fault("quiet", format!("`{text}`: {error}"));
            parse_duration(&text).map_err(bad)
        });
        let quiet = quiet.transpose()?;
        let expected =
            "expected where to: http://127.0.0.1:9000/alerts, or smtps://mail.example.org";
        let url = table.optional("url");
        let url = url.ok_or_else(|| table.fault("url", expected))?;
        let read = Url::parse(&url);
        let read = read.map_err(|error| table.fault("url", format!("{error}: {expected}")))?;
        let addresses = match read.scheme {
            "smtp" | "smtps" => mail(&mut table, read)?,
            "http" | "https" => vec![web(&mut table, &url)?],
            scheme => {
                let problem = format!("an alert does not go by {scheme}: {expected}");
                return Err(table.fault("url", problem));
            }
        };
        table.finish(KEYS)?;
        Ok(Self {
            // A query may be a secret.
            shown: format!("{}://{}{}", read.scheme, read.authority, read.path),
            name,
            filters,
            condition,
            unit: unit.map_or(InUnit::AsMade, |unit| InUnit::Compared(unit.into())),
            quiet,
            addresses,
        })
    }
}

fn web(table: &mut Section, url: &str) -> Result<Address, ConfigFault> {
    let authorization = authorization(table)?;
    Ok(Address::Web(Web {
        url: url.to_owned(),
        authorization,
        roots: certificates(table)?,
    }))
}

/// Mail by the server of a URL, to each of `to`.
fn mail(table: &mut Section, url: Url<'_>) -> Result<Vec<Address>, ConfigFault> {
    let Authority {
        userinfo,
        host,
        port,
    } = url.authority;
    if userinfo.is_some() || !matches!(url.target, "" | "/") {
        let problem =
            "expected a mail server, smtps://mail.example.org or smtp://mail.example.org:587";
        return Err(table.fault("url", problem));
    }
    let is_wrapped = url.scheme == "smtps";
    let login = login(table, None)?;
    let login = login.map(|(user, password)| (user, password.unwrap_or_default()));
    let roots = certificates(table)?;
    let config = client_config(roots.as_deref());
    let config = config.map_err(|error| table.fault("ca_file", error.to_string()))?;
    let mut server = Server {
        host: host.to_owned(),
        port: 0,
        is_wrapped,
        login,
        connector: TlsConnector::from(config),
    };
    server.port = port.unwrap_or(match (is_wrapped, server.is_plain()) {
        (true, _) => 465,
        (false, true) => 25,
        (false, false) => 587,
    });
    let from = addresses(table, "from", 1)?.remove(0);
    let (server, to) = (Arc::new(server), addresses(table, "to", RECIPIENTS_MAX)?);
    let one = |to| {
        Address::Mail(Mail {
            server: server.clone(),
            from: from.clone(),
            to,
        })
    };
    Ok(to.into_iter().map(one).collect())
}

/// Mail addresses, a list or a text with commas.
fn addresses(table: &mut Section, key: &str, most: usize) -> Result<Vec<String>, ConfigFault> {
    let texts = listed(table, key);
    let is_address = |text: &String| {
        let (user, domain) = text.split_once('@').unwrap_or_default();
        let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"<>,;\"@".contains(c);
        !user.is_empty() && !domain.is_empty() && (user.to_owned() + domain).chars().all(is_plain)
    };
    if (1..=most).contains(&texts.len()) && texts.iter().all(is_address) {
        Ok(texts)
    } else {
        let problem = format!("expected 1 to {most} mail addresses such as ops@example.org");
        Err(table.fault(key, problem))
    }
}

/// A list, or a text with commas.
fn listed(table: &mut Section, key: &str) -> Vec<String> {
    let under = table.take_under(&format!("{key}."));
    let mut texts: Vec<String> = under.into_iter().map(|(_, text)| text).collect();
    let listed = table.optional(key).unwrap_or_default();
    texts.extend(listed.split(',').map(|text| text.trim().to_owned()));
    texts.retain(|text| !text.is_empty());
    texts
}

/// `topics`.
fn filters(table: &mut Section) -> Result<Vec<Filter>, ConfigFault> {
    let texts = listed(table, "topics");
    if !(1..=FILTERS_MAX).contains(&texts.len()) {
        let problem = format!("expected 1 to {FILTERS_MAX} topic filters: [\"boiler/#\"]");
        return Err(table.fault("topics", problem));
    }
    let bad = |text: &str, error| table.fault("topics", format!("`{text}`: {error}"));
    let filters = texts
        .iter()
        .map(|text| Filter::parse(text).map_err(|error| bad(text, error)));
    filters.collect()
}

fn authorization(table: &mut Section) -> Result<Option<String>, ConfigFault> {
    let Some(path) = table.optional("token_file") else {
        return Ok(None);
    };
    let cannot = |problem: String| table.fault("token_file", format!("`{path}` {problem}"));
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| cannot(format!("cannot be read: {error}")))?;
    let token = text.trim_end();
    if token.is_empty() || token.contains(char::is_control) {
        Err(cannot("holds no token".into()))
    } else {
        Ok(Some(format!("Bearer {token}")))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Vec<Plan>, ConfigFault> {
        let mut section = Section::new("alert");
        pairs
            .iter()
            .for_each(|(key, value)| section.set(key, value));
        all(section)
    }

    #[test]
    fn a_table_is_an_alert_with_what_it_wants_and_where_to() {
        let whole = [
            ("hot.topics.0", "boiler/#"),
            ("hot.topics.1", "hall/+/t"),
            ("hot.where", "value>80"),
            ("hot.unit", "Cel"),
            ("hot.quiet", "10m"),
            ("hot.url", "https://ann:secret@h:9/a?key=k"),
            ("all.topics", "a, b/#"),
            ("all.url", "http://h"),
        ];
        let plans = read(&whole).unwrap();
        let [all, hot] = plans.as_slice() else {
            panic!("{plans:?}")
        };
        assert_eq!((all.filters.len(), all.condition.is_none()), (2, true));
        assert_eq!((hot.name.as_str(), hot.filters.len()), ("hot", 2));
        assert_eq!(hot.quiet, Some(Duration::from_secs(600)));
        assert_eq!(hot.unit, InUnit::Compared("Cel".into()));
        assert_eq!(hot.shown, "https://h:9/a");
    }

    #[test]
    fn mail_goes_to_each_by_tls_but_within_the_machine() {
        for (url, port, is_plain) in [
            ("smtps://mail.example.org", 465, false),
            ("smtp://mail.example.org", 587, false),
            ("smtp://mail.example.org:25/", 25, false),
            ("smtp://localhost", 25, true),
            ("smtp://[::1]:2525", 2525, true),
            ("smtps://127.0.0.1", 465, false),
        ] {
            let pairs = [
                ("a.topics", "t"),
                ("a.url", url),
                ("a.from", "weir@example.org"),
                ("a.to", "ann@example.org, bob@example.org"),
            ];
            let plan = read(&pairs).unwrap().remove(0);
            let [Address::Mail(ann), Address::Mail(_)] = plan.addresses.as_slice() else {
                panic!("{plan:?}")
            };
            assert_eq!(ann.to, "ann@example.org");
            assert_eq!(
                (ann.server.port, ann.server.is_plain()),
                (port, is_plain),
                "{url}"
            );
        }
        for (key, value) in [
            ("a.to", "nobody"),
            ("a.to", "a@b\r\nBcc: c@d"),
            ("a.from", ""),
            ("a.url", "smtp://ann:secret@mail.example.org"),
        ] {
            let mut pairs = vec![
                ("a.topics", "t"),
                ("a.url", "smtp://h"),
                ("a.from", "weir@example.org"),
                ("a.to", "ann@example.org"),
            ];
            pairs.push((key, value));
            assert_eq!(read(&pairs).unwrap_err().key, format!("alert.{key}"));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let whole = [("a.topics", "t"), ("a.url", "http://h")];
        for (key, value) in [
            ("a.topics", ""),
            ("a.topics", "a/#/b"),
            ("a.where", "value ? 3"),
            ("a.quiet", "long"),
            ("a.unit", "bar"),
            ("a.url", "h:9000"),
            ("a.token_file", "/nonexistent/token"),
            ("a.webhook", "http://h"),
        ] {
            let mut pairs = whole.to_vec();
            pairs.push((key, value));
            assert_eq!(read(&pairs).unwrap_err().key, format!("alert.{key}"));
        }
        assert_eq!(read(&[("topics", "t")]).unwrap_err().key, "alert.topics");
        assert_eq!(read(&[("a b.topics", "t")]).unwrap_err().key, "alert.a b");
        assert!(read(&[]).unwrap().is_empty());
    }
}
