//! What cannot be kept where it was to go, or goes no further, is kept with its reason where somebody can look at it,
//! and the rest flows on.
//!
//! A place is a topic of the gateway's own. What is set aside is published there, so that who watches hears of it, and
//! retained at a number below, where it stays, whatever retention does to the log, until somebody removes it by an
//! empty retained message. The decision worth arguing: beyond a bound it is not retained any more, and lasts as long as
//! the log keeps it. Neither is anything dropped for it, nor does what cannot be kept stop what can.

use super::{Taken, Told, give, opaque};
use crate::Gateway;
use bytes::Bytes;
use std::collections::HashSet;
use weir_hub::{Attributes, Given, Publish};
use weir_model::Filter;

/// Longest name or reason that is kept, bytes.
const TEXT_BYTES_MAX: usize = 1024;
/// Messages of one place that are retained.
const RETAINED_MAX: usize = 1000;
/// Bytes of their bodies.
const RETAINED_BYTES_MAX: usize = 16 << 20;

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
    /// Sets aside what a bridge does not get across, and tells of it.
    pub fn keep(self, context: &dyn Gateway, told: &Told) -> Taken {
        let taken = self.put(context, &aside_topic(told.name()));
        if let Taken::Logged(_) = taken {
            told.refused(&format!("a message at `{}`", cut(self.name)), self.reason);
        }
        taken
    }

    /// Puts it into the log as bytes, with its name, way and reason as properties.
    pub fn put(&self, context: &dyn Gateway, place: &str) -> Taken {
        let taken = match give(context, self.publish(place, true)) {
            // There is no room for one more that is retained.
            Taken::Refused(_) => give(context, self.publish(place, false)),
            taken => taken,
        };
        let Taken::Logged(ticket) = taken else {
            return taken;
        };
        let free = free_place(context, place, self.payload.len());
        let retained = free.map(|topic| give(context, self.publish(&topic, true)));
        Taken::Logged(match retained {
            Some(Taken::Logged(retained)) => retained.with(ticket),
            // It is in the log.
            _ => ticket,
        })
    }

    fn publish(&self, topic: &str, retain: bool) -> Publish {
        let mut publish = opaque(topic, None, self.payload.clone());
        let properties = [
            ("weir-way", self.way),
            ("weir-name", cut(self.name)),
            ("weir-reason", cut(self.reason)),
        ];
        let properties = properties.map(|(name, value)| (name.to_owned(), value.to_owned()));
        publish.retain = retain && !publish.body.is_empty();
        publish.attributes = Attributes::from(Given {
            properties: properties.into(),
            ..Given::default()
        });
        publish
    }
}

/// A number below a place at which nothing is retained, where there may be one more.
fn free_place(context: &dyn Gateway, place: &str, bytes: usize) -> Option<String> {
    let all = Filter::parse(&format!("{place}/+")).ok()?;
    let gateway = context.hub().internal().at(context.now());
    let known = gateway.retained(&[all]).ok()?;
    let held: usize = known.iter().map(|message| message.body.len()).sum();
    if bytes == 0 || held + bytes > RETAINED_BYTES_MAX {
        return None;
    }
    let taken: HashSet<&str> = known.iter().map(|message| &*message.topic).collect();
    let mut topics = (1..=RETAINED_MAX).map(|number| format!("{place}/{number}"));
    topics.find(|topic| !taken.contains(topic.as_str()))
}

fn cut(text: &str) -> &str {
    let mut ends = (0..=text.len().min(TEXT_BYTES_MAX)).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}
