//! MQTT's client session: no bytes of a server break it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_mqtt::session::{Client, ClientEvent, ConnectOptions};
use weir_mqtt::wire::{ReasonCode, Version};
use weir_sansio::{Duration, Instant, Output, Session};

fuzz_target!(|input: (bool, Vec<(u8, Vec<u8>)>)| {
    let (v5, pieces) = input;
    let options = ConnectOptions {
        version: if v5 { Version::V5 } else { Version::V311 },
        packet_bytes_max: 4096,
        ..ConnectOptions::default()
    };
    let mut now = Instant::START;
    let mut client = Client::new(now, options);
    for (secs, piece) in pieces {
        now = now + Duration::from_secs(u64::from(secs));
        client.handle_timeout(now);
        let Ok(()) = client.handle_input(now, &piece);
        loop {
            match client.poll_output() {
                Output::Timeout(_) => break,
                Output::Transmit(_) => {}
                Output::Event(ClientEvent::Message(message)) => {
                    client.acknowledge(now, message.packet_id, ReasonCode::SUCCESS);
                }
                Output::Event(_) => {}
            }
        }
    }
});
