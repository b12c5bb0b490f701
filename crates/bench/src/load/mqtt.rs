//! As much of MQTT 3.1.1 as publishes and subscribes at quality of service 0.
//!
//! Deliberately without keep-alive (0 turns it off, section 3.1.2.10) and without a reader: what
//! arrives is searched for stamps only.

/// CONNECT, section 3.1: clean session, no keep-alive.
pub(crate) fn connect(client_id: &str) -> Vec<u8> {
    let mut body = vec![0, 4, b'M', b'Q', b'T', b'T', 4, 0x02, 0, 0];
    text(&mut body, client_id);
    packet(0x10, &body)
}

/// SUBSCRIBE, section 3.8, packet identifier 1.
pub(crate) fn subscribe(filter: &str) -> Vec<u8> {
    let mut body = vec![0, 1];
    text(&mut body, filter);
    body.push(0);
    packet(0x82, &body)
}

/// PUBLISH, section 3.3, up to where the payload begins.
pub(crate) fn publish_head(topic: &str, payload_bytes: usize) -> Vec<u8> {
    let mut variable = Vec::new();
    text(&mut variable, topic);
    let mut head = vec![0x30];
    remaining_length(&mut head, variable.len() + payload_bytes);
    head.extend_from_slice(&variable);
    head
}

/// Whether CONNACK (section 3.2) has come and accepts; `None` while it is cut.
pub(crate) fn connected(bytes: &[u8]) -> Option<bool> {
    let connack = bytes.get(..4)?;
    Some(connack[0] == 0x20 && connack[3] == 0)
}

/// Whether SUBACK (section 3.9) has come after CONNACK and grants; `None` while it is cut.
pub(crate) fn subscribed(bytes: &[u8]) -> Option<bool> {
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
        assert_eq!(publish_head("a", 2), [0x30, 5, 0, 1, b'a']);
        assert_eq!(publish_head("a", 125), [0x30, 0x80, 0x01, 0, 1, b'a']);
    }

    #[test]
    fn a_refused_connection_is_told_from_a_granted_one() {
        assert_eq!(connected(&[0x20, 2, 0, 0]), Some(true));
        assert_eq!(connected(&[0x20, 2, 0, 5]), Some(false));
        assert_eq!(connected(&[0x20]), None);
        assert_eq!(subscribed(&[0x20, 2, 0, 0, 0x90, 3, 0, 1, 0]), Some(true));
    }
}
