//! The device's server, by HTTP and by CoAP: whatever comes, in whatever order and time, nothing panics, all that is
//! sent is a packet, and no more than the records there are is used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_comet::limits::PACKET_BYTES_MAX;
use weir_comet::{Kind, Resource, Server, Site};

const BOARD: [u8; 4] = [10, 9, 0, 2];
const HEADERS: usize = 40;

static RESOURCES: [Resource; 2] = [
    Resource {
        path: "/",
        media_type: "text/html",
        kind: Kind::Page(&[b'p'; 1000]),
    },
    Resource {
        path: "/t",
        media_type: "text/plain",
        kind: Kind::Topic,
    },
];

/// A peer that follows what it is told, so that what is drawn goes deep.
struct Peer {
    /// What it sends next, and what it has of the server's, by port.
    numbers: [(u32, u32); 8],
    /// The identifier of the message of CoAP that was sent last.
    id: [u8; 2],
}

fuzz_target!(|steps: Vec<(u8, u8, u8, Vec<u8>)>| {
    let Ok(site) = Site::new(&RESOURCES) else {
        return;
    };
    let mut server = Server::<4, 2, 4, 16>::new();
    server.start(Box::leak(Box::new(site)), BOARD, 80, 7);
    let mut peer = Peer {
        numbers: [(1, 0); 8],
        id: [0; 2],
    };
    let mut now = 0u32;
    for (what, port, shift, text) in steps {
        now = now.wrapping_add(u32::from(shift) << 6);
        server.tick(now);
        match what & 3 {
            0 => drop(server.publish(now, what >> 2 & 1, &text)),
            1 if what & 4 == 0 => raw(&mut server, now, &text),
            1 => peer.tell(&mut server, now, (what >> 3, port), &text),
            _ => peer.say(&mut server, now, (what >> 2, port, shift), &text),
        }
        peer.hear(&mut server, now);
        assert!(server.connections() <= 4 && server.listeners() <= 4);
    }
});

/// Bytes as they are.
fn raw(server: &mut Server<4, 2, 4, 16>, now: u32, bytes: &[u8]) {
    let mut packet = bytes.to_vec();
    let length = server.receive(now, &mut packet);
    assert!(length <= packet.len());
}

impl Peer {
    /// A segment whose checksums are right and whose numbers are near what they should be.
    fn say(
        &mut self,
        server: &mut Server<4, 2, 4, 16>,
        now: u32,
        (flags, port, shift): (u8, u8, u8),
        text: &[u8],
    ) {
        let (sequence, acknowledgement) = &mut self.numbers[usize::from(port & 7)];
        let off = u32::from(port >> 6);
        let mut packet = segment(
            port & 7,
            *sequence - off.min(*sequence),
            *acknowledgement,
            flags,
            shift,
            text,
        );
        let length = server.receive(now, &mut packet);
        if off == 0 && *acknowledgement != 0 {
            *sequence = sequence.wrapping_add(text.len() as u32 + u32::from(flags & 1));
        }
        if length > 0 {
            self.take(&packet[..length]);
        }
    }

    /// A datagram whose checksums are right. Its message is what was drawn, or an acknowledgement or a reset of what
    /// was sent last, or asks for the topic with what was drawn as token and further options.
    fn tell(
        &mut self,
        server: &mut Server<4, 2, 4, 16>,
        now: u32,
        (what, port): (u8, u8),
        text: &[u8],
    ) {
        let [high, low] = self.id;
        let token = text.get(..usize::from(port >> 3 & 7)).unwrap_or(&[]);
        let more = &text[token.len()..];
        let confirmable = (!what & 1) << 4;
        let message = match what & 6 {
            0 => text.to_vec(),
            2 => vec![0x60 | confirmable, 0, high, low],
            kind => {
                let begin = [0x50 ^ confirmable | token.len() as u8, 1, port, what];
                let observed: &[u8] = if kind == 4 { b"\x60\x51t" } else { b"\xb1t" };
                [&begin, token, observed, more].concat()
            }
        };
        let mut packet = datagram(port & 7, &message);
        let length = server.receive(now, &mut packet);
        if length > 0 {
            self.take(&packet[..length]);
        }
    }

