//! A server's session and the packets that go in and come out.
#![allow(
    dead_code,
    unused_imports,
    reason = "each test file takes what it needs"
)]
#![allow(clippy::unwrap_used, reason = "tests")]

use weir_mqtt::session::{
    Acceptance, Closed, ConnectRequest, Delivery, Message, Sent, Server, ServerEvent, ServerLimits,
    State, Token,
};
use weir_mqtt::wire::{
    Connect, Fault, Filters, Framed, LastWill, Packet, Properties, Property, PropertyList, Publish,
    QoS, ReasonCode, Subscribe, SubscriptionOptions, Unsubscribe, Version, frame,
};
use weir_sansio::{Duration, Instant, Output, Session};

pub(crate) use weir_mqtt::wire::Version::{V5, V31, V311};

/// Reads one packet.
pub(crate) fn decode(version: Version, bytes: &[u8]) -> Result<Packet<'_>, Fault> {
    match frame(bytes, usize::MAX)? {
        Framed::Whole(header) => Packet::decode(version, &header, bytes),
        Framed::Incomplete(_) => Err(Fault::malformed(bytes.len(), "not whole")),
    }
}

/// Reads all packets of what was sent.
pub(crate) fn packets(version: Version, bytes: Vec<u8>) -> Vec<Packet<'static>> {
    let mut rest: &'static [u8] = bytes.leak();
    let mut found = Vec::new();
    while let Framed::Whole(header) = frame(rest, usize::MAX).unwrap() {
        found.push(Packet::decode(version, &header, rest).unwrap());
        rest = &rest[header.end..];
    }
    assert!(rest.is_empty(), "half a packet was sent");
    found
}

pub(crate) fn encode(version: Version, packet: Packet<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    packet.encode(version, &mut out);
    out
}

pub(crate) fn list(properties: &[Property<'_>]) -> PropertyList {
    let mut list = PropertyList::default();
    properties.iter().for_each(|property| list.push(*property));
    list
}

pub(crate) fn connect(version: Version) -> Connect<'static> {
    Connect {
        version,
        bridge: false,
        clean_start: true,
        keep_alive: 60,
        properties: Properties::NONE,
        client_id: "c",
        will: None,
        user_name: None,
        password: None,
    }
}

pub(crate) fn will(topic: &'static str) -> LastWill<'static> {
    LastWill {
        qos: QoS::AtLeastOnce,
        retain: false,
        properties: Properties::NONE,
        topic,
        payload: b"gone",
    }
}

pub(crate) fn publish(qos: QoS, packet_id: u16) -> Publish<'static> {
    Publish {
        qos,
        topic: "a/b",
        packet_id,
        payload: b"21.5",
        ..Publish::default()
    }
}

/// The server's half of a conversation with what it said and told.
pub(crate) struct House {
    pub(crate) server: Server,
    pub(crate) version: Version,
    pub(crate) now: Instant,
    pub(crate) events: Vec<ServerEvent>,
    out: Vec<u8>,
}

impl House {
    pub(crate) fn new(version: Version) -> Self {
        Self::with(version, ServerLimits::default())
    }

    pub(crate) fn with(version: Version, limits: ServerLimits) -> Self {
        let now = Instant::START;
        Self {
            server: Server::new(now, limits),
            version,
            now,
            events: Vec::new(),
            out: Vec::new(),
        }
    }

    /// A client that is accepted, CONNACK already read.
    pub(crate) fn open(version: Version) -> Self {
        Self::open_with(connect(version), State::default(), false)
    }

    pub(crate) fn open_with(connect: Connect<'_>, state: State, present: bool) -> Self {
        let mut house = Self::new(connect.version);
        house.give(Packet::Connect(connect));
        let session = present.then_some(state);
        house.accept(&Acceptance {
            session,
            ..Acceptance::default()
        });
        let said = house.said();
        assert!(matches!(said[0], Packet::Connack(_)), "{said:?}");
        house.out = said[1..]
            .iter()
            .flat_map(|packet| encode(house.version, *packet))
            .collect();
        house.events.clear();
        house
    }

