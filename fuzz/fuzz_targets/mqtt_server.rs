//! MQTT's server session: no bytes in any pieces break it, and what it says is packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_mqtt::session::{Acceptance, Server, ServerEvent, ServerLimits};
use weir_mqtt::wire::{Framed, Packet, ReasonCode, Version, frame};
use weir_sansio::{Duration, Instant, Output, Session};

fuzz_target!(|pieces: Vec<(u8, Vec<u8>)>| {
    let mut now = Instant::START;
    let limits = ServerLimits {
        packet_bytes_max: 4096,
        ..ServerLimits::default()
    };
    let mut server = Server::new(now, limits);
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
            Output::Transmit(bytes) => check(server.version(), &bytes),
            Output::Event(event) => match event {
                ServerEvent::Connect(_) => {
                    server.accept(now, &Acceptance::default());
                    let Ok(()) = server.handle_input(now, &[]);
                }
                ServerEvent::Publish(message) => {
                    server.acknowledge(message.packet_id, ReasonCode::SUCCESS, None);
                }
                ServerEvent::Subscribe(request) => {
                    server.suback(request.packet_id, &vec![0; request.filters.len()]);
                }
                ServerEvent::Unsubscribe(id, filters) => {
                    server.unsuback(id, &vec![0; filters.len()]);
                }
                ServerEvent::Released(id) => server.complete(id),
                _ => {}
            },
        }
    }
}

fn check(version: Option<Version>, mut bytes: &[u8]) {
    while let Ok(Framed::Whole(header)) = frame(bytes, usize::MAX) {
        // A CONNECT that was not understood is answered in a version that it only seemed to say.
        if let Some(version) = version {
            assert!(Packet::decode(version, &header, bytes).is_ok());
        }
        bytes = &bytes[header.end..];
    }
    assert!(bytes.is_empty());
}
