//! The codec in a browser: every format of `FORMATS`, as WebAssembly with plain functions.
//!
//! What it deliberately does not do: no JavaScript glue generated, no objects handed over, no
//! allocation per observation. The decision worth arguing: a message becomes *columns* in the
//! module's memory, and the page looks at them as typed arrays ([`View`] says where they lie);
//! names are interned across messages, so that a page makes a string of each only once. A document in EXI
//! becomes a tape, from which the page builds its tree.
//!
//! The order of calls is [`input`], bytes written there, [`decode`], [`view`]. What a view shows is
//! good until the next call.
#![allow(
    unsafe_code,
    reason = "names of exported functions must be kept as they are; there is no unsafe block"
)]

mod bulk;
mod codec;
mod columns;
mod document;
mod formats;
mod names;
mod view;

pub use codec::Codec;
pub use columns::{Columns, Kind};
pub use document::{Step, Tape};
pub use names::Names;
pub use view::View;

use std::cell::RefCell;

thread_local! {
    static CODEC: RefCell<Codec> = RefCell::default();
}

fn with<T>(work: impl FnOnce(&mut Codec) -> T) -> T {
    CODEC.with_borrow_mut(work)
}

/// Makes room for `length` bytes of a message and says where they go.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with(|codec| codec.input(length).as_mut_ptr())
}

/// Makes room for `length` bytes of the topic that stands in where a message names none.
#[unsafe(no_mangle)]
pub extern "C" fn topic(length: usize) -> *mut u8 {
    with(|codec| codec.topic(length).as_mut_ptr())
}

/// Reads the message in the input, which is of the format with this index in [`formats`].
///
/// 0: its observations lie in the columns; 1: it is refused, and the reply says why and where.
#[unsafe(no_mangle)]
pub extern "C" fn decode(format: usize) -> u32 {
    with(|codec| u32::from(!codec.decode(format)))
}

/// Writes the message read last in the format with this index, as the reply. 1: no such format.
#[unsafe(no_mangle)]
pub extern "C" fn encode(format: usize) -> u32 {
    with(|codec| u32::from(!codec.encode(format)))
}

/// Reads the input as a document in EXI without a schema, of the alignment with this number in `ALIGNMENTS`
/// of document.ts where its header does not say another.
///
/// 0: it lies in the tape; 1: it is refused, and the reply says why and where.
#[unsafe(no_mangle)]
pub extern "C" fn document(alignment: usize) -> u32 {
    with(|codec| u32::from(!codec.read_document(alignment)))
}

/// Tells the formats as a JSON array, as the reply: name, media type, text or not, whether it keeps
/// a message on one line, whether it carries topics.
#[unsafe(no_mangle)]
pub extern "C" fn formats() {
    with(Codec::formats);
}

/// Says where everything lies.
#[unsafe(no_mangle)]
pub extern "C" fn view() -> *const View {
    with(|codec| std::ptr::from_ref(codec.view()))
}