    pub(crate) fn accept(&mut self, acceptance: &Acceptance<'_>) {
        self.server.accept(self.now, acceptance);
        self.feed(&[]);
    }

    pub(crate) fn give(&mut self, packet: Packet<'_>) {
        self.feed(&encode(self.version, packet));
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.server.handle_input(self.now, bytes).unwrap();
        self.pump();
    }

    pub(crate) fn pump(&mut self) {
        loop {
            match self.server.poll_output() {
                Output::Transmit(bytes) => self.out.extend(bytes),
                Output::Event(event) => self.events.push(event),
                Output::Timeout(_) => return,
            }
        }
    }

    pub(crate) fn wait(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
        self.server.handle_timeout(self.now);
        self.pump();
    }

    /// What was sent since the last call.
    pub(crate) fn said(&mut self) -> Vec<Packet<'static>> {
        self.pump();
        packets(self.version, std::mem::take(&mut self.out))
    }

    pub(crate) fn told(&mut self) -> Vec<ServerEvent> {
        self.pump();
        std::mem::take(&mut self.events)
    }

    /// The messages that came.
    pub(crate) fn messages(&mut self) -> Vec<Message> {
        let events = self.told().into_iter();
        let message = |event| match event {
            ServerEvent::Publish(message) => Some(*message),
            _ => None,
        };
        events.filter_map(message).collect()
    }

    pub(crate) fn request(&mut self) -> ConnectRequest {
        match self.told().remove(0) {
            ServerEvent::Connect(request) => *request,
            other => panic!("no CONNECT but {other:?}"),
        }
    }

    pub(crate) fn closed(&mut self) -> Closed {
        let events = self.told();
        match events.last() {
            Some(ServerEvent::Closed(closed)) => *closed,
            other => panic!("not closed but {other:?}"),
        }
    }

    /// The code of the DISCONNECT that was the last thing said.
    pub(crate) fn farewell(&mut self) -> ReasonCode {
        match self.said().last() {
            Some(Packet::Disconnect(disconnect)) => disconnect.code,
            other => panic!("no DISCONNECT but {other:?}"),
        }
    }

    pub(crate) fn acknowledge(&mut self, id: u16) {
        self.server.acknowledge(id, ReasonCode::SUCCESS, None);
        self.pump();
    }

    pub(crate) fn deliver(&mut self, topic: &str, qos: QoS, cursor: u64) -> Sent {
        let mut properties = PropertyList::default();
        self.deliver_with(topic, qos, cursor, &mut properties, b"x")
    }

    pub(crate) fn deliver_with(
        &mut self,
        topic: &str,
        qos: QoS,
        cursor: u64,
        properties: &mut PropertyList,
        payload: &[u8],
    ) -> Sent {
        let delivery = Delivery {
            topic,
            qos,
            retain: false,
            properties,
            payload_bytes: payload.len(),
            token: token(cursor),
        };
        let mut head = Vec::new();
        let sent = self.server.deliver(delivery, &mut head);
        if sent == Sent::Head {
            self.out.extend(head);
            self.out.extend_from_slice(payload);
        }
        sent
    }
}

pub(crate) fn token(cursor: u64) -> Token {
    Token {
        cursor,
        ..Token::default()
    }
}

/// Bytes of a SUBSCRIBE.
pub(crate) fn subscribe(
    version: Version,
    id: u16,
    filters: &[(&str, SubscriptionOptions)],
) -> Vec<u8> {
    let bytes = Filters::write(filters);
    let packet = Packet::Subscribe(Subscribe {
        packet_id: id,
        properties: Properties::NONE,
        filters: Filters::of_bytes(&bytes, true).unwrap(),
    });
    encode(version, packet)
}

/// Bytes of an UNSUBSCRIBE.
pub(crate) fn unsubscribe(version: Version, id: u16, filters: &[&str]) -> Vec<u8> {
    let bytes = Filters::write_names(filters);
    let packet = Packet::Unsubscribe(Unsubscribe {
        packet_id: id,
        properties: Properties::NONE,
        filters: Filters::of_bytes(&bytes, false).unwrap(),
    });
    encode(version, packet)
}
