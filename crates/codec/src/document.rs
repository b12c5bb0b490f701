//! Documents that are no messages: requests and answers of web services, in XML and in EXI.
//!
//! A request is small and read whole, as a tree ([`Element`]), from whichever of the two it came in; an
//! answer is written as XML text ([`Xml`]) and becomes EXI or JSON where that was asked for. SOAP's envelope
//! ([`soap`]) is the same for all who speak it.
//!
//! What it deliberately does not do: schemas, and observations, which are formats' ([`crate::FORMATS`]). A
//! document type is refused before anything of it is read (as SOAP 1.2 part 1 section 5 asks), so that there
//! are no entities, external or not. The decision worth arguing: a tree of owned names, which would be too
//! dear for messages, since a request has some dozens of elements and is asked out of order.

pub mod addressing;
pub mod exi;
pub mod json;
pub mod observations;
mod read;
pub mod soap;
mod tree;
mod write;

pub use read::{read_head, read_xml};
pub use tree::{Attribute, Element, Node, Scope};
pub use write::{Xml, write_escaped};

use alloc::string::{String, ToString};
use core::fmt;

/// Elements inside each other in a document.
pub const DEPTH_MAX: u32 = 64;
/// Elements of a document.
pub const ELEMENTS_MAX: usize = 200_000;
/// Bytes of a document, before and after it is decoded.
pub const BYTES_MAX: usize = 16 << 20;

/// Why a document cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the byte, where it is known.
    pub at: usize,
    /// What is wrong.
    pub problem: String,
}

impl Fault {
    fn new(at: usize, problem: impl ToString) -> Self {
        Self {
            at,
            problem: problem.to_string(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.problem, self.at)
    }
}

impl core::error::Error for Fault {}

fn limits() -> weir_exi::Limits {
    weir_exi::Limits {
        depth: DEPTH_MAX,
        input_bytes: BYTES_MAX as u64,
        expanded_bytes: BYTES_MAX as u64 * 2,
        table_bytes: BYTES_MAX as u64 * 2,
        attributes: 256,
        value_bytes: BYTES_MAX as u64,
        ..weir_exi::Limits::default()
    }
}

#[cfg(test)]
mod tests;
