//! What a bridge remembers over connections and over a crash: how far it is in the log, what is under way in
//! either direction, and what it subscribed to.
//!
//! It is a record of the log. Layout, little-endian: version u8, where it is (two cursors and a part), flags,
//! QoS 2 messages taken (u64), sessions begun (u32), filters subscribed to, filters offered, what is under
//! way, identifiers received. Lists and texts have a u32 length before them.

use crate::net::record::{Reader, number, read_flight, text, write_flight};
use crate::session::InFlight;
use bytes::Bytes;
use weir_model::Cursor;

const VERSION: u8 = 1;

/// Set in a token's part: the message came from the table of retained ones.
pub(super) const RETAINED: u32 = 1 << 31;

/// A bridge's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Messages up to here were given to the other broker, or are under way.
    pub(super) delivered: Cursor,
    /// So many parts of the message with this cursor were, too.
    pub(super) begun: (Cursor, u32),
    /// Whether the retained messages of this side were.
    pub(super) greeted: bool,
    /// Messages of QoS 2 taken from the other broker in this session: their numbers are their keys.
    pub(super) taken: u64,
    /// Which of its sessions there this is.
    pub(super) sessions: u32,
    /// Filters subscribed to at the other broker.
    pub(super) subscribed: Vec<String>,
    /// Filters of this side whose messages go out.
    pub(super) offered: Vec<String>,
    /// Sent and not acknowledged; identifier 0 stands for what is to be sent as new.
    pub(super) in_flight: Vec<InFlight>,
    /// QoS 2 identifiers received and not released.
    pub(super) received: Vec<u16>,
}

impl Kept {
    /// The record's bytes.
    pub(super) fn write(&self) -> Bytes {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.delivered.bits().to_le_bytes());
        out.extend_from_slice(&self.begun.0.bits().to_le_bytes());
        number(&mut out, self.begun.1);
        out.push(u8::from(self.greeted));
        out.extend_from_slice(&self.taken.to_le_bytes());
        number(&mut out, self.sessions);
        for list in [&self.subscribed, &self.offered] {
            number(&mut out, list.len() as u32);
            list.iter().for_each(|filter| text(&mut out, filter));
        }
        number(&mut out, self.in_flight.len() as u32);
        for of in &self.in_flight {
            write_flight(of, &mut out);
        }
        number(&mut out, self.received.len() as u32);
        for id in &self.received {
            out.extend_from_slice(&id.to_le_bytes());
        }
        out.into()
    }

    /// Reads a record; `None` for one that is none of this version.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader { bytes };
        if from.u8()? != VERSION {
            return None;
        }
        Some(Self {
            delivered: Cursor::from_bits(from.u64()?),
            begun: (Cursor::from_bits(from.u64()?), from.u32()?),
            greeted: from.u8()? == 1,
            taken: from.u64()?,
            sessions: from.u32()?,
            subscribed: texts(&mut from)?,
            offered: texts(&mut from)?,
            in_flight: {
                let count = from.count(19)?;
                let flights = (0..count).map(|_| read_flight(&mut from));
                flights.collect::<Option<_>>()?
            },
            received: {
                let count = from.count(2)?;
                (0..count).map(|_| from.u16()).collect::<Option<_>>()?
            },
        })
    }
}

fn texts(from: &mut Reader<'_>) -> Option<Vec<String>> {
    let count = from.count(4)?;
    (0..count).map(|_| from.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Stage, Token};

    fn whole() -> Kept {
        Kept {
            delivered: Cursor::new(2, 70),
            begun: (Cursor::new(2, 71), 3),
            greeted: true,
            taken: 9,
            sessions: 2,
            subscribed: vec!["a/#".into(), "b".into()],
            offered: vec!["c/+".into()],
            in_flight: vec![InFlight {
                packet_id: 0,
                stage: Stage::Pubrec,
                token: Token {
                    cursor: Cursor::new(2, 69).bits(),
                    subscription: 0,
                    part: RETAINED | 1,
                },
            }],
            received: vec![7, 65_535],
        }
    }

    #[test]
    fn a_bridge_comes_back_as_it_was_kept() {
        assert_eq!(Kept::read(&whole().write()), Some(whole()));
    }

    #[test]
    fn a_record_cut_anywhere_is_none() {
        let bytes = whole().write();
        for length in 0..bytes.len() {
            assert_eq!(Kept::read(&bytes[..length]), None, "{length}");
        }
    }
}
