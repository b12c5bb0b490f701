//! SLIP (RFC 1055): packets on a serial line, a byte at a time, for the driver of either end.
//!
//! What it deliberately does not do: compress headers, keep packets. A packet that is too long or wrongly
//! escaped is dropped; the sums of IP and TCP see what is wrong otherwise.

/// Ends a packet, and begins one, so that noise before it is a packet of its own.
pub const END: u8 = 0xc0;
const ESC: u8 = 0xdb;
const ESC_END: u8 = 0xdc;
const ESC_ESC: u8 = 0xdd;

/// Takes bytes and says when they are a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    length: u16,
    is_escaped: bool,
    is_dropping: bool,
}

impl Reader {
    /// One that has read nothing.
    pub const fn new() -> Self {
        Self {
            length: 0,
            is_escaped: false,
            is_dropping: false,
        }
    }

    /// Whether nothing was read of a packet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Takes the next byte; the length of the packet in `packet` that it ended.
    pub fn push(&mut self, byte: u8, packet: &mut [u8]) -> Option<usize> {
        if byte == END {
            let whole = (!self.is_dropping && !self.is_escaped).then_some(self.length);
            *self = Self::new();
            return whole.map(usize::from).filter(|&length| length > 0);
        }
        match (self.is_escaped, byte) {
            (false, ESC) => self.is_escaped = true,
            (false, _) => self.keep(byte, packet),
            (true, ESC_END) => self.keep(END, packet),
            (true, ESC_ESC) => self.keep(ESC, packet),
            (true, _) => self.is_dropping = true,
        }
        None
    }

    #[inline(never)]
    fn keep(&mut self, byte: u8, packet: &mut [u8]) {
        self.is_escaped = false;
        match packet.get_mut(usize::from(self.length)) {
            Some(place) => {
                *place = byte;
                self.length = self.length.saturating_add(1);
            }
            None => self.is_dropping = true,
        }
    }
}

/// Gives a packet's bytes as they go on the line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Writer {
    at: u16,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    #[default]
    Before,
    Within,
    Escaped,
    After,
}

impl Writer {
    /// One that has written nothing.
    pub const fn new() -> Self {
        Self {
            at: 0,
            place: Place::Before,
        }
    }

    /// The packet's next byte on the line; none where all are written.
    pub fn next(&mut self, packet: &[u8]) -> Option<u8> {
        match (self.place, packet.get(usize::from(self.at))) {
            (Place::Before, _) => {
                self.place = Place::Within;
                Some(END)
            }
            (Place::Within, Some(&(END | ESC))) => {
                self.place = Place::Escaped;
                Some(ESC)
            }
            (Place::Within, Some(&byte)) => Some(self.pass(byte)),
            (Place::Escaped, Some(&END)) => Some(self.pass(ESC_END)),
            (Place::Escaped, _) => Some(self.pass(ESC_ESC)),
            (Place::Within, None) => {
                self.place = Place::After;
                Some(END)
            }
            (Place::After, _) => None,
        }
    }

    fn pass(&mut self, byte: u8) -> u8 {
        self.place = Place::Within;
        self.at += 1;
        byte
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn line(packet: &[u8]) -> Vec<u8> {
        let mut writer = Writer::new();
        core::iter::from_fn(|| writer.next(packet)).collect()
    }

    fn packets(line: &[u8], room: usize) -> Vec<Vec<u8>> {
        let mut reader = Reader::new();
        let mut packet = std::vec![0; room];
        let mut found = Vec::new();
        for &byte in line {
            if let Some(length) = reader.push(byte, &mut packet) {
                found.push(packet[..length].to_vec());
            }
        }
        found
    }

    #[test]
    fn ends_and_escapes_within_are_written_as_two_bytes() {
        let bytes = line(&[1, END, ESC, 2]);
        let expected = [END, 1, ESC, ESC_END, ESC, ESC_ESC, 2, END];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn what_is_wrongly_escaped_is_dropped_and_the_next_is_read() {
        let mut bytes = line(&[7; 9]);
        bytes.extend([ESC, 1, END, ESC, END]);
        bytes.extend(line(&[8; 8]));
        assert_eq!(packets(&bytes, 8), [[8; 8]]);
    }

    proptest! {
        #[test]
        fn packets_come_back(sent in vec(vec(any::<u8>(), 1..64), 0..8)) {
            let bytes: Vec<u8> = sent.iter().flat_map(|packet| line(packet)).collect();
            prop_assert_eq!(packets(&bytes, 64), sent);
        }
    }
}
