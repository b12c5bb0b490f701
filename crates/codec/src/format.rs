//! What a format is: the only interface of the codec that is frozen.

use crate::buffered;
use crate::error::DecodeError;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Range;
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
    /// Whether the media type is what any other text calls itself too, so that it says little.
    pub vague: bool,
    /// How its messages are recognised where nobody says what they are; `None`: they are not.
    pub sniff: Option<fn(&[u8]) -> Confidence>,
    /// How a message stands among the elements of other XML.
    pub element: Element,
    /// Whether a message is UTF-8 text; binary ones travel length-prefixed or in base64.
    pub text: bool,
    /// Whether a message never holds a line feed, so that a stream of them needs no other end mark.
    pub one_line: bool,
    /// Whether each line of a text is a message by itself, so that lines may be sent as they come.
    pub line_by_line: bool,
    /// What an observation may carry through it and come back equal.
    pub carries: Carries,
    /// Appends the message. Allocates nothing beyond what `out` grows.
    pub encode: Encode,
    /// Reads one whole message, adding its observations; after an error those before it are there.
    pub decode: Decode,
    /// A reader of pieces that adds observations before the message is whole; `None`: it gathers them.
    pub reader: Option<MakeReader>,
    /// Says of a message that it is bare values, without a word about its observations.
    pub is_bare: Option<fn(&[u8]) -> bool>,
    /// Takes a message that cannot be taken whole apart, into messages of so many datastreams at most.
    pub part: Option<Part>,
}

/// [`Format::encode`].
pub type Encode = fn(&Batch, &mut Vec<u8>);
/// [`Format::reader`].
pub type MakeReader = fn(&Limits) -> Box<dyn Reader>;
/// [`Format::part`].
pub type Part = fn(&[u8], usize, &Limits) -> Parts;
/// [`Format::decode`].
pub type Decode = fn(&[u8], &mut BatchBuilder, &Limits) -> Result<(), DecodeError>;

impl Format {
    /// A binary format that carries everything and is known by its name and its media type alone.
    pub(crate) const fn new(
        name: &'static str,
        media: &'static str,
        encode: Encode,
        decode: Decode,
    ) -> Self {
        Self {
            name,
            media,
            media_also: &[],
            content_format: None,
            vague: false,
            sniff: None,
            element: Element::None,
            text: false,
            one_line: false,
            line_by_line: false,
            carries: Carries::ALL,
            encode,
            decode,
            reader: None,
            is_bare: None,
            part: None,
        }
    }

    /// A reader of a message that arrives in pieces.
    pub fn reader(&self, limits: &Limits) -> Box<dyn Reader> {
        match self.reader {
            Some(reader) => reader(limits),
            None => buffered::reader(self.decode, limits),
        }
    }

    /// How surely a message is of this format, as far as its bytes say.
    pub(crate) fn confidence(&self, payload: &[u8]) -> Confidence {
        self.sniff.map_or(Confidence::None, |sniff| sniff(payload))
    }
}

/// How surely bytes are a message of a format, before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// They are not, or cannot be told.
    None,
    /// They may be, where no other format knows more.
    Possible,
    /// Hardly anything else looks so.
    Likely,
    /// They begin as messages of this format do, and no others that are recognised by less.
    Certain,
}

impl Confidence {
    /// This where something is so, else none.
    pub(crate) fn if_so(self, is_so: bool) -> Self {
        if is_so { self } else { Self::None }
    }
}

/// How a message stands among the elements of other XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// It has no element of its own.
    None,
    /// It is the text of an element: its name and its namespace.
    Text(&'static str, &'static str),
    /// It is an element without a namespace, which gets one there: its name and that namespace.
    Named(&'static str, &'static str),
    /// It is recognised by the names of its root; how it is sent is said beside it.
    Roots(&'static [&'static str]),
}

/// What can be taken of a message of which not all can.
#[derive(Debug, Default)]
pub struct Parts {
    /// What can be read, in order, in messages: where each line of theirs is in the whole.
    pub parts: Vec<Vec<Range<usize>>>,
    /// Of the lines that cannot be read, why the first cannot: counted from the beginning of the whole.
    pub refused: Option<DecodeError>,
    /// How many lines cannot be read.
    pub refused_count: usize,
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
