//! Flaws: what of a message is not taken as it stands, while the rest of it is.
//!
//! What it deliberately does not do: decide. Whoever reads a message notes them, and whoever keeps it tells.

use alloc::string::String;
use alloc::vec::Vec;

/// Flaws of one message that are told; of those beyond, only the first of a kind.
const TOLD_MAX: usize = 16;
/// Bytes of a name or sentence that are kept.
const TEXT_BYTES_MAX: usize = 256;

/// What a flaw is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlawKind {
    /// A number that is none, or no finite one: null is kept.
    NotFinite,
    /// A name that can be no level of a topic: it is escaped, or what it names is left out.
    Name,
    /// A member of an observation that is not what it must be: it is left out.
    Member,
    /// A time that cannot be read: the arrival stands for it.
    Time,
    /// A part that would be an observation and can be none: it is left out.
    Observation,
    /// A member that no observation has: it is passed over.
    Unknown,
    /// Text that is not UTF-8, or more than a line of it.
    Text,
    /// Bytes that are none of the formats.
    Bytes,
}

impl FlawKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::NotFinite,
        Self::Name,
        Self::Member,
        Self::Time,
        Self::Observation,
        Self::Unknown,
        Self::Text,
        Self::Bytes,
    ];

    /// The word of metrics and logs for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotFinite => "not-finite",
            Self::Name => "name",
            Self::Member => "member",
            Self::Time => "time",
            Self::Observation => "observation",
            Self::Unknown => "unknown-member",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }

    /// What its publisher should do.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NotFinite => "Send null where there is no number, or leave the member out.",
            Self::Name => {
                "Name members without `+`, `#` and control characters, and shorter than a topic."
            }
            Self::Member => "Send texts in quotes and numbers without, or leave the member out.",
            Self::Time => {
                "Send times as RFC 3339 with a zone, or as seconds or milliseconds since 1970."
            }
            Self::Observation => {
                "Send each observation with a `value`, at or below the message's topic."
            }
            Self::Unknown => "Leave the member out, or send it as an observation of its own.",
            Self::Text => {
                "Send UTF-8, a value a message; of anything else say the format (`$as/ENC/TOPIC`)."
            }
            Self::Bytes => {
                "Say the format (`$as/ENC/TOPIC`), or the content type where they are no observations."
            }
        }
    }
}

/// One part of a message that is not taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What it is of.
    pub kind: FlawKind,
    /// Name of the datastream that it is of, below the topic of the message; empty where it is of that topic.
    pub below: String,
    /// A sentence: what was found where, and what was made of it.
    pub what: String,
}

impl Flaw {
    /// A flaw of the message as a whole.
    pub fn new(kind: FlawKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            below: String::new(),
            what: cut(what.into()),
        }
    }

    /// The same of a datastream below the topic of the message.
    pub fn of(self, below: impl Into<String>) -> Self {
        let below = cut(below.into());
        Self { below, ..self }
    }
}

/// Adds a flaw to those of a message, unless it was found before or there are too many.
pub(crate) fn note(flaws: &mut Vec<Flaw>, flaw: Flaw) {
    let is_first = || flaws.iter().all(|known| known.kind != flaw.kind);
    if !flaws.contains(&flaw) && (flaws.len() < TOLD_MAX || is_first()) {
        flaws.push(flaw);
    }
}

fn cut(mut text: String) -> String {
    let most = text.len().min(TEXT_BYTES_MAX);
    let end = (0..=most).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or(0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn of_many_flaws_the_first_of_each_kind_are_kept() {
        let mut flaws = Vec::new();
        for count in 0..100 {
            note(&mut flaws, Flaw::new(FlawKind::Name, format!("{count}")));
            note(&mut flaws, Flaw::new(FlawKind::Name, "0"));
        }
        assert_eq!(flaws.len(), TOLD_MAX);
        note(&mut flaws, Flaw::new(FlawKind::Time, "late"));
        note(&mut flaws, Flaw::new(FlawKind::Time, "later"));
        assert_eq!(flaws.len(), TOLD_MAX + 1);
        let long = Flaw::new(FlawKind::Name, "ä".repeat(1000));
        assert_eq!(long.what.len(), TEXT_BYTES_MAX);
    }
}
