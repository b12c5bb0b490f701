//! What goes out: messages of every other protocol, a sample an observation.
//!
//! A message's cursor is in its last sample, so that who resumes by it elsewhere has all of the message; a
//! gap is in the first sample behind it.

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
use weir_binding::{Context as Gateway, gap_json};
use weir_hub::{
    ClientId, Ending, Exchange, Item, Next, Principal, Request, Shape, Since, Subscribe,
    Subscription,
};
use weir_model::Observation;

/// The way out.
pub(super) struct Outward {
    pub(super) context: Arc<dyn Gateway>,
    pub(super) principal: Principal,
    pub(super) client: ClientId,
    pub(super) told: Rc<RefCell<Told>>,
}

impl Outward {
    /// Runs until the hub stops, or takes the rights away.
    pub(super) async fn run(&self, settings: &Settings, writer: Writer) -> io::Result<Ending> {
        let mut subscription = self.subscribe(settings)?;
        let mut gap = String::new();
        loop {
            let next = poll_fn(|cx| subscription.poll_next(cx)).await;
            match next.map_err(|fault| io::Error::other(fault.to_string()))? {
                Next::Items(items, _) => {
                    for item in items.iter().filter(|item| self.is_foreign(item)) {
                        self.write(item, &mut gap, &writer).await?;
                    }
                }
                Next::Gap(missing, _) => gap = gap_json(&missing),
                Next::Bytes(..) | Next::Unframed(..) => {}
                Next::Ended(ending) => return Ok(ending),
            }
        }
    }

    fn subscribe(&self, settings: &Settings) -> io::Result<Box<Subscription>> {
        let subscribe = Subscribe {
            condition: settings.condition.clone(),
            // Who comes late to a domain finds the last values, whether weir or the device was up first.
            since: match settings.offered.is_kept {
                true => Since::Snapshot,
                false => Since::Now,
            },
            ..Subscribe::new(settings.topics.clone(), Shape::Items)
        };
        let request = Request::Subscribe(subscribe);
        let hub = self.context.hub();
        match hub.open(self.context.now(), &self.principal, request) {
            Ok(Exchange::Subscription(subscription)) => Ok(subscription),
            Ok(_) => Err(io::ErrorKind::Unsupported.into()),
            Err(fault) => Err(io::Error::other(fault.to_string())),
        }
    }

    /// Samples of the domain itself are not told it once more.
    fn is_foreign(&self, item: &Item) -> bool {
        item.message.client != Some(self.client)
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
