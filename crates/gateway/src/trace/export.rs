//! The thread that posts spans to a collector (OTLP over HTTP with Protocol Buffers).

use super::otlp;
use super::settings::Settings;
use crate::fetch;
use crate::limits::{TRACE_POST_TIME_MAX, TRACE_SPANS_OF_ONE_POST_MAX, TRACE_TRIES_MAX};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use weir_hub::trace::Span;

/// For how long spans are gathered before they are posted.
const GATHERING: Duration = Duration::from_secs(1);
/// The first wait before a post is tried again; each further one is twice as long.
const RETRY: Duration = Duration::from_millis(500);

/// What the thread is told.
pub(super) enum Note {
    /// A span is over.
    Span(Box<Span>),
    /// Nothing more comes.
    End,
}

/// Why spans are not taken.
enum Refusal {
    /// It may be otherwise later.
    Now(String),
    /// It stays so.
    Ever(String),
}

/// Gathers spans and posts them.
pub(super) struct Exporter {
    settings: Settings,
    agent: ureq::Agent,
    waiting: Receiver<Note>,
    sent: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
    /// Whether the last post failed: what is wrong is told once.
    told: bool,
}

impl Exporter {
    pub(super) fn new(
        settings: Settings,
        waiting: Receiver<Note>,
        (sent, dropped): (Arc<AtomicU64>, Arc<AtomicU64>),
    ) -> Self {
        let agent = fetch::agent(&settings.roots, TRACE_POST_TIME_MAX);
        Self {
            settings,
            agent,
            waiting,
            sent,
            dropped,
            told: false,
        }
    }

    /// Posts until nothing more comes.
    pub(super) fn run(mut self) {
        loop {
            let (spans, ends) = self.gather();
            if !spans.is_empty() {
                self.send(&spans, ends);
            }
            if ends {
                return;
            }
        }
    }

    /// The spans of one post, and whether they are the last.
    fn gather(&self) -> (Vec<Span>, bool) {
        let mut spans = Vec::new();
        match self.waiting.recv() {
            Ok(Note::Span(span)) => spans.push(*span),
            Ok(Note::End) | Err(_) => return (spans, true),
        }
        let until = Instant::now() + GATHERING;
        while spans.len() < TRACE_SPANS_OF_ONE_POST_MAX {
            let left = until.saturating_duration_since(Instant::now());
            match self.waiting.recv_timeout(left) {
                Ok(Note::Span(span)) => spans.push(*span),
                Err(RecvTimeoutError::Timeout) => break,
                Ok(Note::End) | Err(RecvTimeoutError::Disconnected) => return (spans, true),
            }
        }
        (spans, false)
    }

    /// Posts, again where that may help, but not at the end, which waits for nobody.
    fn send(&mut self, spans: &[Span], ends: bool) {
        let body = otlp::request(&self.settings.service, spans);
        let tries = if ends { 1 } else { TRACE_TRIES_MAX };
        let mut wait = RETRY;
        for remaining in (0..tries).rev() {
            match self.post(&body) {
                Ok(()) => {
                    self.told = false;
                    self.sent.fetch_add(spans.len() as u64, Ordering::Relaxed);
                    return;
                }
                Err(Refusal::Now(_)) if remaining > 0 => {
                    std::thread::sleep(wait);
                    wait *= 2;
                }
                Err(Refusal::Now(problem) | Refusal::Ever(problem)) => {
                    return self.dropped(spans, &problem);
                }
            }
        }
    }

    fn dropped(&mut self, spans: &[Span], problem: &str) {
        let count = spans.len() as u64;
        self.dropped.fetch_add(count, Ordering::Relaxed);
        if !std::mem::replace(&mut self.told, true) {
            let url = &self.settings.url;
            tracing::warn!(%url, problem, "spans are dropped, until a collector takes them");
        }
    }

    fn post(&self, body: &[u8]) -> Result<(), Refusal> {
        let mut post = self
            .agent
            .post(&self.settings.url)
            .header("content-type", "application/x-protobuf");
        if let Some(authorization) = &self.settings.authorization {
            post = post.header("authorization", authorization);
        }
        let answer = post
            .send(body)
            .map_err(|error| Refusal::Now(error.to_string()))?;
        // OTLP section 4.2.2: which answers may be otherwise later.
        match answer.status().as_u16() {
            200..=299 => Ok(()),
            status @ (429 | 502..=504) => Err(Refusal::Now(format!("status {status}"))),
            status => Err(Refusal::Ever(format!("status {status}"))),
        }
    }
}
