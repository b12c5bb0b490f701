//! Topic filters with `+` and `#` (MQTT 5.0 section 4.7.1).

use crate::topic::{self, TopicError};
use alloc::boxed::Box;
use core::fmt;

/// A topic filter: `+` stands for one level, `#` at the end for any number of levels, none included.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Filter(Box<str>);

impl Filter {
    /// Reads a filter; a wildcard that does not fill its level, or a `#` that is not last, is an error.
    pub fn parse(text: &str) -> Result<Self, TopicError> {
        topic::check_shape(text)?;
        let mut at = 0;
        let mut levels = text.split('/').peekable();
        while let Some(level) = levels.next() {
            let alone = level.len() == 1;
            if let Some(wild) = level.find(['+', '#']) {
                let last = levels.peek().is_none();
                if !alone || (level == "#" && !last) {
                    return Err(TopicError::Wildcard(at + wild));
                }
            }
            at += level.len() + 1;
        }
        Ok(Self(text.into()))
    }

    /// The filter as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The levels, wildcards as they stand.
    pub fn levels(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Says whether it is a plain topic name, matching one topic only.
    pub fn is_topic(&self) -> bool {
        !self.0.contains(['+', '#'])
    }

    /// Says whether a topic name matches (MQTT 5.0 sections 4.7.1.2, 4.7.1.3 and 4.7.2: wildcards in
    /// the first level do not match topics that begin with `$`).
    pub fn matches(&self, topic: &str) -> bool {
        if topic.starts_with('$') && self.0.starts_with(['+', '#']) {
            return false;
        }
        if &*self.0 == "#" {
            return true;
        }
        let mut names = topic.split('/');
        for level in self.levels() {
            match (level, names.next()) {
                ("#", _) => return true,
                ("+", Some(_)) => {}
                (level, Some(name)) if level == name => {}
                _ => return false,
            }
        }
        names.next().is_none()
    }

    /// Says whether every topic that `other` matches is matched by this filter too.
    pub fn covers(&self, other: &Filter) -> bool {
        if other.0.starts_with('$') && self.0.starts_with(['+', '#']) {
            return false;
        }
        let mut theirs = other.levels();
        for level in self.levels() {
            match (level, theirs.next()) {
                ("#", _) => return true,
                ("+", Some(their)) if their != "#" => {}
                (level, Some(their)) if level == their => {}
                _ => return false,
            }
        }
        theirs.next().is_none()
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn matches(filter: &str, topic: &str) -> bool {
        Filter::parse(filter).unwrap().matches(topic)
    }

    #[test]
    fn the_examples_of_mqtt_section_4_7_1_hold() {
        for (filter, topic, expected) in [
            ("sport/tennis/player1/#", "sport/tennis/player1", true),
            (
                "sport/tennis/player1/#",
                "sport/tennis/player1/ranking",
                true,
            ),
            ("sport/#", "sport", true),
            ("#", "a/b", true),
            ("sport/tennis/+", "sport/tennis/player1", true),
            ("sport/tennis/+", "sport/tennis/player1/ranking", false),
            ("sport/+", "sport", false),
            ("sport/+", "sport/", true),
            ("+/+", "/finance", true),
            ("/+", "/finance", true),
            ("+", "/finance", false),
            ("#", "$SYS/monitor", false),
            ("$SYS/#", "$SYS/monitor", true),
        ] {
            assert_eq!(matches(filter, topic), expected, "{filter} {topic}");
        }
    }

    #[test]
    fn a_misplaced_wildcard_is_refused_with_its_byte() {
        assert_eq!(
            Filter::parse("sport/tennis#"),
            Err(TopicError::Wildcard(12))
        );
        assert_eq!(
            Filter::parse("sport/#/ranking"),
            Err(TopicError::Wildcard(6))
        );
        assert_eq!(Filter::parse("sport+"), Err(TopicError::Wildcard(5)));
    }

    #[test]
    fn a_filter_covers_what_it_matches_in_full() {
        let covers =
            |a: &str, b: &str| Filter::parse(a).unwrap().covers(&Filter::parse(b).unwrap());
        assert!(covers("a/#", "a/+/c"));
        assert!(covers("a/#", "a"));
        assert!(covers("a/+", "a/b"));
        assert!(!covers("a/+", "a/#"));
        assert!(!covers("a/b", "a/+"));
        assert!(!covers("#", "$SYS/#"));
    }
}
