//! The server against segments made by hand: what no decent TCP sends.
#![allow(clippy::unwrap_used)]

mod support;

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    Icmpv4Packet, Icmpv4Repr, IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket,
    TcpRepr, TcpSeqNumber,
};
use support::{BOARD, HOST, HUMIDITY, Small, TEMPERATURE, site};
use weir_comet::limits::PACKET_BYTES_MAX;

const PORT: u16 = 4_000;
const FIRST: i32 = 70_000;

/// The other end, segment by segment.
struct Peer {
    server: Box<Small>,
    /// Its window, and the time when it speaks.
    window: u16,
    now: u32,
    ours: i32,
    theirs: i32,
}

/// What a segment says: control, sequence number, acknowledgement, window, text.
type Said = (TcpControl, i32, Option<i32>, u16, Vec<u8>);

fn segment(
    port: u16,
    control: TcpControl,
    sequence: i32,
    ack: Option<i32>,
    text: &[u8],
) -> Vec<u8> {
    segment_of((port, 4_096), control, sequence, ack, text)
}

/// A segment from a port, with a window.
fn segment_of(
    (port, window): (u16, u16),
    control: TcpControl,
    sequence: i32,
    ack: Option<i32>,
    text: &[u8],
) -> Vec<u8> {
    let repr = TcpRepr {
        src_port: port,
        dst_port: 80,
        control,
        seq_number: TcpSeqNumber(sequence),
        ack_number: ack.map(TcpSeqNumber),
        window_len: window,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: text,
    };
    let ip = Ipv4Repr {
        src_addr: Ipv4Address::from(HOST),
        dst_addr: Ipv4Address::from(BOARD),
        next_header: IpProtocol::Tcp,
        payload_len: repr.buffer_len(),
        hop_limit: 64,
    };
    let mut packet = vec![0; 20 + repr.buffer_len()];
    ip.emit(
        &mut Ipv4Packet::new_unchecked(&mut packet),
        &ChecksumCapabilities::default(),
    );
    let mut tcp = TcpPacket::new_unchecked(&mut packet[20..]);
    repr.emit(
        &mut tcp,
        &ip.src_addr.into(),
        &ip.dst_addr.into(),
        &ChecksumCapabilities::default(),
    );
    packet
}

fn read(packet: &[u8]) -> Said {
    let ip = Ipv4Packet::new_checked(packet).unwrap();
    assert!(ip.verify_checksum());
    let (from, to) = (ip.src_addr().into(), ip.dst_addr().into());
    let tcp = TcpPacket::new_checked(ip.payload()).unwrap();
    let repr = TcpRepr::parse(&tcp, &from, &to, &ChecksumCapabilities::default()).unwrap();
    let ack = repr.ack_number.map(|number| number.0);
    (
        repr.control,
        repr.seq_number.0,
        ack,
        repr.window_len,
        repr.payload.to_vec(),
    )
}

fn server() -> Box<Small> {
    let mut server = Box::new(Small::new());
    server.start(site(), BOARD, 80, 99);
    server
}

/// Sends a segment; the answer that it gets in place.
fn send(server: &mut Small, packet: &[u8]) -> Option<Said> {
    send_at(server, 1_000, packet)
}

fn send_at(server: &mut Small, now: u32, packet: &[u8]) -> Option<Said> {
    let mut packet = packet.to_vec();
    let length = server.receive(now, &mut packet);
    (length > 0).then(|| read(&packet[..length]))
}

impl Peer {
    /// A connection.
    fn new() -> Self {
        let mut server = server();
        let syn = segment(PORT, TcpControl::Syn, FIRST, None, b"");
        let (control, theirs, ack, ..) = send(&mut server, &syn).unwrap();
        assert_eq!((control, ack), (TcpControl::Syn, Some(FIRST + 1)));
        let mut peer = Self {
            server,
            window: 4_096,
            now: 1_000,
            ours: FIRST + 1,
            theirs: theirs.wrapping_add(1),
        };
        assert_eq!(peer.say(TcpControl::None, 0, b""), None);
        assert_eq!(peer.server.connections(), 1);
        peer
    }

    /// Sends a segment `ahead` of what is next; the answer in place.
    fn say(&mut self, control: TcpControl, ahead: i32, text: &[u8]) -> Option<Said> {
        let (from, sequence) = ((PORT, self.window), self.ours + ahead);
        let packet = segment_of(from, control, sequence, Some(self.theirs), text);
        send_at(&mut self.server, self.now, &packet)
    }

    /// Sends a request, which is next.
    fn ask(&mut self, target: &str) {
        let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(self.say(TcpControl::None, 0, request.as_bytes()), None);
        self.ours += request.len() as i32;
    }

