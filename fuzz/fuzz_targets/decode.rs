//! Every format of the list: no bytes break a decoder, and what one accepts it writes again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_codec::FORMATS;
use weir_model::{BatchBuilder, Limits};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let format = &FORMATS[usize::from(choice) % FORMATS.len()];
    let limits = Limits {
        message_bytes: 1 << 16,
        observations: 1000,
        ..Limits::default()
    };
    let mut builder = BatchBuilder::new();
    if (format.decode)(bytes, &mut builder, &limits).is_ok() {
        let mut written = Vec::new();
        (format.encode)(&builder.finish(), &mut written);
    }
});
