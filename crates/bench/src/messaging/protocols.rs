//! The protocols: one line of [`PROTOCOLS`] each, with the brokers that speak it and its native client.
//!
//! The client of a page is the line of the same name in `web/src/messaging/clients.ts`.

use super::job::At;
use super::mqtt::Mqtt;

/// All protocols.
pub(crate) static PROTOCOLS: &[Protocol] = &[Protocol {
    name: "mqtt",
    published: "MQTT",
    ours: "weir_mqtt",
    others: &["mosquitto", "hivemq", "nats", "rabbitmq"],
    open: |at, topic| Ok(Box::new(Mqtt::open(at, topic)?)),
}];

/// A protocol of messaging.
#[derive(Debug)]
pub(crate) struct Protocol {
    /// Its name as a level of a factor.
    pub(crate) name: &'static str,
    /// Its name in the tables of the paper.
    pub(crate) published: &'static str,
    /// The target that is the gateway.
    pub(crate) ours: &'static str,
    /// The targets that are other people's brokers.
    pub(crate) others: &'static [&'static str],
    /// Opens a native client that is subscribed to a topic.
    pub(crate) open: Open,
}

/// How a client is opened.
type Open = fn(At, &str) -> Result<Box<dyn Client>, String>;

/// A native client: blocking, of one thread.
pub(crate) trait Client: Send {
    /// Publishes a message and goes on, nothing being acknowledged.
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String>;

    /// Waits for the next message; nothing where none comes in time.
    fn receive(&mut self) -> Result<Option<bytes::Bytes>, String>;
}

impl Protocol {
    /// The protocol of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PROTOCOLS.iter().find(|protocol| protocol.name == name)
    }

    /// Its brokers: ours, theirs, and one that is given by its URL.
    pub(crate) fn brokers(&self, given: bool) -> Vec<&'static str> {
        let given = given.then_some("given");
        let others = self.others.iter().copied();
        std::iter::once(self.ours)
            .chain(others)
            .chain(given)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::is_ours;
    use crate::targets::Target;

    #[test]
    fn every_broker_is_a_target_and_the_first_is_ours() {
        for protocol in PROTOCOLS {
            let brokers = protocol.brokers(true);
            assert!(is_ours(brokers[0]));
            assert!(brokers.iter().all(|name| Target::named(name).is_some()));
        }
    }
}
