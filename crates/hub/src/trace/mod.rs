//! Spans of a message's way, for whoever wants to see where its time goes.
//!
//! What it deliberately does not do: no clock, no sampling, no sending; those are the [`Tracer`]'s. The
//! decision worth arguing: a message carries its own trace, so that what is not traced costs a look at
//! an empty pointer at each step and nothing is looked up anywhere.

pub(crate) mod delivering;
pub(crate) mod parent;

pub use parent::{Incoming, Parent};

use crate::attributes::Attributes;
use crate::limits::TRACED_DELIVERIES_MAX;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use weir_model::Time;

/// Where spans go. Nothing of it may wait.
pub trait Tracer: Send + Sync {
    /// The time, Unix nanoseconds.
    fn now(&self) -> u64;

    /// The trace that is begun below a parent or without one; `None` where it is not kept.
    fn begin(&self, parent: Option<&Parent>) -> Option<[u8; 16]>;

    /// A name for a span that no other has.
    fn span_id(&self) -> [u8; 8];

    /// Takes a span that is over.
    fn take(&self, span: Span);
}

/// What a span is to those before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// A step within the gateway.
    Internal,
    /// Somebody asked for it.
    Server,
    /// It goes to somebody else.
    Producer,
}

/// A step on a message's way.
#[derive(Clone, Debug)]
pub struct Span {
    /// The trace that it is of.
    pub trace: [u8; 16],
    /// Its own name.
    pub id: [u8; 8],
    /// The span that it is a part of.
    pub parent: Option<[u8; 8]>,
    /// What is done.
    pub name: &'static str,
    /// What it is to those before and after it.
    pub kind: SpanKind,
    /// When it began, Unix nanoseconds.
    pub begin: u64,
    /// When it was over.
    pub end: u64,
    /// What else is known of it.
    pub facts: Vec<(&'static str, Fact)>,
    /// Why it failed.
    pub fault: Option<String>,
}

/// What is known of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// In words.
    Text(Arc<str>),
    /// A number.
    Number(u64),
}

/// The trace of one message.
pub(crate) struct Trace {
    tracer: Arc<dyn Tracer>,
    trace: [u8; 16],
    root: [u8; 8],
    parent: Option<[u8; 8]>,
    began: u64,
    topic: Arc<str>,
    bytes: u64,
    /// When it was appended, while its commit is awaited; else zero.
    appended: AtomicU64,
    /// When it was handed on to the queues.
    routed: AtomicU64,
    /// Deliveries that have spans.
    deliveries: AtomicU32,
    ended: AtomicBool,
}

/// A message's trace, if it has one.
#[derive(Clone, Default)]
pub(crate) struct Traced(Option<Arc<Trace>>);

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "traced" } else { "-" })
    }
}

impl Traced {
    /// Begins the trace of what is published, with the span of how it came.
    pub(crate) fn begin(
        tracer: Option<&Arc<dyn Tracer>>,
        now: Time,
        incoming: Incoming,
        (attributes, topic, bytes): (&Attributes, &str, usize),
    ) -> Self {
        let Some(tracer) = tracer else {
            return Self(None);
        };
        let began = incoming.began.unwrap_or(now);
        let traced = Self::of(tracer, attributes, incoming.parent, topic, bytes);
        traced.from(began)
    }

    /// Goes on with the trace of a message that another gateway may have put into the log: where the
    /// message itself names it.
    pub(crate) fn go_on(
        tracer: Option<&Arc<dyn Tracer>>,
        attributes: &Attributes,
        (topic, bytes): (&str, usize),
    ) -> Self {
        let Some((tracer, parent)) =
            tracer.and_then(|tracer| Some((tracer, Parent::named(attributes)?)))
        else {
            return Self(None);
        };
        let mut traced = Self::of(tracer, attributes, Some(parent), topic, bytes);
        // Nobody waits for it here: what happens to it is a part of the publisher's own span.
        if let Some(trace) = traced.0.as_mut().and_then(Arc::get_mut) {
            trace.root = parent.span;
            trace.ended = AtomicBool::new(true);
        }
        traced
    }