    /// Takes all that the server sends now, and acknowledges it together; the text.
    fn take(&mut self) -> String {
        let mut text = Vec::new();
        while let Some(said) = self.hear(self.now) {
            text.extend(said.4);
        }
        self.theirs += text.len() as i32;
        assert_eq!(self.say(TcpControl::None, 0, b""), None);
        String::from_utf8(text).unwrap()
    }

    /// Lets seconds pass, in which it answers each probe and takes nothing of it; what the probes were.
    fn wait(&mut self, seconds: u32) -> Vec<Said> {
        let mut probes = Vec::new();
        for _ in 0..seconds * 10 {
            self.now += 100;
            if let Some(said) = self.hear(self.now) {
                assert_ne!(said.0, TcpControl::Rst);
                assert_eq!(self.say(TcpControl::None, 0, b""), None);
                probes.push(said);
            }
        }
        probes
    }

    /// What the server sends of itself.
    fn hear(&mut self, now: u32) -> Option<Said> {
        let mut packet = vec![0; PACKET_BYTES_MAX];
        self.server.tick(now);
        let length = self.server.transmit(now, &mut packet);
        (length > 0).then(|| read(&packet[..length]))
    }

    /// Where the server says it is.
    fn position(&self) -> (TcpControl, i32, Option<i32>) {
        (TcpControl::None, self.theirs, Some(self.ours))
    }
}

fn head((control, sequence, ack, ..): Said) -> (TcpControl, i32, Option<i32>) {
    (control, sequence, ack)
}

