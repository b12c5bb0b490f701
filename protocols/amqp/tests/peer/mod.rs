//! A client in a few lines: it writes frames and reads what the server's half says.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part of it")]

use std::collections::VecDeque;
use weir_amqp::session::{Accepted, LinkId, Mechanisms, Server, ServerEvent, ServerLimits};
use weir_amqp::wire::{
    Attach, Begin, DeliveryState, Disposition, Flow, Framed, Open, Performative, Role, Sasl,
    Source, Symbol, Tag, Target, TargetKind, Transfer, frame,
};
use weir_sansio::{Duration, Instant, Output, Session};

/// A server and what it has said.
pub(crate) struct Peer {
    pub(crate) server: Server,
    now: Instant,
    out: Vec<u8>,
    events: VecDeque<ServerEvent>,
}

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) fn attach_sender(name: &str, handle: u32) -> Attach {
    let target = Target {
        address: Some("topic".into()),
        ..Target::default()
    };
    Attach {
        target: Some(TargetKind::Node(Box::new(target))),
        source: Some(Box::default()),
        ..Attach::new(name, handle, Role::Sender)
    }
}

pub(crate) fn attach_receiver(name: &str, handle: u32) -> Attach {
    let source = Source {
        address: Some("topic".into()),
        ..Source::default()
    };
    Attach {
        source: Some(Box::new(source)),
        ..Attach::new(name, handle, Role::Receiver)
    }
}

/// The frames in these bytes; empty ones left out.
pub(crate) fn frames_of(bytes: &[u8]) -> Vec<(u16, Performative)> {
    all(bytes)
        .into_iter()
        .map(|(channel, of, _)| (channel, of))
        .collect()
}

pub(crate) fn payloads_of(bytes: &[u8]) -> Vec<(Transfer, Vec<u8>)> {
    let transfers = all(bytes)
        .into_iter()
        .filter_map(|(_, of, payload)| match of {
            Performative::Transfer(transfer) => Some((transfer, payload)),
            _ => None,
        });
    transfers.collect()
}

fn all(mut bytes: &[u8]) -> Vec<(u16, Performative, Vec<u8>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let Ok(Framed::Whole(header)) = frame(bytes, usize::MAX) else {
            panic!("no frame: {bytes:?}");
        };
        if let Some((read, payload)) = Performative::read(&header, bytes).unwrap() {
            found.push((header.channel, read, payload.to_vec()));
        }
        bytes = &bytes[header.end..];
    }
    found
}

pub(crate) fn sasl(mut bytes: &[u8]) -> Vec<Sasl> {
    let mut found = Vec::new();
    while let Ok(Framed::Whole(header)) = frame(bytes, usize::MAX) {
        found.push(Sasl::read(&header, bytes).unwrap());
        bytes = &bytes[header.end..];
    }
    found
}

impl Peer {
    pub(crate) fn new() -> Self {
        let server = Server::new(
            Instant::START,
            ServerLimits::default(),
            Mechanisms::default(),
        );
        Self {
            server,
            now: Instant::START,
            out: Vec::new(),
            events: VecDeque::new(),
        }
    }

    /// One with a session on channel 0.
    pub(crate) fn opened() -> Self {
        let mut peer = Self::new();
        peer.open_all_at_once();
        peer.frames();
        peer
    }

    pub(crate) fn open_all_at_once(&mut self) {
        let mut bytes = b"AMQP\x00\x01\x00\x00".to_vec();
        let open = Open {
            container_id: "client".into(),
            max_frame_size: 1024,
            idle_time_out: Some(3000),
            ..Open::default()
        };
        Performative::Open(Box::new(open)).write(0, 0, &mut bytes);
        let begin = Begin {
            incoming_window: 1000,
            outgoing_window: 1000,
            ..Begin::default()
        };
        Performative::Begin(Box::new(begin)).write(0, 0, &mut bytes);
        self.give(&bytes);
        assert!(matches!(self.event(), Some(ServerEvent::Login(_))));
        self.server.admit(Ok(()));
        self.give(&[]);
        assert_eq!(self.event(), Some(ServerEvent::Opened));
        let header: Vec<u8> = self.out.drain(..8).collect();
        assert_eq!(header, b"AMQP\x00\x01\x00\x00");
    }

    pub(crate) fn give(&mut self, bytes: &[u8]) {
        let Ok(()) = self.server.handle_input(self.now, bytes);
        self.pull();
    }

