//! Efficient XML Interchange (W3C EXI 1.0, Second Edition): encoder and decoder.
//!
//! Events go in and EXI comes out, or the other way round; see [`Encoder`] and [`Decoder`]. What a
//! stream may contain is told by [`Options`]; what a schema adds, by [`Schema`]. The crate knows
//! nothing of the rest of weir, needs no `std` and holds no `unsafe` code.
//!
//! Deliberately absent: files, sockets, a document tree, validation beyond what the grammars ask.
//!
//! The decision worth arguing: one interpreter runs the built-in and the schema-informed grammars
//! over integer identifiers. Names and values are resolved to such identifiers once, so an event
//! costs neither hashing nor allocation while decoding.
//!
//! It touches nothing but memory.
//!
//! ```
//! use weir_exi::{
//!     Decoder, DecoderSettings, Encoder, EncoderSettings, Event, Options, QName, Value,
//! };
//!
//! let level = QName::new("", "level");
//! let mut encoder = Encoder::new(EncoderSettings::new(Options::default(), None))?;
//! for event in [
//!     Event::StartDocument,
//!     Event::StartElement(level),
//!     Event::Characters(Value::Text("1.42")),
//!     Event::EndElement,
//!     Event::EndDocument,
//! ] {
//!     encoder.event(&event)?;
//! }
//! let mut exi = Vec::new();
//! encoder.take(&mut exi);
//!
//! let mut decoder = Decoder::new(&exi, DecoderSettings::new(Options::default(), None));
//! let mut names = Vec::new();
//! while let Some(event) = decoder.next_event()? {
//!     if let Event::StartElement(name) = event {
//!         names.push(name.local.to_owned());
//!     }
//! }
//! assert_eq!(names, ["level"]);
//! # Ok::<(), weir_exi::Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bits;
mod codec;
pub mod decode;
mod deflate;
pub mod encode;
pub mod error;
pub mod event;
mod fault;
pub mod grammar;
mod header;
pub mod infoset;
pub mod limits;
mod machine;
mod names;
pub mod options;
mod partition;
mod stored;
pub mod value;
pub mod xml;
pub mod xsd;

pub use decode::{Decoder, DecoderSettings, PieceDecoder};
pub use encode::{Canonical, Encoder, EncoderSettings, SpaceBetween};
pub use error::{Error, ErrorKind};
pub use event::{Event, NameHint, QName};
pub use grammar::Schema;
pub use limits::Limits;
pub use options::{Alignment, Header, Options, Preserve};
pub use value::Value;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
