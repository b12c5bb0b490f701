//! Two machines and a link that loses datagrams: nothing is done twice, all that is asked is answered.
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::time::Duration;
use weir_coap::limits::Limits;
use weir_coap::session::{Endpoint, Event, Outgoing, Parameters};
use weir_coap::wire::{Code, Message, Number};
use weir_sansio::{Instant, Output, Session};
use weir_testkit::{BadLink, Pair};

/// A server that keeps what is put and gives it back.
struct Server {
    endpoint: Endpoint<()>,
    kept: bytes::Bytes,
    puts: usize,
    sent: VecDeque<Outgoing<()>>,
}

impl Session for Server {
    type Transmit = Outgoing<()>;
    type Event = ();
    type Error = std::convert::Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Self::Error> {
        self.endpoint.handle_input(now, bytes)?;
        self.serve(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.endpoint.timeout(now);
    }

    fn poll_output(&mut self) -> Output<Outgoing<()>, ()> {
        if let Some(datagram) = self.sent.pop_front() {
            return Output::Transmit(datagram);
        }
        match self.endpoint.poll() {
            Output::Transmit(datagram) => Output::Transmit(datagram),
            Output::Event(_) => Output::Event(()),
            Output::Timeout(at) => Output::Timeout(at),
        }
    }
}

impl Server {
    fn new() -> Self {
        Self {
            endpoint: Endpoint::new(Parameters::default(), Limits::default(), 3),
            kept: bytes::Bytes::new(),
            puts: 0,
            sent: VecDeque::new(),
        }
    }

    fn serve(&mut self, now: Instant) {
        loop {
            match self.endpoint.poll() {
                Output::Transmit(datagram) => self.sent.push_back(datagram),
                Output::Event(Event::Request(incoming)) => {
                    let response = match incoming.message.code {
                        Code::PUT => {
                            self.puts += 1;
                            self.kept = incoming.message.payload;
                            Message::new(Code::CHANGED)
                        }
                        _ => Message::new(Code::CONTENT).with_payload(self.kept.clone()),
                    };
                    self.endpoint
                        .respond(now, incoming.exchange, response, false);
                }
                Output::Event(_) => {}
                Output::Timeout(_) => return,
            }
        }
    }
}

/// [RFC7252-5.2.1-1] [RFC7252-4.5-1] [RFC7252-4.2-6]
#[test]
fn bodies_in_blocks_arrive_whole_over_a_lossy_link() {
    for seed in 1..30 {
        let mut client = Endpoint::new(Parameters::default(), Limits::default(), seed);
        let body: Vec<u8> = (0..5000u32).map(|byte| (byte * 7) as u8).collect();
        let mut put = Message::new(Code::PUT).with_payload(body.clone());
        put.options.push(Number::URI_PATH, b"a");
        client.request(Instant::START, (), put, true);
        let mut pair = Pair::new(client, Server::new(), &BadLink::lossy(5, seed));
        pair.run(Instant::START + Duration::from_secs(600));
        let Some(Event::Response(_, (), response)) = pair.a.events.first() else {
            // Five losses in a row of one block are rare, and then that is said.
            assert!(matches!(pair.a.events[..], [Event::Failed(..)]));
            continue;
        };
        assert_eq!(response.code, Code::CHANGED);
        assert_eq!(
            (pair.b.machine.puts, &pair.b.machine.kept[..]),
            (1, &body[..])
        );
        let mut get = Message::new(Code::GET);
        get.options.push(Number::URI_PATH, b"a");
        let now = pair.now();
        pair.a.machine.request(now, (), get, true);
        pair.run(now + Duration::from_secs(600));
        match pair.a.events.last() {
            Some(Event::Response(_, (), got)) => assert_eq!(got.payload[..], body[..]),
            other => assert!(matches!(other, Some(Event::Failed(..)))),
        }
    }
}
