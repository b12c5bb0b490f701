//! Messages to bytes and back, in every format.
//!
//! What it deliberately does not do: no sockets, no negotiation of who wants what, no `std`. The
//! decision worth arguing: only [`Format`] is frozen; the vocabularies and syntaxes behind it are
//! private tools, and `dyn` stops at the batch.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod error;
pub mod format;
pub mod formats;

pub use error::{DecodeError, Fault};
pub use format::{Carries, Format, Reader};
pub use formats::{FORMATS, by_name};
