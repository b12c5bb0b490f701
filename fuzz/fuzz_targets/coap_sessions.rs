//! CoAP's machines: whatever comes, in whatever order and time, nothing panics and no more is kept than
//! the limits allow.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use weir_coap::limits::Limits;
use weir_coap::session::{Arrival, Connection, Endpoint, Event, Parameters};
use weir_coap::wire::{Code, Framing, Message};
use weir_sansio::{Instant, Output, Session};

fuzz_target!(|pieces: Vec<(u8, u8, Vec<u8>)>| {
    let limits = Limits {
        peers: 8,
        seen: 16,
        exchanges: 4,
        observations: 8,
        body_bytes: 4096,
        ..Limits::default()
    };
    let mut endpoint = Endpoint::new(Parameters::default(), limits, 1);
    let mut connection = Connection::new(Framing::Stream, limits, 1);
    let mut now = Instant::START;
    for (peer, wait, bytes) in pieces {
        now = now + Duration::from_secs(u64::from(wait));
        let arrival = Arrival {
            multicast: peer & 0x80 != 0,
            untrusted: peer & 0x40 != 0,
        };
        endpoint.timeout(now);
        endpoint.receive(now, peer & 0x0f, arrival, &bytes);
        loop {
            match endpoint.poll() {
                Output::Event(Event::Request(incoming)) => {
                    let body = Message::new(Code::CONTENT).with_payload(vec![7; 2000]);
                    let observed = endpoint.respond(now, incoming.exchange, body.clone(), true);
                    if let Some(observation) = observed {
                        endpoint.notify(now, observation, body);
                    }
                }
                Output::Timeout(_) => break,
                _ => {}
            }
        }
        let [peers, observations, exchanges, _] = endpoint.kept();
        assert!(peers <= 8 && observations <= 8 && exchanges <= 4);
        if connection.handle_input(now, &bytes).is_err() {
            connection = Connection::new(Framing::Stream, limits, 1);
        }
        while !matches!(connection.poll_output(), Output::Timeout(_)) {}
    }
});
