//! Which packets there are.

/// The types of section 2.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PacketType {
    /// Connection request.
    Connect = 1,
    /// Connect acknowledgment.
    Connack = 2,
    /// Publish message.
    Publish = 3,
    /// Publish acknowledgment (QoS 1).
    Puback = 4,
    /// Publish received (QoS 2, part 1).
    Pubrec = 5,
    /// Publish release (QoS 2, part 2).
    Pubrel = 6,
    /// Publish complete (QoS 2, part 3).
    Pubcomp = 7,
    /// Subscribe request.
    Subscribe = 8,
    /// Subscribe acknowledgment.
    Suback = 9,
    /// Unsubscribe request.
    Unsubscribe = 10,
    /// Unsubscribe acknowledgment.
    Unsuback = 11,
    /// PING request.
    Pingreq = 12,
    /// PING response.
    Pingresp = 13,
    /// Disconnect notification.
    Disconnect = 14,
    /// Authentication exchange (5.0 only).
    Auth = 15,
}

impl PacketType {
    /// Every type.
    pub const ALL: [Self; 15] = [
        Self::Connect,
        Self::Connack,
        Self::Publish,
        Self::Puback,
        Self::Pubrec,
        Self::Pubrel,
        Self::Pubcomp,
        Self::Subscribe,
        Self::Suback,
        Self::Unsubscribe,
        Self::Unsuback,
        Self::Pingreq,
        Self::Pingresp,
        Self::Disconnect,
        Self::Auth,
    ];

    /// The type of four bits; 0 is none.
    pub fn of_bits(bits: u8) -> Option<Self> {
        let index = usize::from(bits).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// The first byte of such a packet, PUBLISH without its flags.
    pub(super) fn first(self) -> u8 {
        (self as u8) << 4 | self.flags()
    }

    /// The flags that every packet of the type has, but PUBLISH.
    pub(super) fn flags(self) -> u8 {
        match self {
            Self::Pubrel | Self::Subscribe | Self::Unsubscribe => 2,
            _ => 0,
        }
    }
}
