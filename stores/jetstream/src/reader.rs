//! Reads the stream forward, up to what this gateway has taken.

use crate::limits::PLACE_WAIT;
use crate::pull::Pull;
use crate::state::Shared;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_model::Cursor;
use weir_storage::{LogFault, LogReader, Record};

pub(crate) struct Reader {
    shared: Arc<Shared>,
    pull: Arc<Pull>,
    /// The last record given.
    position: u64,
    /// What came last: given, or beyond the head as yet.
    current: (u64, Vec<u8>),
}

impl Reader {
    pub(crate) fn new(shared: Arc<Shared>, from: u64) -> Self {
        let pull = shared.pull(&shared.names.stream, None, from);
        Self {
            shared,
            pull,
            position: from,
            current: (from, Vec::new()),
        }
    }

    /// Whether what came last is not given yet.
    fn is_ahead(&self) -> bool {
        self.current.0 > self.position
    }
}

impl LogReader for Reader {
    fn next(&mut self) -> Result<Option<(Cursor, Record<'_>)>, LogFault> {
        let head = self.shared.head();
        if self.position >= head {
            return Ok(None);
        }
        if !self.is_ahead() {
            self.current = self.pull.next(PLACE_WAIT).ok_or_else(|| {
                let problem = self.shared.nats.round().err();
                LogFault::Unavailable(problem.unwrap_or_else(|| "no record came".into()))
            })?;
        }
        let sequence = self.current.0;
        if sequence > head {
            return Ok(None);
        }
        self.position = sequence;
        let record = Record::read(&self.current.1)
            .map_err(|error| LogFault::Damaged(format!("record {sequence}: {error}")))?;
        Ok(Some((self.shared.cursor(sequence), record)))
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_ahead() || self.position >= self.shared.head() {
            Poll::Ready(())
        } else {
            self.pull.poll(cx)
        }
    }
}
