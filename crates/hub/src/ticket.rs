//! A promise that what was taken will be kept.

use crate::fault::Fault;
use crate::state::stood::Stood;
use crate::trace::Traced;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_model::Cursor;
use weir_storage::Log;
use weir_storage::Receipt;

/// Where a record lies in the log.
pub(crate) enum InLog {
    Known(Cursor),
    Awaited(Arc<Receipt>),
}

/// A promise that a record will be where a crash cannot reach it.
pub struct Ticket {
    pub(crate) place: InLog,
    pub(crate) log: Arc<dyn Log>,
    /// Nobody was promised anything: it is committed with others, at the next tick.
    pub(crate) unpromised: bool,
    pub(crate) stood: Option<Stood>,
    pub(crate) trace: Traced,
    /// Those of other records that belong to it.
    pub(crate) others: Vec<Ticket>,
}

/// Whoever does not wait leaves nothing uncommitted behind.
impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.unpromised {
            self.log.commit();
        }
        self.trace.ended(None);
    }
}

impl Ticket {
    /// The record's place in the log; in a shared one, the head's until it is known.
    pub fn cursor(&self) -> Cursor {
        match &self.place {
            InLog::Known(cursor) => *cursor,
            InLog::Awaited(receipt) => receipt.place().unwrap_or_else(|| self.log.head()),
        }
    }

    /// How the (first) datastream that this is about stood just before it.
    pub fn stood(&self) -> Option<Stood> {
        self.stood
    }

    /// This one, ready no sooner than one that was given before it. In a log of this gateway's own a later
    /// record is not kept without the earlier; in a shared one each submission stands alone.
    #[must_use]
    pub fn with(mut self, mut before: Self) -> Self {
        if matches!(self.place, InLog::Awaited(_)) {
            self.others.append(&mut before.others);
            self.others.push(before);
        }
        self
    }

    /// Ready once it may be acknowledged.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<Cursor, Fault>> {
        for other in &self.others {
            ready!(other.poll(cx))?;
        }
        let cursor = match &self.place {
            InLog::Known(cursor) => *cursor,
            InLog::Awaited(receipt) => ready!(receipt.poll(cx))?,
        };
        let committed = self.log.poll_committed(cursor, cx);
        if committed.is_ready() {
            self.trace.committed();
        }
        committed.map(|done| done.map(|()| cursor).map_err(Fault::Log))
    }
}
