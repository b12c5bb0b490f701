//! One client that asks the same again and again, each time when the answer before is whole.
//!
//! A time runs from the request to the last byte of its answer, in which a marker is counted: an answer with fewer
//! observations than there are is an error and no fast one. Nothing of an answer is kept.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use memchr::memmem::Finder;

use super::answer::Answer;
use super::job::{Event, ReadsOutcome, ReadsPlan};
use super::one_by_one::connect;
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::READ_BYTES_MAX;

const MS: u64 = 1_000_000;
/// Answers that count at the least, however long one takes.
const ANSWERS_MIN: usize = 3;

/// Reads, says [`Event::Ready`] behind the last answer, so that memory can be read, and ends when told.
pub fn run(address: SocketAddr, plan: &ReadsPlan) -> Result<ReadsOutcome, String> {
    let outcome = measure(address, plan)?;
    super::emit(&Event::Ready);
    super::await_orchestrator();
    Ok(outcome)
}

/// Asks without counting, then counts.
pub fn measure(address: SocketAddr, plan: &ReadsPlan) -> Result<ReadsOutcome, String> {
    let mut reader = Reader::open(address, plan)?;
    reader.ask()?;
    let until = now_ns() + plan.warm_up_ms * MS;
    while now_ns() < until {
        reader.ask()?;
    }
    super::emit(&Event::Begin);
    let begin = now_ns();
    let until = begin + plan.measure_ms * MS;
    let mut times_us = Vec::new();
    while times_us.len() < ANSWERS_MIN || now_ns() < until {
        times_us.push(reader.ask()?);
    }
    let seconds = (now_ns() - begin) as f64 / 1e9;
    super::emit(&Event::End);
    Ok(ReadsOutcome {
        times_us,
        seconds,
        answer_bytes: reader.body_bytes,
    })
}

/// A connection that asks.
struct Reader<'a> {
    plan: &'a ReadsPlan,
    stream: TcpStream,
    marker: Finder<'a>,
    buffer: Vec<u8>,
    /// Of the last answer.
    body_bytes: u64,
}

impl<'a> Reader<'a> {
    fn open(address: SocketAddr, plan: &'a ReadsPlan) -> Result<Self, String> {
        Ok(Self {
            plan,
            stream: connect(address)?,
            marker: Finder::new(plan.marker.as_bytes()),
            buffer: vec![0; 4 * READ_BYTES_MAX],
            body_bytes: 0,
        })
    }

    /// Asks once; microseconds until the last byte of the answer.
    fn ask(&mut self) -> Result<f64, String> {
        let begin = now_ns();
        let asked = self.stream.write_all(self.plan.request.as_bytes());
        asked.map_err(|e| format!("asking: {e}"))?;
        let (mut answer, mut count) = (Answer::default(), Count::of(&self.marker));
        self.body_bytes = 0;
        let mut is_whole = false;
        while !is_whole {
            let len = match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err(format!("closed after {} observations", count.found)),
                Ok(len) => len,
                Err(e) => return Err(format!("{} observations, then {e}", count.found)),
            };
            is_whole = answer.feed(&self.buffer[..len], |piece| {
                self.body_bytes += piece.len() as u64;
                count.feed(piece);
            })?;
        }
        let us = (now_ns() - begin) as f64 / 1e3;
        match count.found == self.plan.expected {
            true => Ok(us),
            false => Err(format!(
                "{} observations in an answer, of {}",
                count.found, self.plan.expected
            )),
        }
    }
}

/// Counts a marker in what comes in pieces.
struct Count<'a> {
    marker: &'a Finder<'a>,
    /// The end of what came, in which a marker may have begun: less than one.
    tail: Vec<u8>,
    found: u64,
}

impl<'a> Count<'a> {
    fn of(marker: &'a Finder<'a>) -> Self {
        Self {
            marker,
            tail: Vec::new(),
            found: 0,
        }
    }

    fn feed(&mut self, piece: &[u8]) {
        let keep = self.marker.needle().len().saturating_sub(1);
        // What is found here begins in the tail and ends in the piece: each is shorter than a marker.
        self.tail.extend_from_slice(&piece[..piece.len().min(keep)]);
        self.found += self.marker.find_iter(&self.tail).count() as u64;
        self.found += self.marker.find_iter(piece).count() as u64;
        if piece.len() >= keep {
            self.tail.clear();
            self.tail.extend_from_slice(&piece[piece.len() - keep..]);
        } else {
            let over = self.tail.len().saturating_sub(keep);
            self.tail.drain(..over);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_marker_counts_once_wherever_pieces_cut(
            piece in 1usize..30,
            marker in "\n2|\n2026-|x",
        ) {
            let text = "x\n2026-a\n2026-b\n20\n2026-c\n2026-".repeat(3);
            let finder = Finder::new(marker.as_bytes());
            let mut count = Count::of(&finder);
            text.as_bytes().chunks(piece).for_each(|part| count.feed(part));
            prop_assert_eq!(count.found, text.matches(&*marker).count() as u64);
        }
    }
}
