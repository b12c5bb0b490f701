//! A plug-in's section of the configuration.

use crate::nearest::nearest;
use std::collections::BTreeMap;
use std::fmt;

/// Keys of one section with their values as text; a plug-in takes its own, what is left is unknown.
#[derive(Clone, Debug, Default)]
pub struct Section {
    name: String,
    values: BTreeMap<String, String>,
}

/// Why a section is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// `section.key`.
    pub key: String,
    /// What is wrong, as a sentence that says what would be right.
    pub problem: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.key, self.problem)
    }
}

impl std::error::Error for ConfigFault {}

impl ConfigFault {
    /// What is wrong with a known key that nobody asked for.
    const IDLE: &'static str = "it has no effect: what it belongs to is not set";

    /// Whether the key is a good one that only lacks another.
    pub fn is_idle_key(&self) -> bool {
        self.problem == Self::IDLE
    }
}

impl Section {
    /// A section of this name; later values replace earlier ones.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            values: BTreeMap::new(),
        }
    }

    /// Sets a key.
    pub fn set(&mut self, key: &str, value: &str) {
        self.values.insert(key.into(), value.into());
    }

    /// Takes a text.
    pub fn text(&mut self, key: &str, default: &str) -> String {
        self.values.remove(key).unwrap_or_else(|| default.into())
    }

    /// Takes a text that may be missing.
    pub fn optional(&mut self, key: &str) -> Option<String> {
        self.values.remove(key).filter(|text| !text.is_empty())
    }

    /// Takes anything that reads from text; `expected` says what, for the error.
    pub fn parsed<T: std::str::FromStr>(
        &mut self,
        key: &str,
        default: T,
        expected: &str,
    ) -> Result<T, ConfigFault> {
        let Some(text) = self.values.remove(key) else {
            return Ok(default);
        };
        text.parse()
            .map_err(|_| self.fault(key, format!("expected {expected}, found `{text}`")))
    }

    /// Takes all keys that begin so, without that beginning: those of a table within the section, or of a
    /// list, whose places are numbers.
    pub fn take_under(&mut self, beginning: &str) -> Vec<(String, String)> {
        let (taken, left) = std::mem::take(&mut self.values)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(key, _)| key.starts_with(beginning));
        self.values = left;
        let named = taken.into_iter();
        named
            .map(|(key, value)| (key[beginning.len()..].to_owned(), value))
            .collect()
    }

    /// An error about a key of this section.
    pub fn fault(&self, key: &str, problem: impl Into<String>) -> ConfigFault {
        ConfigFault {
            key: format!("{}.{key}", self.name),
            problem: problem.into(),
        }
    }

    /// Leaves out what a fault of this section is about, so that the rest can be looked at: the key and what is
    /// below it, or, where nothing of that is set, the nearest table around it. Says whether anything was there.
    pub fn leave_out(&mut self, fault: &ConfigFault) -> bool {
        let of_section = fault.key.strip_prefix(&format!("{}.", self.name));
        let mut key = of_section.unwrap_or_default();
        while !key.is_empty() {
            let before = self.values.len();
            let below = format!("{key}.");
            self.values
                .retain(|known, _| known != key && !known.starts_with(&below));
            if self.values.len() < before {
                return true;
            }
            key = key.rsplit_once('.').map_or("", |(above, _)| above);
        }
        false
    }

    /// Refuses what nobody took; the nearest of `known` is offered in the error.
    pub fn finish(self, known: &[&str]) -> Result<(), ConfigFault> {
        let is_unknown = |key: &&String| !known.contains(&key.as_str());
        if let Some(key) = self.values.keys().find(is_unknown) {
            let problem = format!("unknown key; {}", nearest(key, known));
            return Err(self.fault(key, problem));
        }
        match self.values.keys().next() {
            None => Ok(()),
            Some(key) => Err(self.fault(key, ConfigFault::IDLE)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_table_within_a_section_is_taken_as_a_whole() {
        let mut section = Section::new("mqtt");
        section.set("bridge.site.url", "u");
        section.set("bridge.site.in.0", "a/#");
        section.set("listen", "l");
        let taken = section.take_under("bridge.site.");
        let named = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        assert_eq!(taken, [("in.0", "a/#"), ("url", "u")].map(named));
        assert_eq!(section.take_under("bridge."), []);
        assert_eq!(section.text("listen", ""), "l");
    }

    #[test]
    fn what_a_fault_is_about_is_left_out_or_the_table_that_lacks_it() {
        let mut section = Section::new("mqtt");
        section.set("bridge.site.version", "v");
        section.set("listen", "l");
        let bad = section.fault("listen", "bad");
        assert!(section.leave_out(&bad) && !section.leave_out(&bad));
        let lacks = section.fault("bridge.site.url", "lacks");
        assert!(section.leave_out(&lacks));
        assert!(section.finish(&[]).is_ok());
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_one() {
        let mut section = Section::new("http");
        section.set("lisen", "x");
        assert_eq!(section.text("listen", "127.0.0.1:8080"), "127.0.0.1:8080");
        let fault = section.finish(&["listen"]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "`http.lisen`: unknown key; did you mean `listen`?"
        );
    }

    #[test]
    fn a_known_key_that_nobody_asked_for_is_not_called_unknown() {
        let mut section = Section::new("xmpp");
        section.set("format", "xml");
        let fault = section.clone().finish(&["url", "format"]).unwrap_err();
        assert!(fault.is_idle_key() && fault.key == "xmpp.format", "{fault}");
        section.set("name", "x");
        let fault = section.finish(&["url", "format"]).unwrap_err();
        assert!(!fault.is_idle_key() && fault.key == "xmpp.name", "{fault}");
    }
}
