//! WebSocket: no bytes of a peer break the reader of either side, what they say is the same however they are cut,
//! and what is said is written and read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_carrier::websocket::{
    Deflate, Failure, Header, Message, Offer, Opcode, Reader, Role, accept, deflate_message,
    write_close, write_frame, write_masked,
};

const MESSAGE_BYTES_MAX: usize = 4096;
const KEY: [u8; 4] = [1, 2, 3, 4];

// The first byte says whose bytes they are and how they are cut.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let role = if choice & 1 == 0 {
        Role::Server
    } else {
        Role::Client
    };
    let deflate = choice & 2 != 0;
    let whole = told(role, deflate, [bytes].into_iter());
    let cut = usize::from(choice >> 2) + 1;
    assert_eq!(
        told(role, deflate, bytes.chunks(cut)),
        whole,
        "cut into pieces of {cut}"
    );
    for message in &whole.0 {
        back(role, message);
        if let Message::Text(text) | Message::Binary(text) = message
            && deflate
        {
            deflated(role, text);
        }
    }
    if deflate {
        let _inflated = packed_told(role, bytes);
    }
    if let Ok(Some((header, length))) = Header::read(bytes) {
        let mut written = Vec::new();
        header.write(&mut written);
        assert_eq!(written, bytes[..length], "the header again");
    }
    let text = String::from_utf8_lossy(bytes);
    let _offer = Offer::find(&text);
    let _accepted = accept(&text);
});

/// What was heard, each within the limit, and why no more is.
fn told<'a>(
    role: Role,
    deflate: bool,
    mut pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Message>, Option<Failure>) {
    let mut reader = Reader::new(role, deflate, MESSAGE_BYTES_MAX);
    let mut heard = Vec::new();
    let failure = pieces.find_map(|piece| reader.read(piece, &mut heard).err());
    assert!(
        heard
            .iter()
            .map(length)
            .all(|bytes| bytes <= MESSAGE_BYTES_MAX)
    );
    (heard, failure)
}

fn length(message: &Message) -> usize {
    match message {
        Message::Text(bytes) | Message::Binary(bytes) => bytes.len(),
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => 0,
    }
}

/// What is heard of one whole frame whose payload says it is deflated.
fn packed_told(role: Role, packed: &[u8]) -> (Vec<Message>, Option<Failure>) {
    let header = Header {
        fin: true,
        rsv1: true,
        opcode: Opcode::BINARY,
        mask: (role == Role::Server).then_some([0; 4]),
        length: packed.len() as u64,
    };
    let mut written = Vec::new();
    header.write(&mut written);
    written.extend_from_slice(packed);
    told(role, true, [written.as_slice()].into_iter())
}

/// A message as its sender would write it.
fn back(role: Role, message: &Message) {
    let mut written = Vec::new();
    let mut write = |opcode, payload: &[u8]| match role {
        Role::Server => write_masked(opcode, payload, KEY, &mut written),
        Role::Client => write_frame(opcode, payload, &mut written),
    };
    match message {
        Message::Text(bytes) => write(Opcode::TEXT, bytes),
        Message::Binary(bytes) => write(Opcode::BINARY, bytes),
        Message::Ping(bytes) => write(Opcode::PING, bytes),
        Message::Pong(bytes) => write(Opcode::PONG, bytes),
        Message::Close(None) => write(Opcode::CLOSE, b""),
        Message::Close(Some(close)) => {
            write_close(close, (role == Role::Server).then_some(KEY), &mut written);
        }
    }
    let (heard, failure) = told(role, false, [written.as_slice()].into_iter());
    assert_eq!(
        (heard.as_slice(), failure),
        (std::slice::from_ref(message), None)
    );
}

/// A message that is deflated, as one that came so is.
fn deflated(role: Role, bytes: &[u8]) {
    let mut packed = Vec::new();
    deflate_message(&mut Deflate::default(), bytes, &mut packed);
    let (heard, failure) = packed_told(role, &packed);
    let expected = Message::Binary(bytes.to_vec().into());
    // What compresses badly may be over the limit when it is packed.
    assert!(failure.is_some() || heard == [expected]);
}
