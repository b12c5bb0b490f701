//! Deliveries of messages that are traced.

use crate::memory::Room;
use crate::message::Item;
use crate::trace::{Fact, Trace};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The traces of messages that travel together; mostly none.
#[derive(Clone, Default)]
pub(crate) struct Traces(Option<Arc<[Arc<Trace>]>>);

impl Traces {
    /// Those of some messages.
    pub(crate) fn of(items: &[Item]) -> Self {
        let traced = |item: &Item| item.message.trace.0.clone();
        if items.iter().all(|item| item.message.trace.0.is_none()) {
            return Self(None);
        }
        Self(Some(items.iter().filter_map(traced).collect()))
    }

    /// Does what encodes them, with a span of each.
    pub(crate) fn encoding<T>(&self, format: &str, encode: impl FnOnce() -> T) -> T {
        let Some(traces) = &self.0 else {
            return encode();
        };
        let begins: Vec<_> = traces.iter().map(|trace| trace.tracer.now()).collect();
        let done = encode();
        for (trace, begin) in traces.iter().zip(begins) {
            let facts = vec![("weir.format", Fact::Text(format.into()))];
            trace.step("encode", begin, trace.tracer.now(), facts);
        }
        done
    }
}

/// Messages that a subscriber was handed and has not come back from; it is over when it is dropped.
#[derive(Default)]
pub(crate) struct Delivering {
    traces: Traces,
    /// What was handed over, counted.
    _room: Option<Room>,
}

impl Delivering {
    /// Messages that are handed to one subscriber.
    pub(crate) fn begin(traces: Traces, room: Option<Room>) -> Self {
        Self {
            traces,
            _room: room,
        }
    }
}

impl Drop for Delivering {
    fn drop(&mut self) {
        let Some(traces) = self.traces.0.take() else {
            return;
        };
        for trace in traces.iter().filter(|trace| trace.delivers()) {
            let routed = trace.routed.load(Ordering::Relaxed);
            let now = trace.tracer.now();
            let together = ("weir.messages", Fact::Number(traces.len() as u64));
            trace.step("deliver", routed, now, vec![together]);
        }
    }
}
