//! WS-Discovery by UDP: no datagrams break the device, and what it says is XML that fits a datagram, no more of it than
//! two generations, repetitions and addresses make of what was asked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_codec::document::read_xml;
use weir_dpws::limits::{DATAGRAM_BYTES_MAX, PEER_ANSWERS, REPEATS};

/// Stands between datagrams: no XML has it.
const BETWEEN: u8 = 0;
const SCOPES: [&str; 2] = ["http://example.com/plant/hall", "urn:b"];

fuzz_target!(|input: &[u8]| {
    let datagrams: Vec<&[u8]> = input.split(|&byte| byte == BETWEEN).collect();
    let said = weir_dpws::heard(&datagrams, &SCOPES);
    let answers_max = datagrams.len().min(PEER_ANSWERS.0 as usize);
    assert!(said.len() <= answers_max * (1 + REPEATS as usize));
    for bytes in said {
        assert!(bytes.len() <= DATAGRAM_BYTES_MAX);
        assert!(read_xml(&bytes).is_ok());
    }
});
