//! Who writes and reads in a domain: as two participants.
//!
//! A writer waits for every reader that it is matched with, and the stack sends nothing to its own participant by
//! loopback: a writer beside a reader of the same topic and participant would, there, wait for ever once its
//! window of [`crate::limits::WINDOW_SAMPLES`] is full. Readers of another participant are reached.

use super::participant::{Arrivals, Participant, Writer};
use super::place::Place;
use super::quality::Quality;
use std::io;
use std::net::SocketAddr;

/// A participant that reads and one that writes.
pub(super) struct Pair {
    pub(super) reading: Participant,
    pub(super) writing: Participant,
}

impl Pair {
    /// Joins the domain with both.
    pub(super) fn open(place: &Place) -> io::Result<Self> {
        Ok(Self {
            reading: Participant::open(place)?,
            writing: Participant::open(place)?,
        })
    }

    /// Where others can announce themselves to who reads.
    pub(super) fn address(&self) -> SocketAddr {
        self.reading.address()
    }

    /// A writer that offers this.
    pub(super) fn writer(&self, offered: &Quality) -> io::Result<Writer> {
        self.writing.writer(offered)
    }

    /// A reader that requests this, and leaves out what the pair itself writes; to be made where a runtime is.
    pub(super) fn reader(&self, requested: &Quality) -> io::Result<Arrivals> {
        self.reading.reader(requested, Some(self.writing.guid()))
    }
}
