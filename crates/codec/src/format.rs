//! What a format is: the only interface of the codec that is frozen.

use crate::error::DecodeError;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use weir_model::{Batch, BatchBuilder, Limits};

/// One line of [`FORMATS`](crate::FORMATS).
#[derive(Clone, Copy)]
pub struct Format {
    /// Name in commands, subprotocols and `?as=`.
    pub name: &'static str,
    /// Media type sent.
    pub media: &'static str,
    /// Media types also understood.
    pub media_also: &'static [&'static str],
    /// CoAP Content-Format (RFC 7252 section 12.3), where IANA has one.
    pub content_format: Option<u16>,
    /// Whether a message is UTF-8 text; binary ones travel length-prefixed or in base64.
    pub text: bool,
    /// Whether a message never holds a line feed, so that a stream of them needs no other end mark.
    pub one_line: bool,
    /// Whether each line of a text is a message by itself, so that lines may be sent as they come.
    pub line_by_line: bool,
    /// What an observation may carry through it and come back equal.
    pub carries: Carries,
    /// Appends the message. Allocates nothing beyond what `out` grows.
    pub encode: fn(batch: &Batch, out: &mut Vec<u8>),
    /// Reads one whole message, adding its observations; after an error those before it are there.
    pub decode: fn(&[u8], &mut BatchBuilder, &Limits) -> Result<(), DecodeError>,
    /// A reader of a message that arrives in pieces.
    pub reader: fn(&Limits) -> Box<dyn Reader>,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Formats are told apart by their names.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// Reads one message piece by piece.
pub trait Reader: Send {
    /// Takes the next piece; observations that are whole are added.
    fn push(&mut self, piece: &[u8], out: &mut BatchBuilder) -> Result<(), DecodeError>;
    /// Says that no more comes; what is left must be whole.
    fn finish(&mut self, out: &mut BatchBuilder) -> Result<(), DecodeError>;
}

/// What a format can carry of an observation beside topic and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    /// The order of the observations of different datastreams; that of each one's is always kept.
    pub order: bool,
    /// Topics of its own for each observation.
    pub topic: bool,
    /// URI of the sensor.
    pub sensor: bool,
    /// Observed property.
    pub property: bool,
    /// Unit.
    pub unit: bool,
    /// Phenomenon time.
    pub time: bool,
    /// Latitude and longitude.
    pub place: bool,
    /// Results that are text.
    pub text: bool,
    /// Results that are null.
    pub null: bool,
    /// Results that are arrays or objects.
    pub json: bool,
    /// End of interval, result time, valid time, quality, feature, parameters.
    pub extra: bool,
    /// Integers within JSON that 64 bits hold, signed or not, and a double does not.
    pub integers: bool,
    /// Other numbers within JSON of more digits than a double's.
    pub digits: bool,
    /// The character NUL in names of members within JSON.
    pub nul: bool,
    /// The sign of a latitude or longitude that is zero.
    pub zero_sign: bool,
}

/// One thing that a format carries or not: its name in the table, and the taking over of it alone.
type Aspect = (&'static str, fn(&Carries, Carries) -> Carries);

const ASPECTS: [Aspect; 15] = [
    ("topic", |of, all| Carries {
        topic: of.topic,
        ..all
    }),
    ("sensor", |of, all| Carries {
        sensor: of.sensor,
        ..all
    }),
    ("type", |of, all| Carries {
        property: of.property,
        ..all
    }),
    ("unit", |of, all| Carries {
        unit: of.unit,
        ..all
    }),
    ("time", |of, all| Carries {
        time: of.time,
        ..all
    }),
    ("place", |of, all| Carries {
        place: of.place,
        ..all
    }),
    ("text", |of, all| Carries {
        text: of.text,
        ..all
    }),
    ("null", |of, all| Carries {
        null: of.null,
        ..all
    }),
    ("JSON", |of, all| Carries {
        json: of.json,
        ..all
    }),
    ("extra", |of, all| Carries {
        extra: of.extra,
        ..all
    }),
    ("order", |of, all| Carries {
        order: of.order,
        ..all
    }),
    ("integers", |of, all| Carries {
        integers: of.integers,
        ..all
    }),
    ("digits", |of, all| Carries {
        digits: of.digits,
        ..all
    }),
    ("NUL", |of, all| Carries { nul: of.nul, ..all }),
    ("-0", |of, all| Carries {
        zero_sign: of.zero_sign,
        ..all
    }),
];

impl Carries {
    /// Everything.
    pub const ALL: Self = Self {
        order: true,
        topic: true,
        sensor: true,
        property: true,
        unit: true,
        time: true,
        place: true,
        text: true,
        null: true,
        json: true,
        extra: true,
        integers: true,
        digits: true,
        nul: true,
        zero_sign: true,
    };

    /// Everything, of JSON what a tree of integers of 64 bits, doubles and text can hold.
    pub const TREE: Self = Self {
        digits: false,
        ..Self::ALL
    };

    /// Names of what is not carried, each with everything but that.
    pub fn left_out(&self) -> impl Iterator<Item = (&'static str, Self)> + use<'_> {
        let alone = ASPECTS
            .iter()
            .map(|(name, take)| (*name, take(self, Self::ALL)));
        alone.filter(|(_, without)| *without != Self::ALL)
    }

    /// The result alone, of any kind.
    pub const RESULT: Self = Self {
        topic: false,
        sensor: false,
        property: false,
        unit: false,
        time: false,
        place: false,
        extra: false,
        ..Self::ALL
    };
}
