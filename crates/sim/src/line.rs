//! The serial line: a rate, SLIP, one packet at a time a direction, or one in all.

use crate::setting::{Duplex, Line};
use crate::{Nanos, SECOND};
use std::collections::VecDeque;
use weir_link::{Framing, Random};

/// Packets that the host's end keeps in its queue (`txqueuelen`). While it is full nobody sends, as Linux
/// holds back a socket whose packet finds no room; on a serial line nothing is lost.
const QUEUE_PACKETS: usize = 100;

/// A way over the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// To the board.
    In,
    /// To the clients.
    Out,
}

/// The line's state.
pub(crate) struct Wire {
    line: Line,
    /// What waits at the host. The board has no queue: it makes a packet when the line is free.
    queue: VecDeque<Vec<u8>>,
    is_busy: [bool; 2],
    /// Who talked last, on a line where one talks at a time.
    last: Way,
    /// Packets and bytes of IP, both ways.
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    random: Random,
}

impl Wire {
    pub(crate) fn new(line: Line, seed: u64) -> Self {
        Self {
            line,
            queue: VecDeque::new(),
            is_busy: [false; 2],
            last: Way::Out,
            packets: 0,
            bytes: 0,
            random: Random::new(seed),
        }
    }

    /// A client's packet waits for the line.
    pub(crate) fn enqueue(&mut self, packet: Vec<u8>) {
        self.queue.push_back(packet);
    }

    /// Whether a client may send.
    pub(crate) fn has_room(&self) -> bool {
        self.queue.len() < QUEUE_PACKETS
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(crate) fn next_waiting(&mut self) -> Option<Vec<u8>> {
        self.queue.pop_front()
    }

    /// Whether a packet may go this way now.
    pub(crate) fn is_free(&self, way: Way) -> bool {
        match self.line.duplex {
            Duplex::Full => !self.is_busy[way as usize],
            Duplex::Half => self.is_busy == [false; 2],
        }
    }

    /// Who is asked first: on a line where one talks at a time, who did not talk last.
    pub(crate) fn order(&self) -> [Way; 2] {
        match self.last {
            Way::In => [Way::Out, Way::In],
            Way::Out => [Way::In, Way::Out],
        }
    }

    /// A packet begins to go; how long it takes, and whether it arrives.
    pub(crate) fn begin(&mut self, way: Way, packet: &[u8]) -> (Nanos, bool) {
        self.is_busy[way as usize] = true;
        self.last = way;
        self.packets += 1;
        self.bytes += packet.len() as u64;
        let bytes = Framing::Slip.wire_bytes(packet);
        let took = bytes * SECOND / Nanos::from(self.line.rate);
        let is_lost = self.line.loss > 0.0 && self.random.chance(self.line.loss);
        (took, !is_lost)
    }

    pub(crate) fn end(&mut self, way: Way) {
        self.is_busy[way as usize] = false;
    }
}
