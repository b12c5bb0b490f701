//! Which versions of the protocol there are.

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
