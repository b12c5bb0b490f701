//! What one connection holds, counted among what may be in memory: messages on their way in, and answers on their
//! way out.
//!
//! What it deliberately does not do: count what others share; that counts where it was made. Who brings a message that
//! there is no room for is refused, who leaves an answer for too long is given up: both cost their sender alone.

use crate::Gateway;
use std::fmt;
use std::time::Duration;
use weir_carrier::clock::now;
use weir_carrier::driver::Leave;
use weir_carrier::outbox::Outbox;
use weir_hub::limits::UNCOUNTED_BYTES_MAX;
use weir_hub::{Hub, Partial, Room};
use weir_sansio::Instant;
use weir_service::SHORT_BYTES_MAX;

/// How often a connection looks whether it is to be given up.
const LOOK_TIME: Duration = Duration::from_secs(2);

/// What a connection holds; one that holds little takes no memory for it.
#[derive(Debug, Default)]
pub struct Held(Option<Box<Rooms>>);

#[derive(Debug, Default)]
struct Rooms {
    arriving: Partial,
    asked: Room,
    leaving: Room,
}

/// Why a connection cannot hold what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// There is no room for a message that is not whole.
    Arriving,
    /// There is no room for what waits to be sent.
    Leaving,
    /// The peer takes nothing.
    Stalled,
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Short::Arriving => return Leave::Short.fmt(f),
            Short::Leaving => "memory is short, and the answers were not taken",
            Short::Stalled => "what was sent was not taken for too long",
        })
    }
}

impl std::error::Error for Short {}

impl From<Short> for std::io::Error {
    fn from(short: Short) -> Self {
        let kind = match short {
            Short::Stalled => std::io::ErrorKind::TimedOut,
            Short::Arriving | Short::Leaving => std::io::ErrorKind::OutOfMemory,
        };
        Self::new(kind, short)
    }
}

impl Held {
    /// Whether so many bytes are few and nothing else is held: there is nothing to count.
    #[inline]
    fn is_little(&self, bytes: usize) -> bool {
        bytes < UNCOUNTED_BYTES_MAX && self.0.is_none()
    }

    /// What counts so many bytes; none where they are few and nothing else is held.
    fn rooms(&mut self, bytes: usize) -> Option<&mut Rooms> {
        if bytes >= UNCOUNTED_BYTES_MAX {
            self.0.get_or_insert_default();
        }
        let is_empty = |rooms: &Rooms| bytes < UNCOUNTED_BYTES_MAX && rooms.are_empty();
        if self.0.as_deref().is_some_and(is_empty) {
            self.0 = None;
        }
        self.0.as_deref_mut()
    }

    /// Counts what is held of messages that are not whole.
    #[inline]
    pub fn arrives(&mut self, hub: &Hub, bytes: usize) -> Result<(), Short> {
        match self.is_little(bytes) {
            true => Ok(()),
            false => self.much_arrives(hub, bytes),
        }
    }

    fn much_arrives(&mut self, hub: &Hub, bytes: usize) -> Result<(), Short> {
        let Some(rooms) = self.rooms(bytes) else {
            return Ok(());
        };
        let fits = rooms.arriving.hold(hub.arrivals(), now, bytes);
        fits.then_some(()).ok_or(Short::Arriving)
    }

    /// Counts bodies of requests that are being answered: whoever does so has them, and once more as read.
    #[inline]
    pub fn asked(&mut self, hub: &Hub, bytes: usize) {
        if !self.is_little(2 * bytes) {
            self.much_asked(hub, bytes);
        }
    }

    fn much_asked(&mut self, hub: &Hub, bytes: usize) {
        if let Some(rooms) = self.rooms(2 * bytes) {
            rooms.asked.hold_in_steps(hub.arrivals(), 2 * bytes);
        }
    }

    /// Counts what waits to be sent and is nobody else's.
    #[inline]
    pub fn leaves(&mut self, hub: &Hub, bytes: usize) -> Result<(), Short> {
        match self.is_little(bytes) {
            true => Ok(()),
            false => self.much_leaves(hub, bytes),
        }
    }

    fn much_leaves(&mut self, hub: &Hub, bytes: usize) -> Result<(), Short> {
        let Some(rooms) = self.rooms(bytes) else {
            return Ok(());
        };
        let memory = hub.answers();
        if rooms.leaving.grow_in_steps(memory, bytes) {
            return Ok(());
        }
        // Who leaves little is not cut off for those who leave much.
        if bytes > SHORT_BYTES_MAX || !memory.has_room_elsewhere() {
            return Err(Short::Leaving);
        }
        rooms.leaving.hold_in_steps(memory, bytes);
        Ok(())
    }

    /// Counts all of it: bytes that came and are not a message yet, bytes that wait to be sent.
    #[inline]
    pub fn count(
        &mut self,
        context: &dyn Gateway,
        (arriving, leaving): (usize, usize),
        outbox: &Outbox,
    ) -> Result<(), Short> {
        match self.is_little(arriving.max(leaving)) && !outbox.is_stuck() {
            true => Ok(()),
            false => self.count_much(context, (arriving, leaving), outbox),
        }
    }

    fn count_much(
        &mut self,
        context: &dyn Gateway,
        (arriving, leaving): (usize, usize),
        outbox: &Outbox,
    ) -> Result<(), Short> {
        self.arrives(context.hub(), arriving)?;
        self.leaves(context.hub(), leaving)?;
        let stalls_at = outbox.stalls_at(Duration::ZERO);
        match stalls_at != Instant::NEVER && now() >= stalls_at + context.patience() {
            true => {
                context.hub().stalled();
                Err(Short::Stalled)
            }
            false => Ok(()),
        }
    }

    /// When it is to be counted again though nothing moved: patience may become less.
    #[inline]
    pub fn deadline(&self, outbox: &Outbox) -> Instant {
        let arrives = |rooms: &Rooms| rooms.arriving.is_held();
        match outbox.is_stuck() || self.0.as_deref().is_some_and(arrives) {
            true => now() + LOOK_TIME,
            false => Instant::NEVER,
        }
    }
}

impl Rooms {
    fn are_empty(&self) -> bool {
        !self.arriving.is_held() && self.asked.bytes() + self.leaving.bytes() == 0
    }
}
