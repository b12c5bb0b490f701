//! A message as it was read.

use crate::attributes::Attributes;
use crate::fault::Fault;
use crate::limits::NAME_BYTES_MAX;
use weir_codec::Format;
use weir_model::{Batch, Flaw, Place};

/// What of a message that is taken is not understood.
pub(crate) enum Unread {
    /// All of it, for this reason: only its bytes are kept.
    Fault(Fault),
    /// All of it: nobody said what it is, and it is none of the formats.
    Opaque(Flaw),
    /// What lies below its topic, which its publisher may not publish, for this reason.
    Below(Fault),
    /// Some parts; and the topic of the first datastream that the message is of.
    Parts(Vec<Flaw>, String),
}

pub(crate) enum Decoded {
    Observations(Batch, &'static Format),
    Opaque(String),
}

impl Decoded {
    /// Bytes that are none of the formats; of a content type, where one was given.
    pub(crate) fn bytes(attributes: &Attributes) -> Self {
        let given = attributes.content_type.as_deref();
        let given = given.filter(|media| !media.is_empty() && media.len() <= NAME_BYTES_MAX);
        Decoded::Opaque(given.unwrap_or("application/octet-stream").into())
    }

    /// What the log calls the body.
    pub(crate) fn media(&self) -> &str {
        match self {
            Decoded::Observations(_, format) => format.name,
            Decoded::Opaque(media) => media,
        }
    }
}

/// Rows without a place get that of their datastream, where it was set or heard before.
pub(crate) fn fill_places(batch: &mut Batch, places: &[Option<Place>]) {
    if places.iter().all(Option::is_none) {
        return;
    }
    for row in 0..batch.len() {
        if let Some(place) = places[batch.stream_of(row)] {
            batch.fill_place(row, place);
        }
    }
}

/// The observations at this topic itself.
pub(crate) fn at_topic(batch: &Batch, topic: &str) -> Batch {
    batch.select(|row| batch.stream(batch.stream_of(row)).topic == topic)
}
