//! Chunks of the format `block` behind their checksum: the first byte says how the body is put into a
//! chunk that has the right length and the right checksum, so that mutations reach what is inside.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_model::{BatchBuilder, Limits};

const MARK: [u8; 4] = *b"WBK\x01";

fuzz_target!(|input: &[u8]| {
    let Some((&choice, body)) = input.split_first() else {
        return;
    };
    let message = message(body, 1 + usize::from(choice & 3));
    let format = weir_codec::FORMATS
        .iter()
        .find(|format| format.name == "block");
    let format = format.expect("the format");
    let limits = Limits {
        message_bytes: 1 << 16,
        observations: 1000,
        ..Limits::default()
    };
    let mut builder = BatchBuilder::new();
    if (format.decode)(&message, &mut builder, &limits).is_err() {
        return;
    }
    let (batch, mut written) = (builder.finish(), Vec::new());
    (format.encode)(&batch, &mut written);
    let mut again = BatchBuilder::new();
    let decoded = (format.decode)(&written, &mut again, &Limits::default());
    assert_eq!(decoded, Ok(()), "what it wrote itself");
    let mut twice = Vec::new();
    (format.encode)(&again.finish(), &mut twice);
    assert_eq!(twice, written, "the same bytes again");
});

/// The body in chunks.
fn message(body: &[u8], chunks: usize) -> Vec<u8> {
    let mut message = Vec::new();
    for part in body.chunks(body.len().div_ceil(chunks).max(1)) {
        let mut summed = MARK.to_vec();
        summed.extend_from_slice(&(part.len() as u32).to_le_bytes());
        let sum = crc32c(summed.iter().chain(part));
        message.extend_from_slice(&summed);
        message.extend_from_slice(&sum.to_le_bytes());
        message.extend_from_slice(part);
    }
    message
}

/// CRC-32C (RFC 3720 section 12.1).
fn crc32c<'b>(bytes: impl Iterator<Item = &'b u8>) -> u32 {
    !bytes.fold(!0, |sum: u32, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            sum >> 1 ^ 0x82F6_3B78 * (sum & 1)
        })
    })
}
