//! What a subscription missed, read from the log.

use crate::fault::Fault;
use crate::limits::CHUNK_BYTES_MAX;
use crate::message::Item;
use crate::selection;
use crate::subscription::{Next, RECORDS_PER_POLL, Stage, Subscription};
use crate::turns::{Place, Turn, Turns};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_model::Cursor;
use weir_storage::{Gap, GapReason, LogFault, LogReader};

/// Where a replay stands.
pub(crate) struct Replay {
    reader: Box<dyn LogReader>,
    /// Where it waits for its turn.
    place: Place,
    /// The last record read.
    last: Cursor,
    /// Something behind it cannot be read.
    damaged: bool,
    /// A message read already that comes after a gap.
    ahead: Vec<Item>,
}

pub(crate) enum Replayed {
    Next(Next),
    /// Up to this cursor; what follows is in memory.
    CaughtUp(Cursor),
    Later,
}

impl Replay {
    /// Reads what follows `from`.
    pub(crate) fn new(reader: Box<dyn LogReader>, from: Cursor) -> Self {
        Self {
            reader,
            place: Place::default(),
            last: from,
            damaged: false,
            ahead: Vec::new(),
        }
    }

    /// Ready once it is its turn, and reading on does not wait.
    pub(crate) fn poll_ready(&mut self, turns: &Arc<Turns>, cx: &mut Context<'_>) -> Poll<Turn> {
        // Whoever waits for bytes keeps no turn from others.
        ready!(self.reader.poll_ready(cx));
        turns.poll(&mut self.place, cx)
    }

    /// No record is left, although there was one at `head` as reading began: then the last are lost.
    fn at_the_end(&mut self, head: Cursor) -> Stopped {
        let lost = head.sequence().saturating_sub(self.last.sequence());
        if lost == 0 {
            return Stopped::Head;
        }
        (self.last, self.damaged) = (head, false);
        Stopped::Gap(missing(true, lost))
    }
}

/// So many records that the log holds no more.
fn missing(damaged: bool, count: u64) -> Gap {
    let reason = match damaged {
        true => GapReason::Damage,
        false => GapReason::Retention,
    };
    Gap {
        reason,
        count: Some(count),
    }
}

/// Why reading stopped.
enum Stopped {
    /// A chunk is full, or enough records were looked at.
    Enough,
    /// The head, for now.
    Head,
    /// Records are missing before what was read last.
    Gap(Gap),
}

impl Subscription {
    /// Reads on in the log, up to its head.
    pub(crate) fn replay(&mut self, mut replay: Box<Replay>) -> Result<Replayed, Fault> {
        let mut items = std::mem::take(&mut replay.ahead);
        let stopped = self.read_records(&mut replay, &mut items)?;
        if matches!(stopped, Stopped::Head) && items.is_empty() {
            return Ok(Replayed::CaughtUp(replay.last));
        }
        self.stage = match stopped {
            Stopped::Gap(gap) => Stage::Gap(gap, Box::new(Stage::Replay(replay))),
            _ => Stage::Replay(replay),
        };
        Ok(self
            .hand_over(items)
            .map_or(Replayed::Later, Replayed::Next))
    }

    /// Reads some records and keeps what is due.
    fn read_records(
        &mut self,
        replay: &mut Replay,
        items: &mut Vec<Item>,
    ) -> Result<Stopped, Fault> {
        let mut bytes = 0;
        let head = self.hub.log.head();
        for _ in 0..RECORDS_PER_POLL {
            let (cursor, record) = match replay.reader.next() {
                Ok(Some(read)) => read,
                Ok(None) => return Ok(replay.at_the_end(head)),
                Err(LogFault::Damaged(_)) => {
                    replay.damaged = true;
                    continue;
                }
                Err(fault) => return Err(fault.into()),
            };
            let jumped = cursor.sequence().saturating_sub(replay.last.sequence() + 1);
            replay.last = cursor;
            let damaged = std::mem::take(&mut replay.damaged);
            let message = self.hub.message_of(cursor, &record);
            let message = message.map_or(Ok(None), |it| self.hub.remaining(it))?;
            let into = if jumped > 0 {
                &mut replay.ahead
            } else {
                &mut *items
            };
            if let Some(message) = message {
                bytes += message.body.len();
                into.extend(selection::project(&Arc::new(message), &self.group));
            }
            if jumped > 0 {
                return Ok(Stopped::Gap(missing(damaged, jumped)));
            }
            if bytes >= CHUNK_BYTES_MAX {
                break;
            }
        }
        Ok(Stopped::Enough)
    }
}
