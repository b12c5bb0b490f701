//! Records on their way: sent, perhaps several times, and without a place yet.
//!
//! A record has an identity (`Nats-Msg-Id`), by which the stream knows it again, so that sending it again
//! does not store it twice.

use crate::limits::{PENDING_BYTES_MAX, PLACE_WAIT, SEND_AGAIN};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use weir_model::Cursor;
use weir_storage::{LogFault, Receipt};

/// A record without a place.
pub(crate) struct Sent {
    pub(crate) subject: String,
    pub(crate) id: String,
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) receipt: Arc<Receipt>,
    begun: Instant,
    sent: Instant,
}

/// All of them, in the order of their submission.
#[derive(Default)]
pub(crate) struct Pending {
    sent: BTreeMap<u64, Sent>,
    bytes: usize,
}

impl Pending {
    pub(crate) fn check_room(&self) -> Result<(), LogFault> {
        if self.bytes < PENDING_BYTES_MAX {
            Ok(())
        } else {
            Err(LogFault::Busy)
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    pub(crate) fn insert(
        &mut self,
        number: u64,
        (subject, id): (String, String),
        bytes: Arc<[u8]>,
        now: Instant,
    ) -> Arc<Receipt> {
        let receipt = Arc::new(Receipt::default());
        self.bytes += bytes.len();
        let sent = Sent {
            subject,
            id,
            bytes,
            receipt: receipt.clone(),
            begun: now,
            sent: now,
        };
        self.sent.insert(number, sent);
        receipt
    }

    /// The record has its place, or will have none.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Arc<Receipt>> {
        let sent = self.sent.remove(&number)?;
        self.bytes -= sent.bytes.len();
        Some(sent.receipt)
    }

    /// Those that are to be sent again, and all of them where the connection is a new one.
    pub(crate) fn due(&mut self, now: Instant, all: bool) -> Vec<(u64, &Sent)> {
        let mut due = Vec::new();
        for (number, sent) in &mut self.sent {
            if all || now.duration_since(sent.sent) >= SEND_AGAIN {
                sent.sent = now;
                due.push((*number, &*sent));
            }
        }
        due
    }

    /// Takes out those that waited for too long.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<Arc<Receipt>> {
        let late = |sent: &Sent| now.duration_since(sent.begun) >= PLACE_WAIT;
        let numbers: Vec<u64> = (self.sent.iter())
            .take_while(|(_, sent)| late(sent))
            .map(|(number, _)| *number)
            .collect();
        numbers
            .into_iter()
            .filter_map(|number| self.remove(number))
            .collect()
    }

    /// Takes out all.
    pub(crate) fn drain(&mut self) -> Vec<Arc<Receipt>> {
        self.bytes = 0;
        let sent = std::mem::take(&mut self.sent);
        sent.into_values().map(|sent| sent.receipt).collect()
    }
}

/// Tells all of them that nothing is known of their place.
pub(crate) fn fail(receipts: Vec<Arc<Receipt>>, fault: &LogFault) {
    let place: Result<Cursor, LogFault> = Err(fault.clone());
    receipts
        .into_iter()
        .for_each(|receipt| receipt.settle(place.clone()));
}
