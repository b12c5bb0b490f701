//! The gateway as a publish-subscribe service behind a server: a component (XEP-0114) that answers XEP-0060
//! for its domain.
//!
//! What it deliberately does not do: keep items, owners or options of nodes. A node is a topic, an item a
//! message of the log, an affiliation what the access policy says. The decision worth arguing is in
//! `docs/decisions`: a component, so that whoever is on any XMPP server subscribes to what comes in by any
//! protocol.

mod answer;
mod desk;
mod disco;
mod event;
mod feeds;
mod fetch;
mod kept;
mod node;
mod publish;
mod ready;

use super::connect;
use super::settings::ComponentPlan;
use super::told::Told;
use crate::limits::UNSENT_BYTES_MAX;
use crate::session::{Component, Failure, SessionEvent};
use crate::xml::{Element, Skipped};
use desk::Desk;
use feeds::Position;
pub(super) use node::name_of;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::Context as Gateway;
use weir_carrier::Stream;
use weir_carrier::backoff::Backoff;
use weir_carrier::clock::{Timer, now};
use weir_carrier::outbox::{Outbox, poll_read};
use weir_sansio::{Duration, Instant, Output, Session};

/// How often the server is asked to confirm what was sent to it.
const SYNC_TIME: Duration = Duration::from_secs(5);
/// A stream that lasted so long was a good one.
const GOOD_TIME: Duration = Duration::from_secs(10);
/// Reads in one turn, so that users do not hold up their thread.
const READS_MAX: usize = 16;
/// What the identifier of a ping to oneself begins with.
const SYNC: &str = "sync-";

/// Runs until it is dropped.
pub(super) async fn run(plan: Arc<ComponentPlan>, context: Arc<dyn Gateway>) {
    let mut told = Told::new(&plan.domain, &context);
    let mut desk = Desk::new(&plan, &context);
    let mut backoff = Backoff::new(plan.retry_max);
    loop {
        let began = now();
        let why = match connect::tcp(&plan.host, plan.port).await {
            Err(error) => format!("cannot connect to {}:{}: {error}", plan.host, plan.port),
            Ok(tcp) => {
                let mut running = Running::new(&plan, &mut desk, &mut told, Stream::Tcp(tcp));
                let why = poll_fn(|cx| running.poll(cx)).await;
                drop(running);
                desk.hang_up();
                why
            }
        };
        if now().since(began) >= GOOD_TIME {
            backoff.reset();
        }
        let wait = backoff.wait();
        told.lost(&why, wait);
        tokio::time::sleep(wait).await;
    }
}

/// One stream.
struct Running<'a> {
    plan: &'a ComponentPlan,
    desk: &'a mut Desk,
    told: &'a mut Told,
    component: Component,
    stream: Stream,
    outbox: Outbox,
    timer: Timer,
    ready: bool,
    /// Positions that a ping under way will confirm, with its number.
    sync: Option<(u64, Vec<Position>)>,
    syncs: u64,
    sync_at: Instant,
}

impl<'a> Running<'a> {
    fn new(
        plan: &'a ComponentPlan,
        desk: &'a mut Desk,
        told: &'a mut Told,
        stream: Stream,
    ) -> Self {
        Self {
            component: Component::new(now(), &plan.domain, &plan.secret),
            plan,
            desk,
            told,
            stream,
            outbox: Outbox::default(),
            timer: Timer::default(),
            ready: false,
            sync: None,
            syncs: 0,
            sync_at: now() + SYNC_TIME,
        }
    }

