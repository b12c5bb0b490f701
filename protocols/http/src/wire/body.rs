//! Chunked bodies (RFC 9112 section 7.1), read in pieces.

use super::head::Refusal;
use crate::limits::{CHUNK_LINE_BYTES_MAX, TRAILER_BYTES_MAX};
use alloc::format;
use alloc::vec::Vec;

/// Reads chunks; every line must end with CR LF, since what ends otherwise two readers may end
/// differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunked {
    state: State,
    /// Bytes of the line or trailer section so far.
    line: usize,
    /// Of all chunks so far, bytes.
    total: usize,
    bytes_max: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Digits of a size, the number so far and whether there was one.
    Size(usize, bool),
    /// What stands between a size and the end of its line.
    Extension(usize),
    /// LF after a size.
    SizeEnd(usize),
    /// So many bytes of data.
    Data(usize),
    /// CR after data.
    DataCr,
    /// LF after data.
    DataLf,
    /// A trailer line's beginning.
    Trailer,
    /// Inside a trailer line.
    TrailerLine,
    /// LF of a trailer line.
    TrailerLf,
    /// LF of the last line.
    EndLf,
    /// After all.
    Done,
}

impl Chunked {
    /// A reader of a body of at most so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            state: State::Size(0, false),
            line: 0,
            total: 0,
            bytes_max,
        }
    }

    /// Says whether the body is whole.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes what belongs to the body from `input`, appending data to `out`.
    pub fn read(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        while self.state != State::Done {
            if let State::Data(left) = self.state {
                let taken = left.min(input.len());
                out.extend_from_slice(&input[..taken]);
                *input = &input[taken..];
                self.state = match left - taken {
                    0 => State::DataCr,
                    left => State::Data(left),
                };
                if left > taken {
                    return Ok(());
                }
            }
            let Some((byte, rest)) = input.split_first() else {
                return Ok(());
            };
            *input = rest;
            self.state = self.next(*byte)?;
        }
        Ok(())
    }

    fn next(&mut self, byte: u8) -> Result<State, Refusal> {
        self.count()?;
        match (self.state, byte) {
            (State::Size(size, _), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0) as usize;
                self.size(size, digit)
            }
            (State::Size(size, true), b'\r') | (State::Extension(size), b'\r') => {
                Ok(State::SizeEnd(size))
            }
            (State::Size(size, true), b';' | b' ' | b'\t') => Ok(State::Extension(size)),
            (State::Extension(size), 0x20.. | b'\t') => Ok(State::Extension(size)),
            (State::SizeEnd(0), b'\n') => Ok(self.begin(State::Trailer)),
            (State::SizeEnd(size), b'\n') => {
                self.total += size;
                Ok(self.begin(State::Data(size)))
            }
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(self.begin(State::Size(0, false))),
            (State::Trailer, b'\r') => Ok(State::EndLf),
            (State::Trailer | State::TrailerLine, 0x20.. | b'\t') => Ok(State::TrailerLine),
            (State::TrailerLine, b'\r') => Ok(State::TrailerLf),
            (State::TrailerLf, b'\n') => Ok(State::Trailer),
            (State::EndLf, b'\n') => Ok(State::Done),
            (state, byte) => Err(fault(state, byte, self.total)),
        }
    }

    fn begin(&mut self, state: State) -> State {
        self.line = 0;
        state
    }

    fn size(&self, size: usize, digit: usize) -> Result<State, Refusal> {
        let size = size
            .checked_mul(16)
            .and_then(|size| size.checked_add(digit));
        match size.filter(|size| self.total.saturating_add(*size) <= self.bytes_max) {
            Some(size) => Ok(State::Size(size, true)),
            None => Err(too_large(self.bytes_max)),
        }
    }

    fn count(&mut self) -> Result<(), Refusal> {
        self.line += 1;
        let trailing = matches!(
            self.state,
            State::Trailer | State::TrailerLine | State::TrailerLf | State::EndLf
        );
        match self.line
            > if trailing {
                TRAILER_BYTES_MAX
            } else {
                CHUNK_LINE_BYTES_MAX
            } {
            false => Ok(()),
            true if trailing => Err(Refusal::new(
                431,
                format!("trailers are longer than {TRAILER_BYTES_MAX} bytes"),
            )),
            true => Err(Refusal::new(
                400,
                format!("a chunk's line is longer than {CHUNK_LINE_BYTES_MAX} bytes"),
            )),
        }
    }
}

/// The answer to a body that is too large.
pub fn too_large(bytes_max: usize) -> Refusal {
    let reason = format!("the body is larger than {bytes_max} bytes");
    Refusal::new(413, reason)
}

fn fault(state: State, byte: u8, total: usize) -> Refusal {
    let expected = match state {
        State::Size(..) => "a chunk's size in hexadecimal",
        State::DataCr | State::DataLf => "CR LF after a chunk's data",
        State::Extension(_) | State::SizeEnd(_) => "CR LF after a chunk's size",
        _ => "a trailer field or CR LF",
    };
    let reason = format!("after byte {total} of the body: expected {expected}, found 0x{byte:02x}");
    Refusal::new(400, reason)
}
