//! XML text to events and back: a namespace-aware [`Reader`] and a [`Writer`].
//!
//! The two are inverse as far as the infoset goes: what is written is read as the events it was written
//! from, the order of attributes, entities' names and the choice of quotes aside.

mod chars;
mod doctype;
mod entity;
mod error;
mod escape;
mod names;
mod namespaces;
mod position;
mod reader;
#[cfg(test)]
mod reader_tests;
mod scan;
mod scope;
mod source;
mod unique;
mod writer;
#[cfg(test)]
mod writer_tests;

pub use position::position;
pub use reader::Reader;
pub use writer::Writer;
