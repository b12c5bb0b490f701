//! MQTT packets: any bytes are a packet that comes back, or a fault within them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_mqtt::wire::{Framed, Packet, Version, frame};

fuzz_target!(|input: (bool, &[u8])| {
    let (v5, bytes) = input;
    let version = if v5 { Version::V5 } else { Version::V311 };
    let header = match frame(bytes, 1 << 20) {
        Ok(Framed::Whole(header)) => header,
        Ok(Framed::Incomplete(more)) => return assert!(more > 0),
        Err(fault) => return assert!(fault.offset <= bytes.len()),
    };
    match Packet::decode(version, &header, bytes) {
        Ok(packet) => {
            let mut again = Vec::new();
            packet.encode(version, &mut again);
            let Ok(Framed::Whole(header)) = frame(&again, usize::MAX) else {
                panic!("what was written is no packet");
            };
            assert_eq!(Packet::decode(version, &header, &again), Ok(packet));
        }
        Err(fault) => assert!(fault.offset <= header.end),
    }
});