    fn pull(&mut self) {
        loop {
            match self.server.poll_output() {
                Output::Transmit(bytes) => self.out.extend_from_slice(&bytes),
                Output::Event(event) => self.events.push_back(event),
                Output::Timeout(_) => return,
            }
        }
    }

    pub(crate) fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
        self.server.handle_timeout(self.now);
        self.pull();
    }

    pub(crate) fn said(&mut self) -> Vec<u8> {
        self.pull();
        std::mem::take(&mut self.out)
    }

    pub(crate) fn frames(&mut self) -> Vec<(u16, Performative)> {
        frames_of(&self.said())
    }

    pub(crate) fn event(&mut self) -> Option<ServerEvent> {
        self.pull();
        self.events.pop_front()
    }

    pub(crate) fn send(&mut self, channel: u16, performative: &Performative) {
        self.send_with(channel, performative, b"");
    }

    pub(crate) fn send_with(&mut self, channel: u16, performative: &Performative, payload: &[u8]) {
        let mut bytes = Vec::new();
        performative.write(channel, payload.len(), &mut bytes);
        bytes.extend_from_slice(payload);
        self.give(&bytes);
    }

    pub(crate) fn init(&mut self, mechanism: &'static str, response: &[u8]) {
        let mut bytes = Vec::new();
        let init = Sasl::Init {
            mechanism: Symbol::new(mechanism),
            initial_response: Some(response.to_vec().into()),
            hostname: None,
        };
        init.write(&mut bytes);
        self.give(&bytes);
    }

    /// Attaches a link, which is accepted.
    pub(crate) fn attach(&mut self, attach: Attach) -> LinkId {
        self.send(0, &Performative::Attach(Box::new(attach)));
        let attaches = |event: &ServerEvent| matches!(event, ServerEvent::Attach(..));
        while !self.events.front().is_none_or(attaches) {
            self.events.pop_front();
        }
        let Some(ServerEvent::Attach(id, attach)) = self.event() else {
            panic!("no attach");
        };
        let accepted = Accepted {
            source: attach.source,
            target: attach.target,
            ..Accepted::default()
        };
        self.server.accept(id, accepted);
        id
    }

    /// Sends the first transfer of a delivery on handle 0.
    pub(crate) fn transfer(&mut self, number: u32, more: bool, payload: &[u8]) {
        self.transfer_on(0, number, more, payload);
    }

    pub(crate) fn transfer_on(&mut self, handle: u32, number: u32, more: bool, payload: &[u8]) {
        let transfer = Transfer {
            handle,
            delivery_id: Some(number),
            delivery_tag: Tag::new(&[number as u8]),
            more,
            ..Transfer::default()
        };
        self.send_with(0, &Performative::Transfer(transfer), payload);
    }

    /// Sends a further transfer of the delivery on handle 0.
    pub(crate) fn more(&mut self, more: bool, aborted: bool, payload: &[u8]) {
        self.more_on(0, more, aborted, payload);
    }

    pub(crate) fn more_on(&mut self, handle: u32, more: bool, aborted: bool, payload: &[u8]) {
        let transfer = Transfer {
            handle,
            more,
            aborted,
            ..Transfer::default()
        };
        self.send_with(0, &Performative::Transfer(transfer), payload);
    }

    /// Gives a link credit.
    pub(crate) fn flow(&mut self, id: LinkId, credit: u32, drain: bool) {
        let flow = Flow {
            next_incoming_id: Some(0),
            incoming_window: 1000,
            handle: Some(id.handle),
            delivery_count: Some(0),
            link_credit: Some(credit),
            drain,
            ..Flow::default()
        };
        self.send(id.channel, &Performative::Flow(flow));
    }

    pub(crate) fn flow_window(&mut self, id: LinkId, credit: u32, window: u32) {
        let flow = Flow {
            next_incoming_id: Some(0),
            incoming_window: window,
            handle: Some(id.handle),
            delivery_count: Some(0),
            link_credit: Some(credit),
            ..Flow::default()
        };
        self.send(id.channel, &Performative::Flow(flow));
    }

    /// Says what became of a delivery.
    pub(crate) fn dispose(&mut self, delivery: u32, settled: bool, state: Option<DeliveryState>) {
        let disposition = Disposition {
            role: Role::Receiver,
            first: delivery,
            last: None,
            settled,
            state,
            batchable: false,
        };
        self.send(0, &Performative::Disposition(disposition));
    }
}