#[test]
fn a_flood_of_handshakes_costs_nothing() {
    let mut server = server();
    for port in 1..20_000 {
        let syn = segment(port, TcpControl::Syn, i32::from(port), None, b"");
        assert!(send(&mut server, &syn).is_some());
    }
    assert_eq!(server.connections(), 0);
    let guess = segment(
        5,
        TcpControl::None,
        6,
        Some(1_234),
        b"GET / HTTP/1.1\r\n\r\n",
    );
    let (control, sequence, ..) = send(&mut server, &guess).unwrap();
    assert_eq!((control, sequence), (TcpControl::Rst, 1_234));
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_reset_counts_only_with_the_very_next_number() {
    let mut peer = Peer::new();
    assert_eq!(peer.say(TcpControl::Rst, 5_000, b""), None);
    assert_eq!(peer.say(TcpControl::Rst, -1, b""), None);
    assert_eq!(peer.server.connections(), 1);
    let position = peer.position();
    assert_eq!(peer.say(TcpControl::Rst, 10, b"").map(head), Some(position));
    assert_eq!(peer.server.connections(), 1);
    assert_eq!(peer.say(TcpControl::Rst, 0, b""), None);
    assert_eq!(peer.server.connections(), 0);
}

#[test]
fn a_handshake_within_a_connection_is_a_challenge() {
    let mut peer = Peer::new();
    let position = peer.position();
    assert_eq!(peer.say(TcpControl::Syn, 0, b"").map(head), Some(position));
    assert_eq!(
        peer.say(TcpControl::Syn, -90_000, b"").map(head),
        Some(position)
    );
    assert_eq!(peer.server.connections(), 1);
}

#[test]
fn what_comes_before_its_turn_comes_again() {
    let mut peer = Peer::new();
    let request = b"GET /live/humidity HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(peer.say(TcpControl::None, 10, &request[10..]), None);
    let position = peer.position();
    assert_eq!(peer.hear(1_100).map(head), Some(position));
    // The first 10 bytes, then all once more: only what is new counts.
    assert_eq!(peer.say(TcpControl::None, 0, &request[..10]), None);
    assert_eq!(peer.say(TcpControl::None, 0, request), None);
    let (_, sequence, ack, _, text) = peer.hear(1_200).unwrap();
    assert_eq!(
        (sequence, ack),
        (peer.theirs, Some(peer.ours + request.len() as i32))
    );
    assert_eq!(text, b"HTTP/1.1 204 \r\n\r\n");
}

#[test]
fn acknowledging_what_was_never_sent_gains_nothing() {
    let mut peer = Peer::new();
    let packet = segment(
        PORT,
        TcpControl::None,
        peer.ours,
        Some(peer.theirs + 5),
        b"GET ",
    );
    assert_eq!(send(&mut peer.server, &packet), None);
    let position = peer.position();
    assert_eq!(peer.hear(1_100).map(head), Some(position));
}

#[test]
fn the_third_duplicate_brings_back_what_is_lost_at_once() {
    let mut peer = Peer::new();
    let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(peer.say(TcpControl::None, 0, request), None);
    peer.ours += request.len() as i32;
    let sent: Vec<Said> = std::iter::from_fn(|| peer.hear(1_010)).collect();
    assert_eq!(sent.len(), 3);
    for duplicates in 1..=4 {
        assert_eq!(peer.say(TcpControl::None, 0, b""), None);
        let again = peer.hear(1_020);
        assert_eq!(again, (duplicates == 3).then(|| sent[0].clone()));
    }
    // A part of it is acknowledged: what follows is lost as well.
    peer.theirs += 200;
    assert_eq!(peer.say(TcpControl::None, 0, b""), None);
    let (_, sequence, _, _, text) = peer.hear(1_030).unwrap();
    assert_eq!(sequence, peer.theirs);
    assert_eq!(text, sent[0].4[200..]);
    peer.theirs += 3 * 256 - 200;
    assert_eq!(peer.say(TcpControl::None, 0, b""), None);
    let (_, sequence, ..) = peer.hear(1_040).unwrap();
    assert_eq!(sequence, peer.theirs);
    let counters = peer.server.counters();
    assert_eq!(counters.repeated, 2);
}

#[test]
fn what_nobody_acknowledges_goes_again_ever_more_rarely() {
    let mut peer = Peer::new();
    assert_eq!(
        peer.say(
            TcpControl::None,
            0,
            b"GET /live/humidity HTTP/1.1\r\nHost: x\r\n\r\n"
        ),
        None
    );
    let mut times = Vec::new();
    let mut last = None;
    for now in (1_000..600_000).step_by(50) {
        if let Some(said) = peer.hear(now) {
            times.push(now);
            last = Some(said.0);
        }
    }
    let gaps: Vec<u32> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(times.len(), 10);
    // The resets come at once, one after the other.
    let gaps = &gaps[..8];
    for (number, pair) in gaps.windows(2).enumerate() {
        assert!(pair[1] > pair[0] && gaps[0] >= 1_000, "{number}: {gaps:?}");
    }
    assert_eq!(
        (last, peer.server.connections()),
        (Some(TcpControl::Rst), 0)
    );
    assert!(times[8] - times[0] > 100_000);
}

#[test]
fn a_window_that_opens_again_is_used_at_once() {
    let mut peer = Peer::new();
    peer.ask("/");
    let first = peer.hear(peer.now).unwrap();
    let sent: Vec<Said> = std::iter::from_fn(|| peer.hear(1_000)).collect();
    assert_eq!(sent.len(), 2);
    // Of three segments the peer took one, and then all of them.
    for (taken, next) in [(first.4.len(), &sent[0].4[..]), (512, b"")] {
        (peer.theirs, peer.window) = (peer.theirs + taken as i32, 0);
        assert_eq!(peer.say(TcpControl::None, 0, b""), None);
        let probes = peer.wait(200);
        // What was never sent is not begun for a probe.
        let length = next.len().min(1);
        assert!(probes.len() > 5 && probes.iter().all(|probe| probe.4.len() == length));
        peer.window = 4_096;
        assert_eq!(peer.say(TcpControl::None, 0, b""), None);
        let (_, sequence, _, _, text) = peer.hear(peer.now).unwrap();
        assert_eq!(sequence, peer.theirs);
        assert!(text.starts_with(next) && text.len() > 200);
    }
}

#[test]
fn who_answers_probes_of_its_window_lives() {
    for trip_ms in [100, 3_900, 14_000] {
        let mut peer = Peer::new();
        peer.ask("/");
        while peer.hear(peer.now).is_some() {}
        (peer.now, peer.window) = (peer.now + trip_ms, 0);
        peer.theirs += 768;
        assert_eq!(peer.say(TcpControl::None, 0, b""), None);
        let probes = peer.wait(3_000);
        assert!(probes.len() > 20, "{trip_ms}: {}", probes.len());
        assert_eq!(peer.server.counters().resets, 0);
        // Who answers no more is dead (RFC 9293 section 3.8.3).
        for _ in 0..10_000 {
            peer.now += 100;
            peer.hear(peer.now);
        }
        assert_eq!(peer.server.connections(), 0, "{trip_ms}");
    }
}

#[test]
fn a_listener_whose_window_was_closed_goes_on_with_the_newest() {
    let mut peer = Peer::new();
    peer.ask("/live/temperature?stream");
    peer.window = 0;
    assert!(peer.take().starts_with("HTTP/1.1 200 OK"));
    for number in 1..=40u32 {
        let text = number.to_string();
        let now = peer.now;
        let published = peer.server.publish(now, TEMPERATURE, text.as_bytes());
        assert_eq!(published, Ok(number));
        let probes = peer.wait(1);
        assert!(probes.iter().all(|probe| probe.4.is_empty()));
        if number % 8 == 0 {
            // Its text is taken all the same, and acknowledged with the number that it expects.
            assert_eq!(peer.say(TcpControl::None, 0, b"x"), None);
            peer.ours += 1;
            let heard: Vec<_> = std::iter::from_fn(|| peer.hear(peer.now).map(head)).collect();
            assert!(heard.contains(&peer.position()), "{number}: {heard:?}");
        }
    }
    let counters = peer.server.counters();
    assert_eq!((counters.resets, counters.conflated), (0, 2));
    peer.window = 4_096;
    assert_eq!(peer.say(TcpControl::None, 0, b""), None);
    let text = peer.take();
    assert!(text.ends_with("2\r\n40\r\n"), "{text}");
    assert!(text.starts_with("2\r\n3"), "{text}");
}

#[test]
fn a_poll_whose_answer_was_overwritten_gets_what_there_is() {
    // Of its topic is published so many times more, then of another until the first slot is its.
    for (more, answer) in [(15, Some("15")), (2, Some("2")), (0, None)] {
        let mut peer = Peer::new();
        let published = peer.server.publish(1_000, TEMPERATURE, b"0");
        assert_eq!(published, Ok(1));
        peer.ask("/live/temperature");
        for number in 1..=16 {
            let topic = if number <= more {
                TEMPERATURE
            } else {
                HUMIDITY
            };
            let text = number.to_string();
            peer.server.publish(1_000, topic, text.as_bytes()).unwrap();
        }
        let text = peer.take();
        match answer {
            Some(value) => {
                let number = more + 1;
                assert!(
                    text.ends_with(&format!("ETag: \"{number}\"\r\n\r\n{value}")),
                    "{text}"
                );
            }
            None => assert_eq!(text, "HTTP/1.1 204 \r\n\r\n"),
        }
    }
}

#[test]
fn a_port_where_nobody_is_refuses() {
    for (control, ack, refusal) in [
        // RFC 9293 section 3.10.7.1.
        (TcpControl::Syn, None, Some((0, Some(FIRST + 1)))),
        (TcpControl::None, Some(1_234), Some((1_234, None))),
        (TcpControl::Rst, None, None),
    ] {
        let mut packet = segment(PORT, control, FIRST, ack, b"");
        let [from, to] = [HOST, BOARD].map(|end| Ipv4Address::from(end).into());
        let mut tcp = TcpPacket::new_unchecked(&mut packet[20..]);
        tcp.set_dst_port(81);
        tcp.fill_checksum(&from, &to);
        let length = server().receive(0, &mut packet);
        let said = (length > 0).then(|| read(&packet[..length]));
        let said = said.map(|(control, sequence, ack, ..)| {
            assert_eq!((control, &packet[20..22]), (TcpControl::Rst, &[0, 81][..]));
            (sequence, ack)
        });
        assert_eq!(said, refusal);
    }
}

#[test]
fn who_cannot_take_a_segment_is_refused() {
    let mut syn = segment(PORT, TcpControl::Syn, FIRST, None, b"");
    // 4 bytes of options: a largest segment of 200.
    let mut tiny = syn.split_off(20);
    tiny[12] = 0x60;
    tiny.extend([2, 4, 0, 200]);
    syn.extend(tiny);
    syn[3] = 44;
    let mut ip = Ipv4Packet::new_unchecked(&mut syn);
    ip.fill_checksum();
    let (from, to) = (
        Ipv4Address::from(HOST).into(),
        Ipv4Address::from(BOARD).into(),
    );
    TcpPacket::new_unchecked(ip.payload_mut()).fill_checksum(&from, &to);
    let (control, ..) = send(&mut server(), &syn).unwrap();
    assert_eq!(control, TcpControl::Rst);
}

#[test]
fn an_echo_is_answered() {
    let request = Icmpv4Repr::EchoRequest {
        ident: 7,
        seq_no: 8,
        data: b"who is there?",
    };
    let ip = Ipv4Repr {
        src_addr: Ipv4Address::from(HOST),
        dst_addr: Ipv4Address::from(BOARD),
        next_header: IpProtocol::Icmp,
        payload_len: request.buffer_len(),
        hop_limit: 64,
    };
    let mut packet = vec![0; 20 + request.buffer_len()];
    let checksums = ChecksumCapabilities::default();
    ip.emit(&mut Ipv4Packet::new_unchecked(&mut packet), &checksums);
    request.emit(
        &mut Icmpv4Packet::new_unchecked(&mut packet[20..]),
        &checksums,
    );
    let length = server().receive(0, &mut packet);
    let ip = Ipv4Packet::new_checked(&packet[..length]).unwrap();
    assert!(ip.verify_checksum() && ip.dst_addr() == Ipv4Address::from(HOST));
    let reply = Icmpv4Packet::new_checked(ip.payload()).unwrap();
    let reply = Icmpv4Repr::parse(&reply, &checksums).unwrap();
    let expected = Icmpv4Repr::EchoReply {
        ident: 7,
        seq_no: 8,
        data: b"who is there?",
    };
    assert_eq!(reply, expected);
}
