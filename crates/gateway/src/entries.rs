//! Entries of the policy file: how each is read from its table, and roles, which others name.

use std::sync::Arc;
use toml::{Table, Value};
use weir_binding::nearest;
use weir_hub::{Grants, Principal, Verb};
use weir_model::Filter;

/// Who holds an entry of the policy file: what it is, its name, its value.
pub(crate) type Holder<'a> = &'a dyn Fn(&str, &str, &Value) -> Result<Principal, String>;

/// A role: what it may, and how often.
#[derive(Clone)]
pub(crate) struct Role {
    value: Value,
    pub(crate) grants: Arc<Grants>,
    pub(crate) rate: Option<u32>,
}

impl Role {
    /// The role as it stands in the file.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }
}

/// Refuses a table with a key that is none of these.
pub(crate) fn refuse_unknown(table: &Table, whose: &str, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!(
            "{whose}: unknown key `{key}`; {}",
            nearest(key, known)
        )),
    }
}

/// The entries of a section; none where it is not there.
pub(crate) fn section<'a>(
    table: &'a Table,
    name: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, String> {
    match table.get(name) {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Table(entries)) => Ok(Some(entries.iter()).into_iter().flatten()),
        Some(_) => Err(format!("`{name}` must hold sections: [{name}.NAME]")),
    }
}

/// A text that an entry needs.
pub(crate) fn text<'a>(
    value: &'a Value,
    what: &str,
    name: &str,
    key: &str,
) -> Result<&'a str, String> {
    let found = value.get(key).and_then(Value::as_str);
    found.ok_or_else(|| format!("{what} `{name}`: needs `{key}`"))
}

/// `read = ["heating/#"]`: filters by verb; `rate = 100`: requests a second.
pub(crate) fn role(name: &str, value: &Value) -> Result<Role, String> {
    let table = value
        .as_table()
        .ok_or_else(|| format!("role `{name}` must be a section"))?;
    let verbs = Verb::ALL.iter().map(|(verb, _)| *verb);
    let known: Vec<_> = verbs.chain(["rate"]).collect();
    refuse_unknown(table, &format!("role `{name}`"), &known)?;
    let mut rules = Vec::new();
    for (verb_name, verb) in Verb::ALL {
        let Some(filters) = table.get(*verb_name) else {
            continue;
        };
        let listed = || format!("role `{name}`: {verb_name} must be a list of topic filters");
        for filter in filters.as_array().ok_or_else(listed)? {
            let filter = filter.as_str().ok_or_else(listed)?;
            let parsed = Filter::parse(filter)
                .map_err(|error| format!("role `{name}`: {verb_name} `{filter}`: {error}"))?;
            rules.push((*verb, parsed));
        }
    }
    Ok(Role {
        value: value.clone(),
        grants: Arc::new(Grants::new(rules)),
        rate: table
            .get("rate")
            .map(|rate| per_second(name, rate))
            .transpose()?,
    })
}

fn per_second(name: &str, rate: &Value) -> Result<u32, String> {
    let rate = rate.as_integer().and_then(|rate| u32::try_from(rate).ok());
    rate.filter(|rate| *rate > 0)
        .ok_or_else(|| format!("role `{name}`: rate must be requests a second, 1 or more"))
}
