//! What goes no further is kept with its reason, where somebody can look at it, and the rest flows on.

use super::{Taken, Told, give, opaque};
use crate::Context as Gateway;
use bytes::Bytes;
use weir_hub::{Attributes, Given};

/// Longest name or reason that is kept, bytes.
const TEXT_BYTES_MAX: usize = 1024;

/// Where the messages are that a bridge has set aside.
pub fn aside_topic(bridge: &str) -> String {
    format!("$SYS/broker/connection/{bridge}/aside")
}

/// A message that goes no further.
pub struct SetAside<'a> {
    /// Which way it went: `in` or `out`.
    pub way: &'static str,
    /// What it is called on the side that it came from.
    pub name: &'a str,
    /// Why.
    pub reason: &'a str,
    /// Its body, as far as there is one.
    pub payload: Bytes,
}

impl SetAside<'_> {
    /// Puts it into the log as bytes, with its name, way and reason as properties; the last is retained, so that who
    /// comes to look later finds that there was one.
    pub fn keep(self, context: &dyn Gateway, told: &Told) -> Taken {
        let mut publish = opaque(&aside_topic(told.name()), None, self.payload);
        let properties = [
            ("weir-way", self.way),
            ("weir-name", cut(self.name)),
            ("weir-reason", cut(self.reason)),
        ];
        let properties = properties.map(|(name, value)| (name.to_owned(), value.to_owned()));
        publish.retain = !publish.body.is_empty();
        publish.attributes = Attributes::from(Given {
            properties: properties.into(),
            ..Given::default()
        });
        let taken = give(context, publish);
        if !matches!(taken, Taken::Busy) {
            told.refused(&format!("a message at `{}`", cut(self.name)), self.reason);
        }
        taken
    }
}

fn cut(text: &str) -> &str {
    let mut ends = (0..=text.len().min(TEXT_BYTES_MAX)).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}
