//! Section `[alert]` of the configuration: a table an alert.
#![allow(
    clippy::disallowed_methods,
    reason = "a token is in a file that the operator names"
)]

use crate::limits::{ALERTS_MAX, FILTERS_MAX};
use std::collections::BTreeMap;
use std::time::Duration;
use weir_binding::{ConfigFault, Section};
use weir_hub::{Condition, parse_duration};
use weir_model::Filter;

/// An alert, as it is wanted.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) filters: Vec<Filter>,
    /// What must hold of a result.
    pub(crate) condition: Option<Condition>,
    /// How long nothing more is told of a datastream that was told of.
    pub(crate) quiet: Option<Duration>,
    /// Where it is posted to.
    pub(crate) url: String,
    /// What is shown of that: without credentials.
    pub(crate) shown: String,
    /// `Bearer ...`.
    pub(crate) authorization: Option<String>,
}

const KEYS: &[&str] = &["topics", "where", "quiet", "url", "token_file"];

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
        let quiet = table.optional("quiet").map(|text| {
            let bad = |error| table.fault("quiet", format!("`{text}`: {error}"));
            parse_duration(&text).map_err(bad)
        });
        let quiet = quiet.transpose()?;
        let expected = "expected where to: http://127.0.0.1:9000/alerts";
        let url = table.optional("url");
        let url = url.ok_or_else(|| table.fault("url", expected))?;
        if !url.contains("://") {
            return Err(table.fault("url", format!("`{url}`: {expected}")));
        }
        let authorization = authorization(&mut table)?;
        table.finish(KEYS)?;
        Ok(Self {
            shown: shown(&url),
            name,
            filters,
            condition,
            quiet,
            url,
            authorization,
        })
    }
}

/// `topics`, a list or a text with commas.
fn filters(table: &mut Section) -> Result<Vec<Filter>, ConfigFault> {
    let mut texts: Vec<String> = table
        .take_under("topics.")
        .into_iter()
        .map(|it| it.1)
        .collect();
    let listed = table.optional("topics").unwrap_or_default();
    texts.extend(listed.split(',').map(|text| text.trim().to_owned()));
    texts.retain(|text| !text.is_empty());
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
    match token.is_empty() || token.contains(char::is_control) {
        true => Err(cannot("holds no token".into())),
        false => Ok(Some(format!("Bearer {token}"))),
    }
}

/// A URL without who somebody is, and without a query, which may be a secret.
fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let authority = rest.find('/').unwrap_or(rest.len());
    let behind = rest[..authority].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[behind..])
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
        assert_eq!(hot.shown, "https://h:9/a");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let whole = [("a.topics", "t"), ("a.url", "http://h")];
        for (key, value) in [
            ("a.topics", ""),
            ("a.topics", "a/#/b"),
            ("a.where", "value ? 3"),
            ("a.quiet", "long"),
            ("a.url", "h:9000"),
            ("a.token_file", "/nonexistent/token"),
            ("a.webhook", "http://h"),
        ] {
            let mut pairs = whole.to_vec();
            pairs.push((key, value));
            assert_eq!(read(&pairs).unwrap_err().key, format!("alert.{key}"));
        }
        assert_eq!(read(&[("topics", "t")]).unwrap_err().key, "alert.topics");
        assert!(read(&[]).unwrap().is_empty());
    }
}
