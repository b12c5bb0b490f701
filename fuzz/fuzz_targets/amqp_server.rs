//! AMQP's server half: no bytes in any pieces break it, and what it says is headers and frames.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_amqp::session::{
    Accepted, Delivery, Mechanisms, Server, ServerEvent, ServerLimits, Token,
};
use weir_amqp::wire::{DeliveryState, Framed, Message, Performative, ProtocolHeader, Sasl, frame};
use weir_sansio::{Duration, Instant, Output, Session};

fuzz_target!(|pieces: Vec<(u8, Vec<u8>)>| {
    let mut now = Instant::START;
    let limits = ServerLimits {
        frame_bytes_max: 4096,
        message_bytes_max: 8192,
        ..ServerLimits::default()
    };
    let mut server = Server::new(now, limits, Mechanisms { external: true });
    for (secs, piece) in pieces {
        now = now + Duration::from_secs(u64::from(secs));
        server.handle_timeout(now);
        let Ok(()) = server.handle_input(now, &piece);
        drain(&mut server, now);
    }
});

fn drain(server: &mut Server, now: Instant) {
    loop {
        match server.poll_output() {
            Output::Timeout(_) => return,
            Output::Transmit(bytes) => check(&bytes),
            Output::Event(event) => match event {
                ServerEvent::Login(_) => {
                    server.admit(Ok(()));
                    let Ok(()) = server.handle_input(now, &[]);
                }
                ServerEvent::Attach(id, attach) => {
                    let accepted = Accepted {
                        source: attach.source,
                        target: attach.target,
                        ..Accepted::default()
                    };
                    server.accept(id, accepted);
                    let delivery = Delivery {
                        token: Token::default(),
                        head: b"head",
                        payload: vec![0; 3000].into(),
                    };
                    let mut out = Vec::new();
                    server.deliver(id, delivery, &mut out);
                    check(&out);
                    server.idle_link(id);
                }
                ServerEvent::Delivery(received) => {
                    let state = match Message::read(&received.payload) {
                        Ok(_) => DeliveryState::Accepted,
                        Err(_) => DeliveryState::Rejected(None),
                    };
                    server.settle(received.link, received.delivery_id, state);
                }
                _ => {}
            },
        }
    }
}

fn check(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        if let Some(header) = bytes.first_chunk::<8>().and_then(ProtocolHeader::read) {
            assert_eq!(header.version, [1, 0, 0]);
            bytes = &bytes[8..];
            continue;
        }
        let Ok(Framed::Whole(header)) = frame(bytes, usize::MAX) else {
            panic!("no frame");
        };
        match header.is_sasl {
            true => assert!(Sasl::read(&header, bytes).is_ok()),
            false => assert!(Performative::read(&header, bytes).is_ok()),
        }
        bytes = &bytes[header.end..];
    }
}
