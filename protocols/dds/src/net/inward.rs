//! What comes in: samples of other participants, published to the hub.

use super::participant::{Arrivals, Arrived, shown};
use super::told::Told;
use crate::limits::{SAMPLE_BYTES_MAX, SHOWN_BYTES_MAX};
use crate::wire::{Encapsulation, Sample};
use bytes::Bytes;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use weir_binding::Gateway;
use weir_binding::bridge::SetAside;
use weir_codec::{FORMATS, Format};
use weir_hub::{Ending, Fault, LogFault, Media, Principal, Publish, Verb};
use weir_model::{BatchBuilder, Filter};

/// How long to wait where too much waits for the disk already; the stack keeps what comes meanwhile.
const BUSY_WAIT: Duration = Duration::from_millis(5);

/// Where samples are that go no further.
const ASIDE: &str = "$aside/dds";

/// The way in.
pub(super) struct Inward {
    pub(super) context: Arc<dyn Gateway>,
    pub(super) principal: Principal,
    /// Through what its samples come, as the log keeps it.
    pub(super) origin: Arc<str>,
    pub(super) told: Rc<RefCell<Told>>,
}

impl Inward {
    /// Runs until the stack ends.
    pub(super) async fn run(&self, mut arrivals: Arrivals) -> std::io::Result<Ending> {
        let mut builder = BatchBuilder::new();
        loop {
            let (samples, more) = match arrivals.take() {
                Ok(taken) => taken,
                Err(reason) => {
                    let unknown = rustdds::GUID::GUID_UNKNOWN;
                    self.told.borrow_mut().undecodable(&unknown, &reason, &[]);
                    // Whoever writes such samples without end does not hold up the thread's others.
                    tokio::task::yield_now().await;
                    continue;
                }
            };
            for arrived in &samples {
                self.publish(arrived, &mut builder).await;
            }
            while let Some(status) = arrivals.status() {
                self.told.borrow().of_reader(&status);
            }
            if more {
                tokio::task::yield_now().await
            } else {
                // A status comes without a sample.
                tokio::select! {
                    ready = arrivals.ready() => ready?,
                    () = tokio::time::sleep(super::LOOK_EVERY) => {}
                }
            }
        }
    }

    async fn publish(&self, arrived: &Arrived, builder: &mut BatchBuilder) {
        let publish = match message(arrived, builder) {
            Ok(publish) => publish,
            Err(reason) => {
                self.set_aside(arrived, &shown(&arrived.writer), &reason);
                let head = head(arrived);
                let mut told = self.told.borrow_mut();
                return told.undecodable(&arrived.writer, &reason, head);
            }
        };
        loop {
            let mut wanted = publish.clone();
            wanted.origin = self.origin.to_string();
            let now = self.context.now();
            let caller = self.context.hub().caller(now, &self.principal);
            match caller.and_then(|caller| caller.publish(wanted)) {
                Ok(_) => return self.told.borrow().tally.receive(1),
                Err(Fault::Log(LogFault::Busy) | Fault::Short | Fault::TooFast { .. }) => {
                    tokio::time::sleep(BUSY_WAIT).await;
                }
                Err(fault) => {
                    let reason = fault.to_string();
                    if !fault.is_of_access() {
                        self.set_aside(arrived, &publish.topic, &reason);
                    }
                    let mut told = self.told.borrow_mut();
                    return told.untaken(&arrived.writer, &reason, head(arrived));
                }
            }
        }
    }

    /// Keeps a sample that goes no further: the stack has acknowledged it already. Of a domain that may publish
    /// nothing, nothing is kept.
    fn set_aside(&self, arrived: &Arrived, name: &str, reason: &str) {
        let may_publish = Filter::parse("#").is_ok_and(|all| {
            let grants = &self.principal.grants;
            grants.may_overlap(Verb::Publish, &all)
        });
        if may_publish {
            let aside = SetAside {
                way: "in",
                name,
                reason,
                payload: Bytes::copy_from_slice(&arrived.sample.body),
            };
            // Where the log takes nothing, it is told of all the same.
            drop(aside.put(&*self.context, ASIDE));
        }
    }
}

fn head(arrived: &Arrived) -> &[u8] {
    let body = &arrived.sample.body;
    &body[..body.len().min(SHOWN_BYTES_MAX)]
}

/// A sample as a message of weir's own form, at the topic that it names.
fn message(arrived: &Arrived, builder: &mut BatchBuilder) -> Result<Publish, String> {
    let sample = &arrived.sample;
    if sample.body.len() > SAMPLE_BYTES_MAX {
        let length = sample.body.len();
        return Err(format!("{length} bytes: more than {SAMPLE_BYTES_MAX}"));
    }
    let Some(layout) = Encapsulation::of(sample.layout) else {
        let [high, low] = sample.layout;
        return Err(format!(
            "encapsulation {high:02x}{low:02x} is none of plain data"
        ));
    };
    let read = Sample::read(&sample.body, layout).map_err(|fault| fault.to_string())?;
    builder.clear();
    let pushed = builder.push(&read.observation);
    pushed.map_err(|error| error.to_string())?;
    let format: &'static Format = &FORMATS[0];
    let mut body = Vec::with_capacity(128);
    (format.encode)(builder.batch(), &mut body);
    let topic = read.observation.topic;
    Ok(Publish::new(topic, Media::Format(format), body))
}
