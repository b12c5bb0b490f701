//! Packets as bytes (MQTT 5.0 and 3.1.1, sections 1.5 to 3).
//!
//! What it deliberately does not do: it remembers nothing between packets; what depends on those
//! before (aliases, quotas, order) is the session's. Packets borrow from the bytes they were read
//! from; properties and lists of filters are checked once and stay bytes until somebody asks.

mod ack;
mod connack;
mod connect;
mod disconnect;
mod fault;
mod header;
mod packet;
mod property;
mod publish;
mod reader;
mod reason;
mod rules;
mod subscribe;
mod writer;

pub use ack::Ack;
pub use connack::Connack;
pub use connect::{Connect, LastWill, version_of};
pub use disconnect::{Auth, Disconnect};
pub use fault::Fault;
pub use header::{Framed, Header, frame};
pub use packet::{Packet, PacketType};
pub use property::{Properties, Property, PropertyList};
pub use publish::Publish;
pub use reason::ReasonCode;
pub use subscribe::{Filters, RetainHandling, Suback, Subscribe, SubscriptionOptions, Unsubscribe};
pub use writer::length_of_varint;

/// The protocols that are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// MQTT 3.1 (`MQIsdp`), protocol level 3.
    V31,
    /// MQTT 3.1.1, protocol level 4.
    V311,
    /// MQTT 5.0, protocol version 5.
    V5,
}

/// Quality of service (section 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QoS {
    /// At most once.
    #[default]
    AtMostOnce,
    /// At least once.
    AtLeastOnce,
    /// Exactly once.
    ExactlyOnce,
}

impl QoS {
    /// The quality of two bits; 3 is none.
    pub fn of_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => QoS::AtMostOnce,
            1 => QoS::AtLeastOnce,
            2 => QoS::ExactlyOnce,
            _ => return None,
        })
    }

    /// Its two bits.
    pub fn bits(self) -> u8 {
        self as u8
    }
}
