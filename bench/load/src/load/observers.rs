//! Observers by CoAP (RFC 7641), each at an address of its own; held while the orchestrator reads memory, then
//! told of one change, which counts those that are there.
//!
//! One socket stands for all: 127.0.0.0/8 has sixteen million addresses, a datagram may leave from any of them,
//! and each that comes says which it was sent to. How late notifications are counts from the request that changes the
//! resource, as all leave one after the other.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::time::timeout;
use weir_carrier::{Batch, Datagrams, Leaving};
use weir_coap::wire::{Code, Kind, Message, Number, Token, parse_datagram, write_datagram};

use super::job::{Event, ObserversOutcome, ObserversPlan};
use super::observer::{JSON, check, request};
use crate::datagrams::challenge;
use weir_bench_model::clock::now_ns;
use weir_bench_model::latency::Latency;

/// The first observer's address; the others follow it.
const FIRST: u32 = u32::from_be_bytes([127, 1, 0, 0]);
/// Requests under way at once: as many as the buffer of a socket holds for certain.
const WINDOW: usize = 64;
/// How long an answer is waited for before it is asked again, and what comes when nothing more is to come.
const QUIET: Duration = Duration::from_millis(500);
/// How often a request is sent.
const TRIES: u16 = 8;

/// Registers all, settles, says [`Event::Ready`], and when told has them notified once.
pub(super) fn run(address: SocketAddr, plan: &ObserversPlan) -> Result<ObserversOutcome, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("a runtime: {e}"))?;
    runtime.block_on(observe(address, plan))
}

async fn observe(server: SocketAddr, plan: &ObserversPlan) -> Result<ObserversOutcome, String> {
    let mut crowd = Crowd::open(server, &plan.path).map_err(|e| format!("a socket: {e}"))?;
    let start = now_ns();
    let numbers: Vec<u32> = (0..plan.observers).collect();
    for window in numbers.chunks(WINDOW) {
        crowd.register(window).await?;
    }
    let seconds = (now_ns() - start) as f64 / 1e9;
    tokio::time::sleep(Duration::from_millis(plan.settle_ms)).await;
    super::emit(&Event::Ready);
    super::await_orchestrator();
    super::emit(&Event::Begin);
    let told = crowd.notify(plan.observers).await?;
    super::emit(&Event::End);
    Ok(ObserversOutcome {
        observers: plan.observers,
        seconds,
        notified: told.notification.count() as u32,
        notification: told.notification,
        notify_seconds: told.seconds,
    })
}

/// What one change gave.
struct Told {
    /// Of each observer that it reached, once.
    notification: Latency,
    /// Until the last.
    seconds: f64,
}

/// All observers of one resource.
struct Crowd {
    socket: Datagrams,
    server: SocketAddr,
    path: String,
    arrived: Batch,
    leaving: VecDeque<Leaving>,
}

impl Crowd {
    fn open(server: SocketAddr, path: &str) -> io::Result<Self> {
        let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let socket = Datagrams::new(Datagrams::bind(any, false)?)?;
        socket.tell_destinations()?;
        Ok(Self {
            socket,
            server,
            path: path.into(),
            arrived: Batch::default(),
            leaving: VecDeque::new(),
        })
    }

    /// Has these observe; who gets no answer asks again.
    async fn register(&mut self, window: &[u32]) -> Result<(), String> {
        let mut waiting: Vec<u32> = window.to_vec();
        for attempt in 0..TRIES {
            for &observer in &waiting {
                self.ask(observer, attempt, None);
            }
            while !waiting.is_empty() && self.receive().await? {
                for (observer, message) in self.messages() {
                    self.answered(observer, attempt, &message, &mut waiting)?;
                }
            }
            if waiting.is_empty() {
                return Ok(());
            }
        }
        Err(format!("{} observers got no answer", waiting.len()))
    }

    fn answered(
        &mut self,
        observer: u32,
        attempt: u16,
        answer: &Message,
        waiting: &mut Vec<u32>,
    ) -> Result<(), String> {
        if let Some(echo) = challenge(answer) {
            self.ask(observer, attempt + TRIES, Some(&echo));
            return Ok(());
        }
        check(answer)?;
        if answer.options.uint(Number::OBSERVE).is_none() {
            return Err("the resource is not observed: the server has enough observers".into());
        }
        waiting.retain(|other| *other != observer);
        Ok(())
    }

    fn ask(&mut self, observer: u32, id: u16, echo: Option<&[u8]>) {
        let mut message = request(Code::GET, &self.path);
        message.token = Token::new(&observer.to_be_bytes()).unwrap_or_default();
        message.options.push_uint(Number::OBSERVE, 0);
        if let Some(echo) = echo {
            message.options.push(Number::ECHO, echo);
        }
        self.send(address_of(observer), Kind::NonConfirmable, id, &message);
    }

    /// Changes the resource and counts whom that reaches, until it is all of them or nothing more comes.
    async fn notify(&mut self, observers: u32) -> Result<Told, String> {
        let mut is_told = vec![false; observers as usize];
        let mut message = request(Code::POST, &self.path);
        message.options.push_uint(Number::CONTENT_FORMAT, JSON);
        let message = message.with_payload(&br#"{"value":21.5}"#[..]);
        let (begin, mut last) = (now_ns(), 0);
        let mut notification = Latency::new();
        self.send(
            Ipv4Addr::LOCALHOST.into(),
            Kind::Confirmable,
            2 * TRIES,
            &message,
        );
        while notification.count() < u64::from(observers) && self.receive().await? {
            let after = now_ns() - begin;
            for (observer, message) in self.messages() {
                check(&message)?;
                let told = is_told.get_mut(observer as usize);
                if told.is_some_and(|told| !std::mem::replace(told, true)) {
                    notification.record(after);
                    last = after;
                }
            }
        }
        Ok(Told {
            notification,
            seconds: last as f64 / 1e9,
        })
    }

    fn send(&mut self, from: IpAddr, kind: Kind, id: u16, message: &Message) {
        let mut bytes = Vec::new();
        write_datagram(kind, id, message, &mut bytes);
        self.leaving.push_back(Leaving {
            bytes: bytes.into(),
            to: self.server,
            from: Some(from),
        });
    }

    /// Sends what is to leave, and says whether anything came before it was quiet.
    async fn receive(&mut self) -> Result<bool, String> {
        let socket = &self.socket;
        while !self.leaving.is_empty() {
            let sent = poll_fn(|cx| socket.poll_send_batch(cx, &mut self.leaving)).await;
            sent.map_err(|e| format!("sending: {e}"))?;
        }
        let came = poll_fn(|cx| socket.poll_receive_batch(cx, &mut self.arrived));
        match timeout(QUIET, came).await {
            Ok(came) => came.map(|()| true).map_err(|e| format!("receiving: {e}")),
            Err(_) => Ok(false),
        }
    }

    /// What came for observers, each by its number.
    fn messages(&self) -> Vec<(u32, Message)> {
        let all = (0..self.arrived.len()).filter_map(|index| self.arrived.get(index));
        let of_observers = all.filter_map(|(arrived, bytes)| {
            let message = parse_datagram(bytes).ok()?.to_message();
            Some((number_of(arrived.to?)?, message))
        });
        of_observers.collect()
    }
}

fn address_of(observer: u32) -> IpAddr {
    Ipv4Addr::from(FIRST + observer).into()
}

fn number_of(address: IpAddr) -> Option<u32> {
    match address {
        IpAddr::V4(address) => u32::from(address).checked_sub(FIRST),
        IpAddr::V6(_) => None,
    }
}