    fn hear(&mut self, server: &mut Server<4, 2, 4, 16>, now: u32) {
        let mut packet = [0; PACKET_BYTES_MAX];
        for _ in 0..16 {
            match server.transmit(now, &mut packet) {
                0 => return,
                length => self.take(&packet[..length]),
            }
        }
        panic!("it never stops sending");
    }

    /// What the server sent is a packet, and is acknowledged with the next segment.
    fn take(&mut self, packet: &[u8]) {
        assert_eq!((sum(&packet[..20], 0), packet[0]), (0xffff, 0x45));
        if packet[9] == 17 {
            let pseudo = u32::from(sum(&packet[12..20], 17 + packet.len() as u32 - 20));
            assert_eq!((sum(&packet[20..], pseudo), packet[28] >> 6), (0xffff, 1));
            self.id = [packet[30], packet[31]];
        }
        let Some(number) = packet.get(24..28).filter(|_| packet[9] == 6) else {
            return;
        };
        let number = u32::from_be_bytes([number[0], number[1], number[2], number[3]]);
        let port = packet[23] & 7;
        let (sequence, acknowledgement) = &mut self.numbers[usize::from(port)];
        let flags = packet[33];
        if flags & 4 != 0 {
            (*sequence, *acknowledgement) = (1, 0);
            return;
        }
        if flags & 2 != 0 {
            *sequence = sequence.wrapping_add(1);
        }
        let length =
            (packet.len() - HEADERS) as u32 + u32::from(flags & 1) + u32::from(flags >> 1 & 1);
        *acknowledgement = number.wrapping_add(length);
    }
}

fn segment(
    port: u8,
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    window: u8,
    text: &[u8],
) -> Vec<u8> {
    let mut packet = ip(6, HEADERS, text);
    packet[20..24].copy_from_slice(&[16, port, 0, 80]);
    packet[24..28].copy_from_slice(&sequence.to_be_bytes());
    packet[28..32].copy_from_slice(&acknowledgement.to_be_bytes());
    packet[32] = 0x50;
    // A peer that has nothing yet shakes hands.
    packet[33] = if acknowledgement == 0 {
        2
    } else {
        16 | flags & 7
    };
    packet[34..36].copy_from_slice(&(u16::from(window) << 3).to_be_bytes());
    let pseudo = u32::from(sum(&packet[12..20], 6 + text.len() as u32 + 20));
    let checksum = !sum(&packet[20..], pseudo);
    packet[36..38].copy_from_slice(&checksum.to_be_bytes());
    packet
}

/// A message of CoAP.
fn datagram(port: u8, message: &[u8]) -> Vec<u8> {
    let mut packet = ip(17, 28, message);
    let length = 8 + message.len() as u32;
    packet[20..24].copy_from_slice(&[16, port, 22, 51]);
    packet[24..26].copy_from_slice(&(length as u16).to_be_bytes());
    let pseudo = u32::from(sum(&packet[12..20], 17 + length));
    let checksum = match !sum(&packet[20..], pseudo) {
        0 => u16::MAX,
        checksum => checksum,
    };
    packet[26..28].copy_from_slice(&checksum.to_be_bytes());
    packet
}

/// A packet of a protocol with so many bytes of headers, of which only those of IP are there.
fn ip(protocol: u8, headers: usize, text: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; headers];
    packet.extend_from_slice(text);
    packet[0] = 0x45;
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet[9] = protocol;
    packet[12..16].copy_from_slice(&[10, 9, 0, 1]);
    packet[16..20].copy_from_slice(&BOARD);
    let checksum = !sum(&packet[..20], 0);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet
}

/// The sum of RFC 1071, not inverted.
fn sum(bytes: &[u8], begin: u32) -> u16 {
    let mut sum = begin;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
