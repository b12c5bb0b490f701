//! Every format of the list: no bytes break a decoder, what one accepts it writes again, and what comes in pieces is
//! read as what comes whole; and what says of itself no format, in which one is looked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_codec::{FORMATS, Format, sniff};
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
    if choice == u8::MAX {
        let mut builder = BatchBuilder::new();
        let _format = sniff(bytes, &mut builder, &limits);
        return;
    }
    let whole = |out: &mut BatchBuilder| (format.decode)(bytes, out, &limits).is_ok();
    let length = bytes.len() / (1 + usize::from(choice) / FORMATS.len()) + 1;
    let in_pieces = |out: &mut BatchBuilder| {
        let mut reader = format.reader(&limits);
        let mut pieces = bytes.chunks(length);
        pieces.all(|piece| reader.push(piece, out).is_ok()) && reader.finish(out).is_ok()
    };
    let whole = written(format, whole);
    assert_eq!(
        written(format, in_pieces),
        whole,
        "{} in pieces of {length}",
        format.name
    );
});

/// What was read, written again; nothing of what was refused.
fn written(format: &Format, read: impl FnOnce(&mut BatchBuilder) -> bool) -> Option<Vec<u8>> {
    let mut builder = BatchBuilder::new();
    read(&mut builder).then(|| {
        let mut written = Vec::new();
        (format.encode)(&builder.finish(), &mut written);
        written
    })
}