    fn of(
        tracer: &Arc<dyn Tracer>,
        attributes: &Attributes,
        parent: Option<Parent>,
        topic: &str,
        bytes: usize,
    ) -> Self {
        let parent = parent.or_else(|| Parent::named(attributes));
        let Some(trace) = tracer.begin(parent.as_ref()) else {
            return Self(None);
        };
        Self(Some(Arc::new(Trace {
            tracer: tracer.clone(),
            trace,
            root: tracer.span_id(),
            parent: parent.map(|parent| parent.span),
            began: tracer.now(),
            topic: topic.into(),
            bytes: bytes as u64,
            appended: AtomicU64::new(0),
            routed: AtomicU64::new(0),
            deliveries: AtomicU32::new(0),
            ended: AtomicBool::new(false),
        })))
    }

    /// The same as begun when its first bytes were there.
    fn from(mut self, began: Time) -> Self {
        if let Some(trace) = self.0.as_mut().and_then(Arc::get_mut) {
            let arrived = trace.began;
            trace.began = u64::try_from(began.nanos()).unwrap_or(0).min(arrived);
            trace.step("receive", trace.began, arrived, Vec::new());
        }
        self
    }

    /// The time, where there is a trace.
    pub(crate) fn now(&self) -> u64 {
        self.0.as_ref().map_or(0, |trace| trace.tracer.now())
    }

    /// A step that began at this time is over.
    pub(crate) fn stepped(&self, name: &'static str, begin: u64) {
        if let Some(trace) = &self.0 {
            trace.step(name, begin, trace.tracer.now(), Vec::new());
        }
    }

    /// It is in the log: its commit is awaited.
    pub(crate) fn appended(&self, begin: u64) {
        if let Some(trace) = &self.0 {
            let now = trace.tracer.now();
            trace.step("append", begin, now, Vec::new());
            trace.appended.store(now, Ordering::Relaxed);
        }
    }

    /// It is handed on from now.
    pub(crate) fn routing(&self) -> u64 {
        let now = self.now();
        if let Some(trace) = &self.0 {
            trace.routed.store(now, Ordering::Relaxed);
        }
        now
    }

    /// It may be acknowledged.
    pub(crate) fn committed(&self) {
        if let Some(trace) = &self.0 {
            let appended = trace.appended.swap(0, Ordering::Relaxed);
            if appended > 0 {
                trace.step("commit", appended, trace.tracer.now(), Vec::new());
            }
            trace.end(None);
        }
    }

    /// All that its publisher waits for is over.
    pub(crate) fn ended(&self, fault: Option<&dyn fmt::Display>) {
        if let Some(trace) = &self.0 {
            trace.end(fault.map(ToString::to_string));
        }
    }
}

impl Trace {
    fn step(
        &self,
        name: &'static str,
        begin: u64,
        end: u64,
        facts: Vec<(&'static str, Fact)>,
    ) -> [u8; 8] {
        let id = self.tracer.span_id();
        self.tracer.take(Span {
            trace: self.trace,
            id,
            parent: Some(self.root),
            name,
            kind: match name {
                "deliver" => SpanKind::Producer,
                _ => SpanKind::Internal,
            },
            begin,
            end: end.max(begin),
            facts,
            fault: None,
        });
        id
    }

    /// The span of all that its publisher waits for, once.
    fn end(&self, fault: Option<String>) {
        if self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        self.tracer.take(Span {
            trace: self.trace,
            id: self.root,
            parent: self.parent,
            name: "publish",
            kind: SpanKind::Server,
            begin: self.began,
            end: self.tracer.now().max(self.began),
            facts: vec![
                ("messaging.system", Fact::Text("weir".into())),
                ("messaging.destination.name", Fact::Text(self.topic.clone())),
                ("messaging.message.body.size", Fact::Number(self.bytes)),
            ],
            fault,
        });
    }

    /// Says whether one more delivery has a span: a message to ten thousand has not ten thousand.
    fn delivers(&self) -> bool {
        self.deliveries.fetch_add(1, Ordering::Relaxed) < TRACED_DELIVERIES_MAX
    }
}
