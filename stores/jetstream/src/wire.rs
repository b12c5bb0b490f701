//! The lines of core NATS (the client protocol of its documentation): what a server says is read, what a
//! client says is written.

use crate::limits::{LINE_BYTES_MAX, MESSAGE_BYTES_MAX};
use std::io::{self, BufRead, Read};

/// What a server says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `INFO`, with its JSON.
    Info(Vec<u8>),
    /// `MSG` or `HMSG`.
    Message(Message),
    Ping,
    Pong,
    Ok,
    /// `-ERR`, with its text.
    Err(String),
}

/// A message that is delivered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// Of a record of a stream: the one that it was published at, and not the inbox's.
    pub(crate) subject: String,
    /// Number of the subscription.
    pub(crate) sid: u64,
    pub(crate) reply: String,
    /// Status of its header line, as `503` for no responders; 0 where it has none.
    pub(crate) status: u16,
    pub(crate) payload: Vec<u8>,
}

/// Reads what comes next.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Op> {
    let mut line = Vec::new();
    let read = input
        .by_ref()
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut line)?;
    if read == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if line.pop() != Some(b'\n') {
        return Err(bad("a line without an end"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    let (verb, rest) = match line.iter().position(|byte| matches!(byte, b' ' | b'\t')) {
        Some(at) => line.split_at(at),
        None => (&line[..], &[][..]),
    };
    match verb.to_ascii_uppercase().as_slice() {
        b"INFO" => Ok(Op::Info(rest.trim_ascii().to_vec())),
        b"MSG" => message(rest, false, input).map(Op::Message),
        b"HMSG" => message(rest, true, input).map(Op::Message),
        b"PING" => Ok(Op::Ping),
        b"PONG" => Ok(Op::Pong),
        b"+OK" => Ok(Op::Ok),
        b"-ERR" => Ok(Op::Err(String::from_utf8_lossy(rest).trim().into())),
        _ => Err(bad("an unknown operation")),
    }
}

/// `subject sid [reply] [bytes of headers] bytes`, then the headers and the payload.
fn message(line: &[u8], has_headers: bool, input: &mut impl Read) -> io::Result<Message> {
    let line = std::str::from_utf8(line).map_err(|_| bad("a line that is no text"))?;
    let mut parts: Vec<&str> = line.split_ascii_whitespace().collect();
    let mut length = || -> io::Result<usize> {
        let number = parts.pop().and_then(|part| part.parse().ok());
        let within = number.filter(|&number| number <= MESSAGE_BYTES_MAX);
        within.ok_or_else(|| bad("a length that cannot be"))
    };
    let total = length()?;
    let head = if has_headers { length()? } else { 0 };
    if head > total || !matches!(parts.len(), 2 | 3) {
        return Err(bad("a message's line that cannot be"));
    }
    let mut bytes = vec![0; total + 2];
    input.read_exact(&mut bytes)?;
    bytes.truncate(total);
    Ok(Message {
        subject: parts[0].into(),
        sid: parts[1]
            .parse()
            .map_err(|_| bad("a subscription's number that is none"))?,
        reply: parts.get(2).copied().unwrap_or_default().into(),
        status: status(&bytes[..head]),
        payload: bytes.split_off(head),
    })
}

/// `NATS/1.0 503 ...`
fn status(headers: &[u8]) -> u16 {
    let digits = headers
        .strip_prefix(b"NATS/1.0 ")
        .and_then(|rest| rest.get(..3));
    let text = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn bad(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the NATS server sent {what}"),
    )
}

/// Appends a `PUB` or, with headers, an `HPUB`.
pub(crate) fn publish(
    out: &mut Vec<u8>,
    (subject, reply): (&str, &str),
    headers: &[(&str, &str)],
    payload: &[u8],
) {
    let mut head = String::new();
    if !headers.is_empty() {
        head.push_str("NATS/1.0\r\n");
        let lines = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        lines.for_each(|line| head.push_str(&line));
        head.push_str("\r\n");
    }
    let total = head.len() + payload.len();
    let line = match head.len() {
        0 => format!("PUB {subject} {reply} {total}\r\n"),
        length => format!("HPUB {subject} {reply} {length} {total}\r\n"),
    };
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_server_is_read_line_by_line() {
        let mut input = &b"INFO {\"a\":1}\r\nMSG a.b 1 5\r\nhello\r\n\
            HMSG _I.1 1 $JS.ACK.x 22 25\r\nNATS/1.0 503\r\na: b\r\n\r\nabc\r\n\
            PING\r\n-ERR 'no'\r\n"[..];
        assert_eq!(read(&mut input).unwrap(), Op::Info(b"{\"a\":1}".to_vec()));
        let Op::Message(message) = read(&mut input).unwrap() else {
            panic!("no message")
        };
        assert_eq!(
            (&*message.subject, &message.payload[..]),
            ("a.b", &b"hello"[..])
        );
        let Op::Message(message) = read(&mut input).unwrap() else {
            panic!("no message")
        };
        assert_eq!((&*message.reply, message.status), ("$JS.ACK.x", 503));
        assert_eq!(message.payload, b"abc");
        assert_eq!(read(&mut input).unwrap(), Op::Ping);
        assert_eq!(read(&mut input).unwrap(), Op::Err("'no'".into()));
        assert!(read(&mut input).is_err());
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        for line in [
            "MSG a 1 99999999999\r\n",
            "HMSG a 1 9 3\r\nabc\r\n",
            "MSG 3\r\nabc\r\n",
            "NO\r\n",
        ] {
            assert!(read(&mut line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_published_has_its_lengths() {
        let mut out = Vec::new();
        publish(&mut out, ("a", "r"), &[], b"xy");
        publish(&mut out, ("a", "r"), &[("K", "v")], b"xy");
        let expected = "PUB a r 2\r\nxy\r\nHPUB a r 18 20\r\nNATS/1.0\r\nK: v\r\n\r\nxy\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
