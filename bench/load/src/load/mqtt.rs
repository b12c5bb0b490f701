//! As much of MQTT 3.1.1 as publishes and subscribes at quality of service 0 and 1.
//!
//! Deliberately without keep-alive (0 turns it off, section 3.1.2.10) and without a reader: what
//! arrives is searched for stamps, and cut into packets only where they must be acknowledged.

/// CONNECT, section 3.1: clean session, no keep-alive.
pub(super) fn connect(client_id: &str) -> Vec<u8> {
    let mut body = vec![0, 4, b'M', b'Q', b'T', b'T', 4, 0x02, 0, 0];
    text(&mut body, client_id);
    packet(0x10, &body)
}

/// SUBSCRIBE, section 3.8, packet identifier 1.
pub(super) fn subscribe(filter: &str, qos: u8) -> Vec<u8> {
    let mut body = vec![0, 1];
    text(&mut body, filter);
    body.push(qos);
    packet(0x82, &body)
}

/// PUBLISH, section 3.3, up to where the payload begins; at quality of service 1 it ends with a packet
/// identifier of 0, to be replaced.
pub(super) fn publish_head(topic: &str, qos: u8, payload_bytes: usize) -> Vec<u8> {
    let mut variable = Vec::new();
    text(&mut variable, topic);
    if qos > 0 {
        variable.extend_from_slice(&[0, 0]);
    }
    let mut head = vec![0x30 | qos << 1];
    remaining_length(&mut head, variable.len() + payload_bytes);
    head.extend_from_slice(&variable);
    head
}

/// Cuts a stream of bytes into packets.
#[derive(Default)]
pub(super) struct Packets {
    pending: Vec<u8>,
}

impl Packets {
    /// Takes what was read and hands on every packet that is whole.
    pub(super) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        self.pending.extend_from_slice(bytes);
        let mut at = 0;
        while let Some((_, length)) = lengths(&self.pending[at..]) {
            each(&self.pending[at..at + length]);
            at += length;
        }
        self.pending.drain(..at);
    }
}

/// Whether a packet is a PUBACK, section 3.4.
pub(super) fn is_puback(packet: &[u8]) -> bool {
    packet.first() == Some(&0x40)
}

/// The PUBACK that a packet asks for, if it does.
pub(super) fn puback(packet: &[u8]) -> Option<[u8; 4]> {
    let (head, _) = lengths(packet)?;
    if packet[0] & 0xf6 != 0x32 {
        return None;
    }
    let topic = usize::from(u16::from_be_bytes([
        *packet.get(head)?,
        *packet.get(head + 1)?,
    ]));
    let id = packet.get(head + 2 + topic..head + 4 + topic)?;
    Some([0x40, 2, id[0], id[1]])
}

/// How long the fixed header of a packet and the whole of it are, once it is whole.
fn lengths(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut remaining = 0;
    for (index, byte) in bytes.iter().skip(1).take(4).enumerate() {
        remaining |= usize::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            let (head, whole) = (index + 2, index + 2 + remaining);
            return (bytes.len() >= whole).then_some((head, whole));
        }
    }
    None
}

/// Whether CONNACK (section 3.2) has come and accepts; `None` while it is cut.
pub(super) fn connected(bytes: &[u8]) -> Option<bool> {
    let connack = bytes.get(..4)?;
    Some(connack[0] == 0x20 && connack[3] == 0)
}

/// Whether SUBACK (section 3.9) has come after CONNACK and grants; `None` while it is cut.
pub(super) fn subscribed(bytes: &[u8]) -> Option<bool> {
    let suback = bytes.get(4..9)?;
    Some(connected(bytes)? && suback[0] == 0x90 && suback[4] < 0x80)
}

fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    remaining_length(&mut bytes, body.len());
    bytes.extend_from_slice(body);
    bytes
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Section 2.2.3: seven bits a byte, least first.
fn remaining_length(out: &mut Vec<u8>, mut length: usize) {
    while length > 127 {
        out.push((length % 128) as u8 | 0x80);
        length /= 128;
    }
    out.push(length as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_length_grows_with_the_payload() {
        assert_eq!(publish_head("a", 0, 2), [0x30, 5, 0, 1, b'a']);
        assert_eq!(publish_head("a", 0, 125), [0x30, 0x80, 0x01, 0, 1, b'a']);
        assert_eq!(publish_head("a", 1, 2), [0x32, 7, 0, 1, b'a', 0, 0]);
    }

    #[test]
    fn a_message_of_quality_1_is_acknowledged_wherever_reads_cut_it() {
        let mut stream = publish_head("a", 0, 1);
        stream.push(b'0');
        let at = stream.len() + 5;
        stream.extend(publish_head("a", 1, 1));
        stream.push(b'1');
        stream[at..at + 2].copy_from_slice(&[1, 2]);
        stream.extend([0x40, 2, 0, 9]);
        for piece in 1..stream.len() {
            let (mut packets, mut due, mut done) = (Packets::default(), Vec::new(), 0);
            for part in stream.chunks(piece) {
                packets.feed(part, |packet| {
                    due.extend(puback(packet));
                    done += usize::from(is_puback(packet));
                });
            }
            assert_eq!((due, done), (vec![[0x40, 2, 1, 2]], 1), "{piece}");
        }
    }

    #[test]
    fn a_refused_connection_is_told_from_a_granted_one() {
        assert_eq!(connected(&[0x20, 2, 0, 0]), Some(true));
        assert_eq!(connected(&[0x20, 2, 0, 5]), Some(false));
        assert_eq!(connected(&[0x20]), None);
        assert_eq!(subscribed(&[0x20, 2, 0, 0, 0x90, 3, 0, 1, 0]), Some(true));
    }
}
