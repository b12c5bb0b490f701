//! Nodes: the name of a topic, or of a filter as a collection, and the format that is wanted.
//!
//! A node's name is the topic, character for character: topics hold no control characters, and XML carries all
//! others but U+FFFE and U+FFFF, which are written as `%EF%BF%BE` and `%EF%BF%BF`; `%` itself then is `%25`
//! where such an escape would be read.

use super::answer::Refusal;
use std::fmt::Write;
use weir_codec::{Format, by_name};
use weir_model::Filter;

/// The name of a topic's node.
pub(in crate::net) fn name_of(topic: &str) -> String {
    let mut name = String::with_capacity(topic.len());
    for (at, character) in topic.char_indices() {
        match character {
            '\u{FFFE}' | '\u{FFFF}' => {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    // Writing to a text cannot fail.
                    let _ = write!(name, "%{byte:02X}");
                }
            }
            '%' if escaped(&topic[at..]).is_some() => name.push_str("%25"),
            character => name.push(character),
        }
    }
    name
}

const ESCAPES: &[(&str, char)] = &[
    ("%EF%BF%BE", '\u{FFFE}'),
    ("%EF%BF%BF", '\u{FFFF}'),
    ("%25", '%'),
];

fn escaped(text: &str) -> Option<&'static (&'static str, char)> {
    ESCAPES.iter().find(|(escape, _)| text.starts_with(escape))
}

/// The topic that a node is named after.
pub(in crate::net) fn topic_of(name: &str) -> String {
    let mut topic = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let (character, length) = match escaped(rest) {
            Some((escape, character)) => (*character, escape.len()),
            None => (first, first.len_utf8()),
        };
        topic.push(character);
        rest = &rest[length..];
    }
    topic
}

/// A node, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    /// The node as it was asked for.
    pub(super) node: String,
    /// The format that it names.
    pub(super) format: Option<&'static Format>,
    /// Which topics.
    pub(super) filter: Filter,
}

impl Wanted {
    pub(super) fn parse(node: &str) -> Result<Self, Refusal> {
        let unknown = |text: String| Refusal::new("cancel", "item-not-found", text);
        let (format, name) = match node.strip_prefix("$as/") {
            None => (None, node),
            Some(rest) => {
                let (format, name) = rest
                    .split_once('/')
                    .ok_or_else(|| unknown(format!("`{node}`: expected $as/FORMAT/TOPIC")))?;
                let known = by_name(format);
                (
                    Some(known.ok_or_else(|| unknown(format!("`{format}` is no format")))?),
                    name,
                )
            }
        };
        let filter = Filter::parse(&topic_of(name))
            .map_err(|error| unknown(format!("no node `{node}`: {error}")))?;
        Ok(Self {
            node: node.into(),
            format,
            filter,
        })
    }

    /// Whether it holds other nodes (XEP-0248).
    pub(super) fn is_collection(&self) -> bool {
        !self.filter.is_topic()
    }

    /// The topic of one that is published to.
    pub(super) fn topic(&self) -> Result<&str, Refusal> {
        if self.is_collection() {
            let text = format!("`{}` is a collection: publish to a topic", self.node);
            Err(Refusal::new("cancel", "feature-not-implemented", text).with("unsupported"))
        } else {
            Ok(self.filter.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn most_nodes_are_named_as_their_topics() {
        for topic in ["a/b", "Übergabe/t 1", "50%", "a%2"] {
            assert_eq!(name_of(topic), topic);
        }
        assert_eq!(
            name_of("a\u{FFFF}%25%EF%BF%BF"),
            "a%EF%BF%BF%2525%25EF%BF%BF"
        );
        let wanted = Wanted::parse("$as/json/a/+/#").unwrap();
        assert_eq!(wanted.format.map(|format| format.name), Some("json"));
        assert_eq!(wanted.filter.as_str(), "a/+/#");
        assert!(wanted.topic().is_err());
        for node in ["", "a+", "$as/json", "$as/nothing/a"] {
            assert!(Wanted::parse(node).is_err(), "{node}");
        }
    }

    proptest! {
        #[test]
        fn names_of_nodes_are_bijective(parts in proptest::collection::vec(
            prop_oneof![
                Just("%"),
                Just("25"),
                Just("EF%BF%BE"),
                Just("\u{FFFE}"),
                Just("%EF"),
                Just("a/b"),
            ],
            0..9,
        )) {
            let topic: String = parts.concat();
            let name = name_of(&topic);
            prop_assert!(crate::xml::is_carried(&name));
            prop_assert_eq!(topic_of(&name), topic);
        }
    }
}
