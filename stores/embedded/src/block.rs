//! A block: the observations of one datastream in compressed columns; pure functions, no I/O.
//!
//! What it deliberately does not do: it names no datastream and keeps no index. The decision worth
//! arguing: each column is tried in few simple ways (differences, decimal scaling, a dictionary,
//! deflate) and the smallest is kept, instead of one clever codec; every way is exact to the bit.
//!
//! Layout: version u8 (1), flags u8 (1 kinds differ, 2 places, 4 extras), row count as a varint, then
//! the columns, each self-delimiting: times ([`ints`]); kinds, one byte a row packed ([`bytes`]),
//! where they differ, and one byte for all where not; numbers ([`numbers`]) of the rows of that kind;
//! truths and texts likewise ([`texts`], JSON among them); places: presence, then two columns of
//! numbers; extras: rows, then each member with its presence. Varints are LEB128, signed ones zigzag.

mod bits;
pub mod bytes;
mod encoder;
mod extras;
pub mod ints;
pub mod numbers;
mod rows;
pub mod texts;

pub use bits::BlockError;
pub use encoder::{Encoder, decode};
pub use rows::Rows;
