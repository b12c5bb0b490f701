//! A cell's name as factors and levels.

use std::collections::BTreeMap;

use serde::Serialize;

/// Factors of a cell with their levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Factors(BTreeMap<String, String>);

/// Names that older experiments give to what the others call `clients` and `payload`.
const OTHER_NAMES: [(&str, &str); 4] = [
    ("subscribers", "clients"),
    ("connections", "clients"),
    ("message", "payload"),
    ("data", "payload"),
];

/// Factors that say where and how much, not what: the point of a question.
pub(crate) const POINT: [&str; 5] = ["link", "clients", "rate", "payload", "nodes"];

impl Factors {
    /// Reads `factor=level;factor=level`; what has no `=` is a level of itself.
    pub fn parse(cell: &str) -> Self {
        let mut factors = BTreeMap::new();
        for pair in cell.split(';').filter(|pair| !pair.is_empty()) {
            let (name, level) = pair.split_once('=').unwrap_or((pair, "on"));
            factors.insert(name.to_owned(), level.to_owned());
        }
        for (old, name) in OTHER_NAMES {
            if !factors.contains_key(name)
                && let Some(level) = factors.remove(old)
            {
                factors.insert(name.to_owned(), level);
            }
        }
        // Which clients, where it is not how many.
        if factors
            .get("clients")
            .is_some_and(|level| number(level).is_none())
            && let Some(kind) = factors.remove("clients")
        {
            factors.insert("ends".into(), kind);
        }
        // Files of a data set are payloads of their own.
        if let Some(file) = factors.remove("file")
            && let Some(payload) = factors.get_mut("payload")
        {
            *payload = format!("{payload}/{file}");
        }
        Self(factors)
    }

    /// The level of a factor.
    pub fn level(&self, factor: &str) -> Option<&str> {
        self.0.get(factor).map(String::as_str)
    }

    /// The level of a factor as a number.
    pub(crate) fn number(&self, factor: &str) -> Option<f64> {
        number(self.level(factor)?)
    }

    /// Puts one level of a factor in the place of another.
    pub(crate) fn replace(&mut self, factor: &str, old: &str, new: &str) {
        if let Some(level) = self.0.get_mut(factor).filter(|level| *level == old) {
            *level = new.to_owned();
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, level)| (&**name, &**level))
    }

    /// Those that say what is done, without where and how much.
    pub(crate) fn way(&self) -> Self {
        let own = self.0.iter().filter(|(name, _)| !POINT.contains(&&***name));
        Self(
            own.map(|(name, level)| (name.clone(), level.clone()))
                .collect(),
        )
    }

    /// `factor=level`, joined.
    pub fn name(&self) -> String {
        let pairs: Vec<String> = self
            .iter()
            .map(|(f, level)| format!("{f}={level}"))
            .collect();
        pairs.join(";")
    }
}

/// A level that is a finite number.
pub(crate) fn number(level: &str) -> Option<f64> {
    level.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_read_whatever_its_factors_and_names() {
        let factors = Factors::parse("test=fan-out;delivery=sse;subscribers=1000;odd");
        assert_eq!(factors.number("clients"), Some(1000.0));
        assert_eq!(factors.level("odd"), Some("on"));
        assert_eq!(factors.way().name(), "delivery=sse;odd=on;test=fan-out");
    }

    #[test]
    fn clients_that_are_no_number_say_what_is_done_and_not_how_much() {
        let factors = Factors::parse("clients=native-browser;nodes=3");
        assert_eq!(factors.level("clients"), None);
        assert_eq!(factors.way().name(), "ends=native-browser");
    }

    #[test]
    fn files_of_a_data_set_are_payloads() {
        let factors = Factors::parse("data=obs;file=3;format=json");
        assert_eq!(factors.level("payload"), Some("obs/3"));
    }
}
