//! Records of a stream in order: an ephemeral pull consumer, made anew behind the last record whenever
//! anything is not as it should be.
//!
//! What it deliberately does not do: acknowledge. The stream is a log, and who reads it knows where it is.

use crate::connection::Connection;
use crate::limits::{
    PULL_BYTES, PULL_EXPIRES, PULL_HEARTBEAT, PULL_RECORDS, PULL_SILENCE, READER_INACTIVE,
};
use crate::wire::Message;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// A stream, or those of its records that a filter matches.
pub(crate) struct Pull {
    nats: Arc<Connection>,
    stream: String,
    filter: Option<String>,
    inbox: (u64, String),
    state: Mutex<State>,
    told: Condvar,
}

struct State {
    stage: Stage,
    /// Counts consumers made; what comes for an earlier one is not taken.
    turn: u64,
    consumer: String,
    /// Sequence in the stream of the last record that came.
    last: u64,
    /// The same in the consumer.
    delivered: u64,
    /// How many records are left behind the last one that came, where it is known.
    left: Option<u64>,
    buffer: VecDeque<(u64, Vec<u8>)>,
    heard: Instant,
    wakers: Vec<Waker>,
    /// Nothing more will come.
    has_ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// There is no consumer.
    Begin,
    /// It is being made.
    Making,
    /// It waits to be asked.
    Idle,
    /// So many records were asked for and have not come.
    Asked(u64),
}

