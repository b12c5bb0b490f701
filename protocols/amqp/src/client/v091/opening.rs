//! From the first byte to a channel that is ready: what is asked, one after the other.

use super::Client;
use crate::client::{ClientEvent, ClosedKind, names};
use crate::limits::FRAME_091_BYTES_MAX;
use crate::v091::wire::{FRAME_BYTES_MIN, Method, Request};
use alloc::format;
use weir_sansio::Duration;

/// What is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Start,
    Tune,
    Open,
    Channel,
    Exchange,
    Confirm,
    Prefetch,
    Queue,
    /// The queue is bound to the filter of this number.
    Bind(usize),
    /// The binding to the filter of this number that has ended is taken away.
    Unbind(usize),
    Consume,
    Ready,
    Over,
}

impl Phase {
    pub(super) fn is_opening(self) -> bool {
        !matches!(self, Self::Ready | Self::Over)
    }
}

impl Client {
    /// Hears a method while the channel is not ready.
    pub(super) fn opens(&mut self, method: Method) {
        match (self.phase, method) {
            (
                Phase::Start,
                Method::Start {
                    mechanisms,
                    product,
                },
            ) => {
                self.product = product;
                self.login(&mechanisms);
            }
            (Phase::Tune, Method::Secure) => {
                self.end(ClosedKind::Refused, "the broker asks for more than PLAIN");
            }
            (
                Phase::Tune,
                Method::Tune {
                    frame_max,
                    heartbeat,
                },
            ) => self.tune(frame_max, heartbeat),
            (Phase::Open, Method::Opened) => {
                Request::ChannelOpen.write(&mut self.out);
                self.phase = Phase::Channel;
            }
            (Phase::Queue, Method::Declared(name)) => {
                self.queue = name;
                self.advance();
            }
            (phase, Method::Done(class, method)) if phase.is_answered_by(class, method) => {
                self.advance();
            }
            (phase, method) => {
                let reason = format!("{method:?} answers nothing while {phase:?} is awaited");
                self.end(ClosedKind::Lost, &reason);
            }
        }
    }

    /// PLAIN (RFC 4616), which every broker has; nobody's is `guest`, as brokers know it.
    fn login(&mut self, mechanisms: &str) {
        if !mechanisms.split(' ').any(|known| known == "PLAIN") {
            let reason = format!("the broker takes no PLAIN, only {mechanisms}");
            return self.end(ClosedKind::Refused, &reason);
        }
        let (user, password) = match &self.options.login {
            Some((user, password)) => (user.as_str(), password.as_str()),
            None => ("guest", "guest"),
        };
        let response = format!("\0{user}\0{password}");
        let start = Request::StartOk {
            mechanism: "PLAIN",
            response: response.as_bytes(),
        };
        start.write(&mut self.out);
        self.phase = Phase::Tune;
    }

    fn tune(&mut self, frame_max: u32, heartbeat: u16) {
        let offered = if frame_max == 0 { u32::MAX } else { frame_max };
        self.frame_bytes_max = offered.clamp(FRAME_BYTES_MIN, FRAME_091_BYTES_MAX);
        // The smaller of both; 0 is none (tune.heartbeat).
        let heartbeat = match (heartbeat, self.options.idle_secs) {
            (0, ours) => ours,
            (theirs, 0) => theirs,
            (theirs, ours) => theirs.min(ours),
        };
        self.interval = (heartbeat > 0).then(|| Duration::from_secs(heartbeat.into()));
        let frame_max = self.frame_bytes_max;
        let tuned = Request::TuneOk {
            frame_max,
            heartbeat,
        };
        tuned.write(&mut self.out);
        let host = &self.options.host;
        Request::Open { host }.write(&mut self.out);
        self.phase = Phase::Open;
    }

    /// Asks for what comes next.
    fn advance(&mut self) {
        self.phase = self.after();
        let (options, out) = (&self.options, &mut self.out);
        match self.phase {
            Phase::Exchange => Request::DeclareExchange(&options.exchange).write(out),
            Phase::Confirm => Request::Confirm.write(out),
            Phase::Prefetch => Request::Prefetch(options.prefetch).write(out),
            Phase::Queue => {
                let name = options.queue.as_deref().unwrap_or("");
                let durable = options.queue.is_some();
                Request::DeclareQueue { name, durable }.write(out);
            }
            Phase::Bind(number) => {
                let (queue, exchange) = (&self.queue, &options.exchange);
                let key = &names::swapped(&options.filters[number]);
                Request::Bind {
                    queue,
                    exchange,
                    key,
                }
                .write(out);
            }
            Phase::Unbind(number) => {
                let (queue, exchange) = (&self.queue, &options.exchange);
                let key = &names::swapped(&options.ended[number]);
                Request::Unbind {
                    queue,
                    exchange,
                    key,
                }
                .write(out);
            }
            Phase::Consume => {
                let (queue, settled) = (&self.queue, !options.confirmed);
                Request::Consume { queue, settled }.write(out);
            }
            _ => self
                .events
                .push_back(ClientEvent::Ready(self.product.clone())),
        }
    }

    fn after(&self) -> Phase {
        let options = &self.options;
        // Names that begin so are the broker's own and are there (section 1.3, exchange.declare).
        let is_declared = options.exchange.starts_with("amq.") || options.exchange.is_empty();
        let receives = !options.filters.is_empty();
        // A queue from which nothing is wanted any more must not be filled either.
        let has_queue = receives || !options.ended.is_empty();
        match self.phase {
            Phase::Channel if !is_declared => Phase::Exchange,
            Phase::Channel | Phase::Exchange if options.publishes && options.confirmed => {
                Phase::Confirm
            }
            Phase::Channel | Phase::Exchange | Phase::Confirm if has_queue => Phase::Prefetch,
            Phase::Prefetch => Phase::Queue,
            Phase::Queue if receives => Phase::Bind(0),
            Phase::Queue => Phase::Unbind(0),
            Phase::Bind(number) if number + 1 < options.filters.len() => Phase::Bind(number + 1),
            Phase::Bind(_) if !options.ended.is_empty() => Phase::Unbind(0),
            Phase::Unbind(number) if number + 1 < options.ended.len() => Phase::Unbind(number + 1),
            Phase::Bind(_) | Phase::Unbind(_) if receives => Phase::Consume,
            _ => Phase::Ready,
        }
    }
}

impl Phase {
    fn is_answered_by(self, class: u16, method: u16) -> bool {
        let answer = match self {
            Self::Channel => (20, 11),
            Self::Exchange => (40, 11),
            Self::Confirm => (85, 11),
            Self::Prefetch => (60, 11),
            Self::Bind(_) => (50, 21),
            Self::Unbind(_) => (50, 51),
            Self::Consume => (60, 21),
            _ => return false,
        };
        (class, method) == answer
    }
}
