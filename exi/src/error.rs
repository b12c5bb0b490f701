//! What can go wrong, and where.

use alloc::string::String;
use core::fmt;

/// A failure of the encoder, the decoder or the XML reader, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Bytes before the place, counted in the input of a decoder and in the output of an encoder.
    pub byte: u64,
    /// Bits of that byte already consumed, 0 to 7; always 0 in byte-aligned streams.
    pub bit: u8,
    /// Whether the place is within what a compressed block inflates to: `byte` is then where the inflater
    /// stood when it gave the byte `inflated_byte` of that.
    pub inflated: bool,
    /// Bytes before the place in the inflated block, where it is within one.
    pub inflated_byte: u64,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends before the document does.
    UnexpectedEnd,
    /// Bytes follow the end of the document.
    TrailingData,
    /// The stream does not begin as an EXI header does (EXI 1.0 section 5).
    NotExi,
    /// The format version is not the one of this edition (section 5.3).
    UnsupportedVersion(u32),
    /// The options document contradicts the standard or what the caller fixed (section 5.4).
    InvalidOptions(&'static str),
    /// The stream names a schema that the caller did not give.
    UnknownSchema(String),
    /// An event code that the grammar in effect does not have (section 6.2).
    InvalidEventCode,
    /// A compact identifier that no string table entry has (section 7.3).
    InvalidIdentifier,
    /// A code point outside Unicode, or a surrogate.
    InvalidCharacter(u64),
    /// A value outside its datatype (section 7.1).
    InvalidValue(&'static str),
    /// A compressed block is no DEFLATE stream, or holds the wrong number of bytes (section 9.3).
    InvalidDeflate,
    /// An event that the grammar in effect does not allow, with what was wrong about it.
    NotAllowed(&'static str),
    /// Text that is not what the datatype of its place asks for, in a strict stream.
    NotInDatatype(String),
    /// XML that is not well-formed, or what the reader refuses: what had to stand there.
    Xml(&'static str),
    /// A name that XML does not allow, which a damaged or hostile stream may hold (Namespaces in XML
    /// section 3).
    NotAName(String),
    /// A limit was reached.
    OverLimit(crate::limits::Limit),
}

impl Error {
    /// Says what went wrong at a byte.
    pub fn at_byte(kind: ErrorKind, byte: u64) -> Self {
        Self {
            kind,
            byte,
            bit: 0,
            inflated: false,
            inflated_byte: 0,
        }
    }

    /// Says what went wrong at a bit.
    pub fn at_bit(kind: ErrorKind, bit: u64) -> Self {
        Self {
            kind,
            byte: bit / 8,
            bit: (bit % 8) as u8,
            inflated: false,
            inflated_byte: 0,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.told(out)?;
        write!(out, " at byte {}", self.byte)?;
        if self.bit != 0 {
            write!(out, " bit {}", self.bit)?;
        }
        if self.inflated {
            write!(out, " (byte {} of the inflated block)", self.inflated_byte)?;
        }
        self.kind.explained(out)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.told(out)?;
        self.explained(out)
    }
}

impl ErrorKind {
    /// What went wrong, in words that a place may follow.
    fn told(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedEnd => out.write_str("the input ends before the document does"),
            Self::TrailingData => out.write_str("bytes follow the end of the document"),
            Self::NotExi => out.write_str("not an EXI header"),
            Self::UnsupportedVersion(version) => write!(out, "EXI version {version} is unknown"),
            Self::InvalidOptions(rule) => write!(out, "EXI options: {rule}"),
            Self::UnknownSchema(id) => {
                write!(
                    out,
                    "the stream asks for schema {id:?}, which was not given"
                )
            }
            Self::InvalidEventCode => out.write_str("an event code that means nothing"),
            Self::InvalidIdentifier => {
                out.write_str("a reference to an entry that the string table does not have")
            }
            Self::InvalidCharacter(point) => write!(out, "{point:#x} is not a character"),
            Self::InvalidValue(rule) => write!(out, "a value that cannot be: {rule}"),
            Self::InvalidDeflate => out.write_str("damaged DEFLATE data"),
            Self::NotAllowed(what) => write!(out, "not allowed here: {what}"),
            Self::NotInDatatype(text) => {
                write!(out, "{text:?} is not of the datatype that the schema wants")
            }
            Self::Xml(expected) => write!(out, "XML: expected {expected}"),
            Self::NotAName(text) => write!(out, "XML: {text:?} is not a name"),
            Self::OverLimit(limit) => write!(out, "limit reached: {limit}"),
        }
    }

    /// What may be the cause, where that does not say itself.
    fn explained(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NotExi => ": a stream begins with $EXI or with the bits 10",
            Self::UnsupportedVersion(_) => ": there is only 1",
            Self::InvalidEventCode | Self::InvalidIdentifier | Self::InvalidCharacter(_) => {
                ": the stream is damaged, or was written with other options or another schema"
            }
            Self::InvalidDeflate => ": it is none, or holds more or less than the values need",
            _ => "",
        })
    }
}

impl core::error::Error for Error {}