impl Pull {
    /// Records after a sequence.
    pub(crate) fn new(
        nats: &Arc<Connection>,
        stream: &str,
        filter: Option<String>,
        after: u64,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own: &Weak<Self>| {
            let own = own.clone();
            let handler = Arc::new(move |message| {
                if let Some(own) = own.upgrade() {
                    own.take(message);
                }
            });
            Self {
                nats: nats.clone(),
                stream: stream.into(),
                filter,
                inbox: nats.inbox(handler),
                told: Condvar::new(),
                state: Mutex::new(State {
                    stage: Stage::Begin,
                    turn: 0,
                    consumer: String::new(),
                    last: after,
                    delivered: 0,
                    left: None,
                    buffer: VecDeque::new(),
                    heard: Instant::now(),
                    wakers: Vec::new(),
                    has_ended: false,
                }),
            }
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next record, once it is there; waits for so long at most, and no longer than until the end.
    pub(crate) fn next(&self, within: Duration) -> Option<(u64, Vec<u8>)> {
        self.next_before(within, |state| state.has_ended)
    }

    /// The same of what is kept already: does not wait for what is yet to be published.
    pub(crate) fn next_kept(&self, within: Duration) -> Option<(u64, Vec<u8>)> {
        self.next_before(within, |state| state.has_ended || state.left == Some(0))
    }

    fn next_before(
        &self,
        within: Duration,
        is_over: impl Fn(&State) -> bool,
    ) -> Option<(u64, Vec<u8>)> {
        let until = Instant::now() + within;
        let mut state = self.state();
        loop {
            if let Some(record) = state.buffer.pop_front() {
                return Some(record);
            }
            self.go_on(&mut state);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || is_over(&state) {
                return None;
            }
            let waited = self.told.wait_timeout(state, left.min(PULL_SILENCE));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ready once there is a record; asks for some.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.buffer.is_empty() {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|known| known.will_wake(cx.waker())) {
            state.wakers.push(cx.waker().clone());
        }
        self.go_on(&mut state);
        Poll::Pending
    }

    /// Whoever waits is told that nothing more will come.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.told.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Says whether nothing is left behind what came.
    pub(crate) fn is_at_the_end(&self) -> bool {
        let state = self.state();
        state.buffer.is_empty() && state.left == Some(0)
    }

    /// Begins anew where nothing was heard for too long, or the connection is a new one.
    pub(crate) fn tick(&self, is_new: bool) {
        let mut state = self.state();
        let waits = matches!(state.stage, Stage::Making | Stage::Asked(_));
        if waits && (is_new || state.heard.elapsed() >= PULL_SILENCE) {
            self.told.notify_all();
            state.stage = Stage::Begin;
        }
        let wanted = !state.wakers.is_empty();
        if wanted && state.stage == Stage::Begin {
            self.go_on(&mut state);
        }
    }

    /// Asks for what is next, where nothing is asked for.
    fn go_on(&self, state: &mut State) {
        if matches!(state.stage, Stage::Asked(_) | Stage::Making)
            && state.heard.elapsed() >= PULL_SILENCE
        {
            state.stage = Stage::Begin;
        }
        match state.stage {
            Stage::Begin => self.make(state),
            Stage::Idle => self.ask(state),
            Stage::Making | Stage::Asked(_) => {}
        }
    }

    /// `CONSUMER.CREATE`, behind the last record that came.
    fn make(&self, state: &mut State) {
        state.turn += 1;
        state.consumer.clear();
        state.delivered = 0;
        state.left = None;
        state.stage = Stage::Making;
        state.heard = Instant::now();
        let mut consumer = json!({
            "stream_name": self.stream,
            "config": {
                "deliver_policy": "by_start_sequence", "opt_start_seq": state.last + 1,
                "ack_policy": "none", "replay_policy": "instant",
                "mem_storage": true, "num_replicas": 1,
                "inactive_threshold": READER_INACTIVE.as_nanos() as u64,
            },
        });
        if let Some(filter) = &self.filter {
            consumer["config"]["filter_subject"] = json!(filter);
        }
        let reply = format!("{}.{}.made", self.inbox.1, state.turn);
        let subject = format!("$JS.API.CONSUMER.CREATE.{}", self.stream);
        self.nats
            .send((&subject, &reply), &[], consumer.to_string().as_bytes());
    }

    /// `CONSUMER.MSG.NEXT`.
    fn ask(&self, state: &mut State) {
        state.stage = Stage::Asked(PULL_RECORDS);
        state.heard = Instant::now();
        let subject = format!(
            "$JS.API.CONSUMER.MSG.NEXT.{}.{}",
            self.stream, state.consumer
        );
        let reply = format!("{}.{}.next", self.inbox.1, state.turn);
        let request = json!({
            "batch": PULL_RECORDS,
            "max_bytes": PULL_BYTES.max(self.nats.payload_max() as u64 + 8192),
            "expires": PULL_EXPIRES.as_nanos() as u64,
            "idle_heartbeat": PULL_HEARTBEAT.as_nanos() as u64,
        });
        self.nats
            .send((&subject, &reply), &[], request.to_string().as_bytes());
    }

    fn take(&self, message: Message) {
        let mut state = self.state();
        let mut parts = message.subject.rsplit('.');
        let (what, turn) = match consumer_of(&message.reply) {
            Some(consumer) if consumer == state.consumer => (Some("next"), Some(state.turn)),
            Some(_) => return,
            None => (
                parts.next(),
                parts.next().and_then(|turn| turn.parse().ok()),
            ),
        };
        if turn != Some(state.turn) {
            return;
        }
        state.heard = Instant::now();
        match (what, message.status) {
            (Some("made"), 0) => self.made(&mut state, &message.payload),
            // Idle heartbeat.
            (_, 100) => return,
            // The request ran out, or its bytes did.
            (Some("next"), 408 | 409) => state.stage = Stage::Idle,
            (Some("next"), 0) => state.record(&message),
            // The consumer is gone.
            (Some("next"), 503) => state.stage = Stage::Begin,
            // Nobody answers: the tick tries again after a while.
            _ => return,
        }
        if !state.wakers.is_empty() || state.buffer.is_empty() {
            self.go_on(&mut state);
        }
        let wakers = if state.buffer.is_empty() {
            Vec::new()
        } else {
            std::mem::take(&mut state.wakers)
        };
        drop(state);
        self.told.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    fn made(&self, state: &mut State, answer: &[u8]) {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        if let Some(name) = answer["name"].as_str() {
            state.consumer = name.into();
            state.left = answer["num_pending"].as_u64();
            state.stage = Stage::Idle;
        }
    }
}

/// Name of the consumer that a record was delivered by, of what it says to be answered at.
fn consumer_of(reply: &str) -> Option<&str> {
    let parts = reply.strip_prefix("$JS.ACK.")?.split('.');
    let with_a_domain = parts.clone().count() >= 9;
    parts.clone().nth(if with_a_domain { 3 } else { 1 })
}

impl State {
    /// `$JS.ACK.STREAM.CONSUMER.DELIVERED.STREAM_SEQUENCE.CONSUMER_SEQUENCE.TIME.PENDING`, or, with a
    /// domain, the same behind two more parts.
    fn record(&mut self, message: &Message) {
        let parts: Vec<&str> = message.reply.split('.').collect();
        let first = if parts.len() >= 11 { 7 } else { 5 };
        let number = |at: usize| parts.get(at).and_then(|part| part.parse::<u64>().ok());
        let (Some(sequence), Some(delivered), Some(left)) =
            (number(first), number(first + 1), number(first + 3))
        else {
            return;
        };
        if delivered != self.delivered + 1 || sequence <= self.last {
            // Something was lost on the way: what follows is asked for again.
            self.stage = Stage::Begin;
            self.turn += 1;
            return;
        }
        (self.last, self.delivered, self.left) = (sequence, delivered, Some(left));
        self.stage = match self.stage {
            Stage::Asked(more) if more > 1 => Stage::Asked(more - 1),
            _ => Stage::Idle,
        };
        self.buffer.push_back((sequence, message.payload.clone()));
    }
}

impl Drop for Pull {
    fn drop(&mut self) {
        self.nats.close_inbox(self.inbox.0);
        let state = self.state();
        if !state.consumer.is_empty() {
            let subject = format!("$JS.API.CONSUMER.DELETE.{}.{}", self.stream, state.consumer);
            let nowhere = format!("{}.gone", self.inbox.1);
            self.nats.send((&subject, &nowhere), &[], b"");
        }
    }
}
