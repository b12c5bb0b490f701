//! What the log keeps of sessions, durable links and bridges: no bytes break a reader; what is read is written and
//! read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The first byte says whose record it is.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let rewrite = match choice & 3 {
        0 => weir_mqtt::records::session,
        1 => weir_mqtt::records::bridge,
        2 => weir_amqp::records::link,
        _ => weir_amqp::records::bridge,
    };
    if let Some(written) = rewrite(bytes) {
        assert_eq!(rewrite(&written), Some(written));
    }
});
