//! The numbers of datastreams: each is given once, and the log says which one has it.
//!
//! Where several gateways append to the log, each numbers what is new as it takes it, and submits what it
//! gave. The decision worth arguing: the number that the log says first counts, so that a gateway which
//! counted otherwise (it was started again after the last one was forgotten) gives way.

use smallvec::SmallVec;
use std::collections::HashMap;

/// Index of a datastream for as long as the gateway runs.
pub(crate) type StreamId = u32;
/// The datastreams of a message, in the order of its batch.
pub(crate) type Streams = SmallVec<[StreamId; 4]>;

#[derive(Debug, Default)]
pub(crate) struct Numbers {
    given: HashMap<u32, Given>,
    /// The greatest that a datastream has or had.
    greatest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Given {
    to: StreamId,
    /// The log says so.
    is_logged: bool,
}

/// What becomes of a number that the log says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It is the datastream's.
    Taken,
    /// It is, and the one that this gateway had given it to needs another.
    TakenFrom(StreamId),
    /// It is another one's, as the log had said before.
    Refused,
}

impl Numbers {
    /// The one that is given next.
    pub(crate) fn next(&self) -> u32 {
        self.greatest + 1
    }

    /// Gives the next one.
    pub(crate) fn give(&mut self, to: StreamId) -> u32 {
        self.greatest += 1;
        let given = Given {
            to,
            is_logged: false,
        };
        self.given.insert(self.greatest, given);
        self.greatest
    }

    /// Takes what the log says.
    pub(crate) fn say(&mut self, number: u32, of: StreamId) -> Said {
        let before = self.given.get(&number).copied();
        let other = before.filter(|before| before.to != of);
        if other.is_some_and(|other| other.is_logged) {
            return Said::Refused;
        }
        self.greatest = self.greatest.max(number);
        let given = Given {
            to: of,
            is_logged: true,
        };
        self.given.insert(number, given);
        other.map_or(Said::Taken, |other| Said::TakenFrom(other.to))
    }

    #[cfg(test)]
    /// Whether the log says it.
    pub(crate) fn is_logged(&self, number: u32) -> bool {
        self.given.get(&number).is_some_and(|given| given.is_logged)
    }

    /// Nobody has it any more.
    pub(crate) fn leave(&mut self, number: u32) {
        self.given.remove(&number);
    }
}
