//! Bytes of a sample: encapsulation, CDR, and the observation in it.

mod cdr;
mod encapsulation;
mod observation;

pub use cdr::{Fault, Reader, Writer};
pub use encapsulation::Encapsulation;
pub use observation::{Sample, write};

/// Name of the topic that observations travel at.
pub const TOPIC: &str = "weir/Observation";

/// Name of its type, as IDL names it.
pub const TYPE: &str = "weir::Observation";

/// The type, for who compiles it.
pub const IDL: &str = include_str!("../../idl/Observation.idl");
