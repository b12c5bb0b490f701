//! Topic aliases (section 3.3.2.3.4), which live as long as the connection.

use crate::limits::TOPIC_ALIASES_SET_MAX;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Aliases that the peer sets.
#[derive(Default)]
pub(super) struct Received {
    topics: Vec<Option<Box<str>>>,
}

impl Received {
    /// The topic that a PUBLISH means; `None` where the alias is none.
    pub(super) fn resolve<'a>(
        &'a mut self,
        topic: &'a str,
        alias: Option<u16>,
        alias_max: u16,
    ) -> Option<&'a str> {
        let Some(alias) = alias else {
            return Some(topic);
        };
        // [MQTT-3.3.2-8] [MQTT-3.3.2-9] [MQTT-3.3.2-10] [MQTT-3.3.2-12] [MQTT-3.2.2-17]
        // [MQTT-3.2.2-18]
        if alias == 0 || alias > alias_max {
            return None;
        }
        let index = usize::from(alias) - 1;
        if topic.is_empty() {
            return self.topics.get(index)?.as_deref();
        }
        if self.topics.len() <= index {
            self.topics.resize(index + 1, None);
        }
        self.topics[index] = Some(topic.into());
        Some(topic)
    }
}

/// Aliases set for the peer.
#[derive(Default)]
pub(super) struct Sent {
    topics: Vec<Box<str>>,
}

impl Sent {
    /// The alias of a topic and whether the peer knows it already; the first topics get one.
    pub(super) fn of(&mut self, topic: &str, alias_max: u16) -> Option<(u16, bool)> {
        // [MQTT-3.1.2-26] [MQTT-3.1.2-27] [MQTT-3.3.2-11]
        let alias_max = usize::from(alias_max.min(TOPIC_ALIASES_SET_MAX));
        if let Some(index) = self.topics.iter().position(|known| **known == *topic) {
            return Some((index as u16 + 1, true));
        }
        // An alias takes three bytes itself.
        if self.topics.len() >= alias_max || topic.len() <= 3 {
            return None;
        }
        self.topics.push(topic.into());
        Some((self.topics.len() as u16, false))
    }
}
