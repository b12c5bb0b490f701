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
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_carrier::Stream;
use weir_carrier::backoff::Backoff;
use weir_carrier::clock::{Timer, now};
use weir_carrier::driver::{Driven, Driver, Due, Heard, Leave};
use weir_carrier::outbox::Outbox;
use weir_sansio::{Duration, Instant};

/// How often the server is asked to confirm what was sent to it.
const SYNC_TIME: Duration = Duration::from_secs(5);
/// A stream that lasted so long was a good one.
const GOOD_TIME: Duration = Duration::from_secs(10);
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
                let running = Running::new(&plan, &mut desk, &mut told);
                let mut driver = Driver::new(Stream::Tcp(tcp), running);
                let why = poll_fn(|cx| driver.poll(cx)).await;
                drop(driver);
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
    /// Nobody: it is dropped when the gateway stops.
    host: (),
    ready: bool,
    /// Whether something is under way that was not asked for yet.
    is_fresh: bool,
    /// Positions that a ping under way will confirm, with its number.
    sync: Option<(u64, Vec<Position>)>,
    syncs: u64,
    sync_at: Instant,
}

impl<'a> Running<'a> {
    fn new(plan: &'a ComponentPlan, desk: &'a mut Desk, told: &'a mut Told) -> Self {
        Self {
            component: Component::new(now(), &plan.domain, &plan.secret),
            plan,
            desk,
            told,
            host: (),
            ready: false,
            is_fresh: false,
            sync: None,
            syncs: 0,
            sync_at: now() + SYNC_TIME,
        }
    }

    /// Writes what is due to subscribers; says whether there may be more at once.
    fn feed(&mut self, waiting: usize, cx: &mut Context<'_>) -> Result<bool, String> {
        if !self.ready || waiting >= UNSENT_BYTES_MAX {
            return Ok(false);
        }
        let polled = self.desk.feeds.poll(cx, self.told, waiting);
        let (text, more) = polled.map_err(|fault| fault.to_string())?;
        self.component.send(&text);
        Ok(more)
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
        match self.desk.take(stanza, document, self.told) {
            Some(answer) => self.component.send(&answer),
            None => self.is_fresh = true,
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

    /// Asks the server to say that it has what was sent: by a ping to oneself.
    fn ask_for_sync(&mut self, positions: Vec<Position>) {
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

impl Driven for Running<'_> {
    type Machine = Component;
    type Host = ();
    type End = String;

    const UNSENT_BYTES_MAX: usize = UNSENT_BYTES_MAX;

    fn machine(&mut self) -> &mut Component {
        &mut self.component
    }

    fn host(&mut self) -> &mut () {
        &mut self.host
    }

    fn poll_begin(
        &mut self,
        _: &Outbox,
        _: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), String>> {
        for answer in self.desk.poll(cx) {
            self.component.send(&answer);
            self.told.subscriptions(self.desk.feeds.len());
        }
        Poll::Ready(Ok(()))
    }

    fn take_leave(&mut self, why: Leave) -> Result<(), String> {
        Err(why.to_string())
    }

    fn on_event(&mut self, event: SessionEvent) -> Result<Heard, String> {
        match event {
            SessionEvent::Ready { .. } => {
                self.ready = true;
                self.told.connected(&self.plan.domain);
                self.desk.feeds.resume();
            }
            SessionEvent::Stanza(stanza, document) => self.take(&stanza, &document),
            SessionEvent::Skipped(skipped) => self.pass_over(&skipped),
            SessionEvent::StartTls => {}
            SessionEvent::Closed(failure) => return Err(self.said(&failure)),
        }
        Ok(Heard::Done)
    }

    fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.is_fresh)
    }

    fn may_read(&self, waiting: usize) -> bool {
        waiting < UNSENT_BYTES_MAX && !self.desk.is_full()
    }

    fn lost(&mut self, error: io::Error) -> String {
        format!("the connection is lost: {error}")
    }

    fn broken(&mut self, error: Infallible) -> String {
        match error {}
    }

    fn ended(&mut self, _: &mut Outbox) -> Result<(), String> {
        Err("the XMPP server closed the connection".into())
    }

    fn deliver(&mut self, outbox: &mut Outbox, cx: &mut Context<'_>) -> Result<Due, String> {
        let more = self.feed(outbox.waiting(), cx)?;
        Ok(Due { sent: false, more })
    }

    fn deadline(&self) -> Instant {
        self.sync_at
    }

    fn on_time(&mut self, now: Instant) -> Result<(), String> {
        if now < self.sync_at {
            return Ok(());
        }
        self.sync_at = now + SYNC_TIME;
        self.desk.feeds.remember();
        let positions = self.desk.feeds.positions();
        if self.ready && self.sync.is_none() && !positions.is_empty() {
            self.ask_for_sync(positions);
        }
        Ok(())
    }
}
