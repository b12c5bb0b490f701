//! How surely a message arrives.

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
