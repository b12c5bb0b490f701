//! Endless bodies read in pieces: server-sent events, lines, length-prefixed frames.

use super::head::Refusal;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a piece completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A message, with its event id where there is one.
    Message(Vec<u8>, Option<String>),
    /// A control line, frame or event: JSON.
    Control(Vec<u8>),
    /// SSE `event: gap`, with its event id where there is one.
    Gap(String, Option<String>),
}

/// Says whether a line or frame is a control and no message.
pub fn is_control(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"weir\":")
}

/// How an endless body is cut.
#[derive(Debug)]
pub enum Cut {
    /// Server-sent events (HTML Living Standard section 9.2.6).
    Events(Event),
    /// A message a line.
    Lines,
    /// Messages of several lines, each up to the control line after it.
    Paragraphs(Vec<u8>),
    /// 32-bit big-endian lengths.
    Lengths,
}

/// An event that is still to be ended by an empty line.
#[derive(Debug, Default)]
pub struct Event {
    kind: String,
    data: Vec<u8>,
    lines: usize,
    id: Option<String>,
}

/// Cuts a body into messages and controls.
#[derive(Debug)]
pub struct Cutter {
    cut: Cut,
    rest: Vec<u8>,
    message_bytes_max: usize,
}

impl Cutter {
    /// A cutter for messages of at most so many bytes.
    pub fn new(cut: Cut, message_bytes_max: usize) -> Self {
        Self {
            cut,
            rest: Vec::new(),
            message_bytes_max,
        }
    }

    /// Takes bytes and hands on what they complete.
    pub fn read(&mut self, bytes: &[u8], out: &mut Vec<Piece>) -> Result<(), Refusal> {
        let mut held = core::mem::take(&mut self.rest);
        held.extend_from_slice(bytes);
        let mut input = held.as_slice();
        match self.cut {
            Cut::Lengths => self.frames(&mut input, out)?,
            _ => self.lines(&mut input, out)?,
        }
        self.rest = input.to_vec();
        Ok(())
    }

    /// A line is as long as it may be, whether it comes whole or in pieces.
    fn lines(&mut self, input: &mut &[u8], out: &mut Vec<Piece>) -> Result<(), Refusal> {
        loop {
            let end = memchr::memchr(b'\n', input);
            let length = end.unwrap_or(input.len());
            if length > self.message_bytes_max {
                return Err(self.too_long(length));
            }
            let Some(at) = end else {
                return Ok(());
            };
            let line = input[..at].strip_suffix(b"\r").unwrap_or(&input[..at]);
            self.cut.line(line, out);
            *input = &input[at + 1..];
        }
    }

    fn frames(&self, input: &mut &[u8], out: &mut Vec<Piece>) -> Result<(), Refusal> {
        while let Some((length, rest)) = input.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            if length > self.message_bytes_max {
                return Err(self.too_long(length));
            }
            let Some(frame) = rest.get(..length) else {
                return Ok(());
            };
            match frame {
                [] => {}
                frame if is_control(frame) => out.push(Piece::Control(frame.to_vec())),
                frame => out.push(Piece::Message(frame.to_vec(), None)),
            }
            *input = &rest[length..];
        }
        Ok(())
    }

    fn too_long(&self, length: usize) -> Refusal {
        let limit = self.message_bytes_max;
        Refusal::new(
            502,
            format!("a message of {length} bytes or more, over {limit}"),
        )
    }
}

impl Cut {
    fn line(&mut self, line: &[u8], out: &mut Vec<Piece>) {
        match self {
            Cut::Events(event) => event.line(line, out),
            Cut::Lines | Cut::Lengths if line.is_empty() => {}
            Cut::Lines | Cut::Lengths => out.push(if is_control(line) {
                Piece::Control(line.to_vec())
            } else {
                Piece::Message(line.to_vec(), None)
            }),
            Cut::Paragraphs(open) if is_control(line) => {
                if !open.is_empty() {
                    out.push(Piece::Message(core::mem::take(open), None));
                }
                out.push(Piece::Control(line.to_vec()));
            }
            Cut::Paragraphs(open) => {
                if !open.is_empty() || !line.is_empty() {
                    open.extend_from_slice(line);
                    open.push(b'\n');
                }
            }
        }
    }
}

