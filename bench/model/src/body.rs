//! The contents of a message that is published.

use serde::{Deserialize, Serialize};

use crate::own::Own;

/// The contents of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// One observation in JSON, about 110 bytes, whose value is the stamp.
    Stamped,
    /// So many observations of ten datastreams in JSON, about 85 bytes each.
    JsonBatch(usize),
    /// The same in CBOR, about 60 bytes each.
    CborBatch(usize),
    /// A person's own.
    Own(Own),
    /// What some service takes, with so many observations; only times in it change.
    Service(Own, usize),
}

impl Body {
    /// Observations in one message.
    pub fn observations(self) -> usize {
        match self {
            Self::Stamped => 1,
            Self::JsonBatch(count) | Self::CborBatch(count) | Self::Service(_, count) => count,
            Self::Own(own) => own.observations(),
        }
    }

    /// The media type, as `Content-Type` says it.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Stamped | Self::JsonBatch(_) => "application/json",
            Self::CborBatch(_) => "application/cbor",
            Self::Own(own) | Self::Service(own, _) => own.media_type,
        }
    }
}
