//! Messages to bytes and back, in every format.
//!
//! What it deliberately does not do: no sockets, no knowledge of who wants what, no `std` (but for
//! what EXI keeps in a thread, where there are threads). The decision worth arguing: only [`Format`]
//! is frozen; the vocabularies and syntaxes behind it are private tools, and `dyn` stops at the batch.
//!
//! It touches nothing but memory: bytes come in and go out.
//!
//! ```
//! use weir_codec::by_name;
//! use weir_model::{BatchBuilder, Limits};
//!
//! let (json, csv) = (by_name("json").unwrap(), by_name("csv").unwrap());
//! let message = br#"{"value":1.42,"unit":"m","time":"2026-01-01T00:00:00Z"}"#;
//! let mut builder = BatchBuilder::new();
//! (json.decode)(message, &mut builder, &Limits::default()).unwrap();
//!
//! let mut table = Vec::new();
//! (csv.encode)(builder.batch(), &mut table);
//! assert!(String::from_utf8(table).unwrap().contains("2026-01-01T00:00:00Z"));
//!
//! // An error says where.
//! let refused = (json.decode)(b"{\"value\":}", &mut builder, &Limits::default());
//! assert!(refused.is_err());
//! ```
#![no_std]
#![forbid(unsafe_code)]
// Where a format is left out, so are some methods that only it uses.
#![cfg_attr(not(feature = "all"), allow(dead_code, unused_imports))]

extern crate alloc;

mod base64;
#[cfg(feature = "block")]
pub mod block;
mod buffered;
pub mod carried;
pub mod crs;
#[cfg(feature = "exi")]
pub mod document;
pub mod error;
pub mod format;
pub mod formats;
mod infoset;
mod inline;
mod json_value;
mod known_strings;
#[cfg(feature = "legacy")]
mod legacy;
mod lexical;
pub mod limits;
mod lines;
mod names;
pub mod negotiate;
mod number;
#[cfg(any(feature = "jsonld", feature = "turtle", feature = "ntriples"))]
mod rdf;
#[cfg(any(feature = "arrow", feature = "legacy"))]
mod referred;
mod rows;
pub mod sample;
pub mod schema;
mod sniff;
#[cfg(any(feature = "exi", feature = "soap"))]
mod soap_role;
mod stack_text;
mod syntax;
mod unescaped;
mod vocabulary;

pub use carried::{RoundTrip, round_trip};
pub use error::{DecodeError, Fault, position};
pub use format::{Carries, Confidence, Element, Format, Parts, Reader};
#[cfg(feature = "json")]
pub use formats::json::result_members;
#[cfg(feature = "om")]
pub use formats::om::write_observations;
#[cfg(feature = "om1")]
pub use formats::om::{write_blocks, write_of_model};
#[cfg(feature = "swe-text")]
pub use formats::swe_text::{append as append_swe_text, append_results};
pub use formats::{CARRIAGES, FORMATS, by_name};
#[cfg(feature = "legacy")]
pub use legacy::pbf_string::{TextSize, text_size};
pub use names::stands_twice;
pub use negotiate::{by_content_format, by_element, by_media, by_media_of, by_root, negotiate};
pub use sniff::{read_forgiving, sniff, unreadable};
#[cfg(any(feature = "om", feature = "om1", feature = "exi"))]
pub use vocabulary::om::Placement;
#[cfg(feature = "om1")]
pub use vocabulary::om::write_model::Model;