    /// Goes on until the stream is over; says why it is.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        match self.turn(cx) {
            Ok(()) => Poll::Pending,
            Err(why) => Poll::Ready(why),
        }
    }

    fn turn(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        let mut reads = 0;
        loop {
            self.pump()?;
            for answer in self.desk.poll(cx) {
                self.component.send(&answer);
                self.told.subscriptions(self.desk.feeds.len());
            }
            let more = self.feed(cx)?;
            self.pump()?;
            self.flush(cx)?;
            if reads < READS_MAX && self.may_read() && self.read(cx)? {
                reads += 1;
                continue;
            }
            if self.timer.poll_due(cx, self.deadline()) {
                self.handle_timeout();
                continue;
            }
            if reads == READS_MAX || (more && self.outbox.waiting() < UNSENT_BYTES_MAX) {
                cx.waker().wake_by_ref();
            }
            return Ok(());
        }
    }

    fn may_read(&self) -> bool {
        !self.desk.is_full() && self.outbox.waiting() < UNSENT_BYTES_MAX
    }

    /// Writes what is due to subscribers; says whether there may be more at once.
    fn feed(&mut self, cx: &mut Context<'_>) -> Result<bool, String> {
        if !self.ready || self.outbox.waiting() >= UNSENT_BYTES_MAX {
            return Ok(false);
        }
        let waiting = self.outbox.waiting();
        let polled = self.desk.feeds.poll(cx, self.told, waiting);
        let (text, more) = polled.map_err(|fault| fault.to_string())?;
        self.component.send(&text);
        Ok(more)
    }

    /// Says whether something was read.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, String> {
        let component = &mut self.component;
        let read = poll_read(&mut self.stream, cx, |bytes| {
            let Ok(()) = component.handle_input(now(), bytes);
            !bytes.is_empty()
        });
        match read {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(true)) => Ok(true),
            Poll::Ready(Ok(false)) => Err("the XMPP server closed the connection".into()),
            Poll::Ready(Err(error)) => Err(format!("the connection is lost: {error}")),
        }
    }

    /// Does what the machine wants.
    fn pump(&mut self) -> Result<(), String> {
        loop {
            match self.component.poll_output() {
                Output::Transmit(bytes) => self.outbox.push(bytes.into()),
                Output::Timeout(_) => return Ok(()),
                Output::Event(SessionEvent::Ready { .. }) => {
                    self.ready = true;
                    self.told.connected(&self.plan.domain);
                    self.desk.feeds.resume();
                }
                Output::Event(SessionEvent::Stanza(stanza, document)) => {
                    self.take(&stanza, &document)
                }
                Output::Event(SessionEvent::Skipped(skipped)) => self.pass_over(&skipped),
                Output::Event(SessionEvent::StartTls) => {}
                Output::Event(SessionEvent::Closed(failure)) => return Err(self.said(&failure)),
            }
        }
    }

    fn said(&self, failure: &Failure) -> String {
        format!("{} as {}: {failure}", self.plan.host, self.plan.domain)
    }

    fn take(&mut self, stanza: &Element, document: &[u8]) {
        let own = stanza.attribute("from") == Some(self.plan.domain.as_str());
        let id = stanza.attribute("id").unwrap_or_default();
        if own {
            let number = id.strip_prefix(SYNC).and_then(|number| number.parse().ok());
            return self.confirm(number);
        }
        if let Some(answer) = self.desk.take(stanza, document, self.told) {
            self.component.send(&answer);
        }
        self.told.subscriptions(self.desk.feeds.len());
    }

    /// What is over a limit costs who sent it an error, and nobody else anything.
    fn pass_over(&mut self, skipped: &Skipped) {
        self.told.skipped();
        if let Some(answer) = self.desk.decline(skipped, self.told) {
            self.component.send(&answer);
        }
    }

    /// A ping to oneself came back: the server has all that went before it.
    fn confirm(&mut self, number: Option<u64>) {
        match self.sync.take() {
            Some((sent, positions)) if Some(sent) == number => self.desk.feeds.confirm(&positions),
            other => self.sync = other,
        }
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Result<(), String> {
        match self.outbox.poll_flush(&mut self.stream, cx) {
            Poll::Ready(Err(error)) => Err(format!("the connection is lost: {error}")),
            _ => Ok(()),
        }
    }

    fn deadline(&self) -> Instant {
        self.component.deadline().min(self.sync_at)
    }

    fn handle_timeout(&mut self) {
        let time = now();
        self.component.handle_timeout(time);
        if time < self.sync_at {
            return;
        }
        self.sync_at = time + SYNC_TIME;
        self.desk.feeds.remember();
        let positions = self.desk.feeds.positions();
        if self.ready && self.sync.is_none() && !positions.is_empty() {
            self.syncs += 1;
            let (number, domain) = (self.syncs, &self.plan.domain);
            let ping = Element::new(crate::names::COMPONENT, "iq")
                .with("type", "get")
                .with("id", format!("{SYNC}{number}"))
                .with("from", domain.as_str())
                .with("to", domain.as_str())
                .child(Element::new(crate::names::PING, "ping"));
            self.component.send(&answer::written(&ping));
            self.sync = Some((number, positions));
        }
    }
}
