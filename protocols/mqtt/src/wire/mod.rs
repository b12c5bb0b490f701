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
mod packet_type;
mod property;
mod publish;
mod qos;
mod reader;
mod reason;
mod rules;
mod subscribe;
mod version;
mod writer;

pub use ack::Ack;
pub use connack::Connack;
pub use connect::{Connect, LastWill, version_of};
pub use disconnect::{Auth, Disconnect};
pub use fault::Fault;
pub use header::{Framed, Header, frame};
pub use packet::Packet;
pub use packet_type::PacketType;
pub use property::{Properties, Property, PropertyList};
pub use publish::Publish;
pub use qos::QoS;
pub use reason::ReasonCode;
pub use subscribe::{Filters, RetainHandling, Suback, Subscribe, SubscriptionOptions, Unsubscribe};
pub use version::Version;
pub use writer::length_of_varint;