impl Event {
    fn line(&mut self, line: &[u8], out: &mut Vec<Piece>) {
        if line.is_empty() {
            return out.extend(self.dispatch());
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match &line[..colon] {
            b"event" => self.kind = text(),
            b"id" => self.id = Some(text()),
            b"data" => {
                if self.lines > 0 {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.lines += 1;
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) -> Option<Piece> {
        let Event {
            kind,
            data,
            lines,
            id,
        } = core::mem::take(self);
        if lines == 0 {
            return None;
        }
        Some(match kind.as_str() {
            "gap" => Piece::Gap(String::from_utf8_lossy(&data).into_owned(), id),
            "weir" => Piece::Control(data),
            _ => Piece::Message(data, id),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const EVENTS: &[u8] = b"retry: 1000\n\n:\n\nid: 1-2\ndata: a\ndata: b\n\n\
        id: 1-3\r\nevent: gap\r\ndata: {\"reason\":\"policy\"}\r\n\r\ndata:c\n\n";
    const LINES: &[u8] = b"{\"a\":1}\n\n{\"weir\":{\"cursor\":\"1-2\"}}\n{\"a\":2}\n";
    const LENGTHS: &[u8] = b"\0\0\0\x01a\0\0\0\0\0\0\0\x0b{\"weir\":{}}\0\0\0\x02bc";

    fn whole(cut: Cut, bytes: &[u8]) -> Vec<Piece> {
        let mut out = Vec::new();
        Cutter::new(cut, 1000).read(bytes, &mut out).unwrap();
        out
    }

    #[test]
    fn events_have_ids_kinds_and_joined_data() {
        let expected = [
            Piece::Message(b"a\nb".to_vec(), Some("1-2".into())),
            Piece::Gap("{\"reason\":\"policy\"}".into(), Some("1-3".into())),
            Piece::Message(b"c".to_vec(), None),
        ];
        assert_eq!(whole(Cut::Events(Event::default()), EVENTS), expected);
    }

    #[test]
    fn lines_and_lengths_tell_controls_from_messages() {
        let message = |bytes: &[u8]| Piece::Message(bytes.to_vec(), None);
        let control = Piece::Control(b"{\"weir\":{\"cursor\":\"1-2\"}}".to_vec());
        let lines = [
            message(b"{\"a\":1}"),
            control.clone(),
            message(b"{\"a\":2}"),
        ];
        assert_eq!(whole(Cut::Lines, LINES), lines);
        let paragraph = [message(b"{\"a\":1}\n\n"), control];
        assert_eq!(whole(Cut::Paragraphs(Vec::new()), LINES), paragraph);
        let lengths = [
            message(b"a"),
            Piece::Control(b"{\"weir\":{}}".to_vec()),
            message(b"bc"),
        ];
        assert_eq!(whole(Cut::Lengths, LENGTHS), lengths);
    }

    #[test]
    fn a_message_over_the_limit_is_refused_before_it_is_whole() {
        let mut out = Vec::new();
        let mut cutter = Cutter::new(Cut::Lengths, 10);
        assert!(cutter.read(&[0, 0, 0, 11], &mut out).is_err());
        let mut cutter = Cutter::new(Cut::Lines, 10);
        assert!(cutter.read(b"01234567890", &mut out).is_err());
    }

    #[test]
    fn the_limit_does_not_depend_on_where_the_bytes_are_split() {
        for bytes in [&b"01234567890\n"[..], b"0123456789\n", b"0123456789\r\n"] {
            let all = [bytes].into_iter();
            assert_eq!(
                is_refused(Cut::Lines, all),
                is_refused(Cut::Lines, bytes.chunks(1)),
                "{bytes:?}"
            );
        }
        assert!(is_refused(Cut::Lines, [&b"01234567890\n"[..]].into_iter()));
        let frame = b"\0\0\0\x0a0123456789";
        assert!(!is_refused(Cut::Lengths, frame.chunks(13)));
    }

    fn is_refused<'a>(cut: Cut, mut pieces: impl Iterator<Item = &'a [u8]>) -> bool {
        let mut cutter = Cutter::new(cut, 10);
        pieces.any(|piece| cutter.read(piece, &mut Vec::new()).is_err())
    }

    proptest! {
        #[test]
        fn pieces_do_not_depend_on_where_the_bytes_are_split(
            at in 0usize..200,
            which in 0usize..3,
        ) {
            let (bytes, cut): (&[u8], fn() -> Cut) = match which {
                0 => (EVENTS, || Cut::Events(Event::default())),
                1 => (LINES, || Cut::Lines),
                _ => (LENGTHS, || Cut::Lengths),
            };
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            let mut out = Vec::new();
            let mut cutter = Cutter::new(cut(), 1000);
            cutter.read(first, &mut out).unwrap();
            cutter.read(second, &mut out).unwrap();
            prop_assert_eq!(out, whole(cut(), bytes));
        }
    }
}
