//! Which topics go over a bridge, and what they are called on the other side.
//!
//! As in Mosquitto's `topic`: a filter, and on each side a prefix that stands before what it matches. What it
//! deliberately does not do: no rewriting within a topic, so that each name has exactly one on the other side
//! and comes back as it was.

use weir_model::{Filter, TopicError};

/// One line of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    local: Side,
    remote: Side,
}

/// Its topics on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Side {
    prefix: String,
    /// Prefix and filter.
    filter: Filter,
}

/// A side of the bridge on which a line names no topics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoFilter {
    /// The prefix's key.
    pub key: &'static str,
    /// What is no filter there.
    pub text: String,
    /// Why.
    pub error: TopicError,
}

impl Mapping {
    /// A line, where prefix and filter make a filter on either side.
    pub fn new(filter: &str, local: &str, remote: &str) -> Result<Self, NoFilter> {
        Ok(Self {
            local: Side::new("local", local, filter)?,
            remote: Side::new("remote", remote, filter)?,
        })
    }

    /// The filter of its topics here.
    pub fn local_filter(&self) -> &Filter {
        &self.local.filter
    }

    /// The filter of its topics at the other broker.
    pub fn remote_filter(&self) -> &Filter {
        &self.remote.filter
    }

    /// What a topic here is called at the other broker; `None` where it is not this line's.
    pub fn to_remote(&self, topic: &str) -> Option<String> {
        self.local.across(topic, &self.remote)
    }

    /// What a topic of the other broker is called here; `None` where it is not this line's.
    pub fn to_local(&self, topic: &str) -> Option<String> {
        self.remote.across(topic, &self.local)
    }
}

impl Side {
    fn new(key: &'static str, prefix: &str, filter: &str) -> Result<Self, NoFilter> {
        let text = format!("{prefix}{filter}");
        let wild = prefix.find(['+', '#']).map(TopicError::Wildcard);
        match wild.map_or_else(|| Filter::parse(&text), Err) {
            Ok(filter) => Ok(Self {
                prefix: prefix.into(),
                filter,
            }),
            Err(error) => Err(NoFilter { key, text, error }),
        }
    }

    /// What has no name on the other side that comes back stays here.
    fn across(&self, topic: &str, to: &Side) -> Option<String> {
        if !self.filter.matches(topic) {
            return None;
        }
        let there = match topic.strip_prefix(self.prefix.as_str()) {
            Some(rest) => format!("{}{rest}", to.prefix),
            // `a/#` matches `a` too, which is what stands before the last slash of the prefix.
            None => to.prefix.strip_suffix('/')?.to_owned(),
        };
        (!there.is_empty() && to.filter.matches(&there)).then_some(there)
    }
}

/// The first line that a topic belongs to, with its name on the other side.
pub fn first<L>(lines: &[L], across: impl Fn(&L) -> Option<String>) -> Option<(&L, String)> {
    lines
        .iter()
        .find_map(|line| across(line).map(|topic| (line, topic)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prefixes_change_places_as_in_mosquitto() {
        let line = Mapping::new("sensors/#", "site/", "plant/7/").unwrap();
        assert_eq!(line.local_filter().as_str(), "site/sensors/#");
        assert_eq!(line.remote_filter().as_str(), "plant/7/sensors/#");
        for (here, there) in [
            ("site/sensors/a/b", Some("plant/7/sensors/a/b")),
            ("site/sensors", Some("plant/7/sensors")),
            ("site/other", None),
            ("sensors/a", None),
        ] {
            assert_eq!(line.to_remote(here).as_deref(), there, "{here}");
        }
        let one = Mapping::new("", "lamp", "house/lamp").unwrap();
        assert_eq!(one.to_remote("lamp").as_deref(), Some("house/lamp"));
        assert_eq!(one.to_local("house/lamp").as_deref(), Some("lamp"));
        assert_eq!(one.to_local("house/lamp/x"), None);
        let all = Mapping::new("#", "a/", "b/").unwrap();
        assert_eq!(all.to_remote("a").as_deref(), Some("b"));
        assert_eq!(all.to_remote("a/").as_deref(), Some("b/"));
        let bare = Mapping::new("#", "a/", "").unwrap();
        for topic in ["a", "a/", "a/$SYS/x"] {
            assert_eq!(bare.to_remote(topic), None, "{topic}");
        }
    }

    #[test]
    fn a_line_that_names_no_topics_is_refused_by_its_side() {
        let refused = |filter, local, remote| Mapping::new(filter, local, remote).unwrap_err().key;
        assert_eq!(refused("a/#/b", "", ""), "local");
        assert_eq!(refused("#", "", "b"), "remote");
        assert_eq!(refused("a", "+/", ""), "local");
        assert_eq!(refused("", "a", ""), "remote");
    }

    fn prefix() -> impl Strategy<Value = String> {
        prop_oneof![Just(String::new()), "[a-c]{1,2}/", "[a-c]/[a-c]/", "/"]
    }

    fn filter() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("#".to_owned()),
            "[ab+](/[ab+]){0,2}",
            "[ab+](/[ab+]){0,1}/#"
        ]
    }

    proptest! {
        #[test]
        fn a_topic_comes_back_as_it_was_and_two_stay_two(
            filter in filter(), local in prefix(), remote in prefix(),
            topics in prop::collection::vec("/?[a-c]{0,2}(/[a-c]{0,1}){0,3}", 1..8),
        ) {
            let line = Mapping::new(&filter, &local, &remote).unwrap();
            let (ours, theirs) = (line.local_filter(), line.remote_filter());
            let mut seen = std::collections::HashMap::new();
            for topic in topics.iter().filter(|topic| !topic.is_empty()) {
                if let Some(there) = line.to_remote(topic) {
                    prop_assert!(ours.matches(topic), "{topic}");
                    prop_assert!(theirs.matches(&there), "{there}");
                    let back = line.to_local(&there);
                    prop_assert_eq!(back.as_deref(), Some(topic.as_str()));
                    let other = seen.insert(there, topic.clone());
                    prop_assert!(other.is_none_or(|other| other == *topic));
                }
            }
        }
    }
}
