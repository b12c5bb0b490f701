//! What goes out: messages of every other protocol, a sample an observation.
//!
//! A message's cursor is in its last sample, so that who resumes by it elsewhere has all of the message; a
//! gap is in the first sample behind it.

use super::ASK_AGAIN;
use super::adapter::Leaving;
use super::participant::Writer;
use super::settings::Settings;
use super::told::Told;
use crate::wire;
use rustdds::dds::WriteError;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use weir_binding::{Gateway, gap_json};
use weir_hub::{Ending, Fault, Item, Next, Principal, Shape, Since, Subscribe, Subscription};
use weir_model::{Cursor, Observation};

/// The way out.
pub(super) struct Outward {
    pub(super) context: Arc<dyn Gateway>,
    pub(super) principal: Principal,
    /// Through what the domain's own samples came.
    pub(super) origin: Arc<str>,
    pub(super) told: Rc<RefCell<Told>>,
}

/// Why nothing goes out for now.
#[derive(Debug)]
enum Held {
    /// The principal may read nothing of what is wanted.
    Denied(String),
    /// What may pass.
    Fault(String),
}

impl From<Fault> for Held {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Denied { .. } => Held::Denied(fault.to_string()),
            _ => Held::Fault(fault.to_string()),
        }
    }
}

impl Outward {
    /// Runs until the hub stops, or takes the rights away. What fails goes on where it was, and holds up
    /// nothing that comes in; for who may read nothing is asked no more, since these rights stay what they are.
    pub(super) async fn run(&self, settings: &Settings, writer: Writer) -> Ending {
        // Who comes late to a domain finds the last values, whether weir or the device was up first.
        let mut since = if settings.offered.is_kept {
            Since::Snapshot
        } else {
            // Not `Now`, which would be later where the first attempt fails.
            Since::Cursor(self.context.hub().positions().0)
        };
        let mut said = None;
        loop {
            let reason = match self.pass(settings, &writer, &mut since).await {
                Ok(ending) => return ending,
                Err(Held::Denied(reason)) => {
                    tracing::warn!(%reason, "nothing goes to the DDS domain");
                    std::future::pending().await
                }
                Err(Held::Fault(reason)) => reason,
            };
            if said.as_ref() != Some(&reason) {
                tracing::warn!(%reason, "nothing goes to the DDS domain; it is tried again");
                said = Some(reason);
            }
            tokio::time::sleep(ASK_AGAIN).await;
        }
    }

    /// Hands on what comes from there on, and notes how far it is.
    async fn pass(
        &self,
        settings: &Settings,
        writer: &Writer,
        since: &mut Since,
    ) -> Result<Ending, Held> {
        let mut subscription = match self.subscribe(settings, *since) {
            Err(Fault::Revoked(_)) => return Ok(Ending::Revoked),
            Err(Fault::Stopping) => return Ok(Ending::Stopping),
            subscribed => subscribed?,
        };
        let mut gap = String::new();
        loop {
            match poll_fn(|cx| subscription.poll_next(cx)).await? {
                Next::Items(items, cursor) => {
                    for item in items.iter().filter(|item| self.is_foreign(item)) {
                        let written = self.write(item, &mut gap, writer).await;
                        written.map_err(|error| Held::Fault(error.to_string()))?;
                    }
                    // Last values, but for the end of them, are at no place yet.
                    if cursor > Cursor::START {
                        *since = Since::Cursor(cursor);
                    }
                }
                Next::Gap(missing, _) => gap = gap_json(&missing),
                Next::Bytes(..) | Next::Unframed(..) => {}
                Next::Ended(ending) => return Ok(ending),
            }
        }
    }

    fn subscribe(&self, settings: &Settings, since: Since) -> Result<Box<Subscription>, Fault> {
        let subscribe = Subscribe {
            condition: settings.condition.clone(),
            since,
            but_through: Some(self.origin.clone()),
            ..Subscribe::new(settings.topics.clone(), Shape::Items)
        };
        let hub = self.context.hub();
        hub.caller(self.context.now(), &self.principal)?
            .subscribe(subscribe)
    }

    /// Samples of the domain itself are not told it once more.
    fn is_foreign(&self, item: &Item) -> bool {
        item.message.origin != self.origin
    }

    async fn write(&self, item: &Item, gap: &mut String, writer: &Writer) -> io::Result<()> {
        let part = item.selected();
        let Some(batch) = part.as_ref().or(item.message.batch()) else {
            return Ok(());
        };
        let cursor = item.message.cursor.to_string();
        let last = batch.len().saturating_sub(1);
        for (row, observation) in batch.rows().enumerate() {
            let cursor = if row == last { &*cursor } else { "" };
            put(writer, &observation, cursor, gap).await?;
            gap.clear();
        }
        self.told.borrow().tally.send(1);
        Ok(())
    }
}

/// Writes a sample; waits while readers that must not miss it are behind, which the hub's queue bears.
pub(super) async fn put(
    writer: &Writer,
    observation: &Observation<'_>,
    cursor: &str,
    gap: &str,
) -> io::Result<()> {
    let mut body = Vec::with_capacity(160);
    wire::write(observation, cursor, gap, &mut body);
    let mut leaving = Leaving {
        topic: observation.topic.into(),
        body: body.into(),
    };
    loop {
        match writer.async_write(leaving, None).await {
            Ok(()) => return Ok(()),
            Err(WriteError::WouldBlock { data }) => leaving = data,
            Err(error) => return Err(io::Error::other(format!("DDS: {error}"))),
        }
    }
}
