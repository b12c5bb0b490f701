//! What is published: messages of a fixed size, built once and stamped in place.
//!
//! Deliberately not the project's own codec: a load that shared the code under test would share its
//! mistakes, and a message of fixed width costs two copies and no formatting.

use std::time::{SystemTime, UNIX_EPOCH};

use super::stamp::STAMP_DIGITS;
use super::wire::PublishWire;
use weir_bench_model::body::Body;
use weir_bench_model::calendar::date;
use weir_bench_model::own::STAMP_BASE;

/// A whole message on the wire, head included, and where in it the moving parts stand.
pub struct Template {
    bytes: Vec<u8>,
    stamp_at: Option<usize>,
    /// Where a packet identifier stands, where there is one.
    id_at: Option<usize>,
    times_at: Vec<usize>,
    next_time_us: u64,
}

/// What stands for the time in a template: hours to microseconds, rewritten in each message.
pub const TIME_BLANK: &str = "00:00:00.000000";
/// Where batches are published that will be read back.
pub const REPLAY_TOPIC: &str = "bench/batch";
const DAY_US: u64 = 86_400_000_000;
const BATCH_DATASTREAMS: usize = 10;

impl Template {
    /// Builds the message once for a wire.
    pub fn new(wire: &PublishWire, body: Body) -> Self {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let payload = payload_of(body, &date(since_epoch.as_secs() / 86_400));
        let mut bytes = head(wire, body, payload.len());
        let is_numbered = matches!(wire, PublishWire::Mqtt { qos: 1.., .. });
        let id_at = is_numbered.then(|| bytes.len() - 2);
        bytes.extend_from_slice(&payload);
        let blank = STAMP_BASE.to_string();
        let stamp_at = memchr::memmem::find(&bytes, blank.as_bytes());
        let times_at = memchr::memmem::find_iter(&bytes, TIME_BLANK).collect();
        let next_time_us = since_epoch.as_micros() as u64 % DAY_US;
        Self {
            bytes,
            stamp_at,
            id_at,
            times_at,
            next_time_us,
        }
    }

    /// Bytes of one message on the wire.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends one message whose stamp is `due` nanoseconds after the load's start; `id` is its packet
    /// identifier, where its protocol has such a thing.
    pub fn write(&mut self, due: u64, id: u16, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let message = &mut out[start..];
        if let Some(at) = self.stamp_at {
            write_digits(&mut message[at..at + STAMP_DIGITS], STAMP_BASE + due);
        }
        if let Some(at) = self.id_at {
            message[at..at + 2].copy_from_slice(&id.to_be_bytes());
        }
        for &at in &self.times_at {
            write_time(&mut message[at..at + TIME_BLANK.len()], self.next_time_us);
            self.next_time_us = (self.next_time_us + 1) % DAY_US;
        }
    }
}

/// The bytes of a message before it is stamped.
fn payload_of(body: Body, date: &str) -> Vec<u8> {
    match body {
        Body::Stamped => stamped(date).into_bytes(),
        Body::JsonBatch(count) => json_batch(count, date).into_bytes(),
        Body::CborBatch(count) => cbor_batch(count, date),
        Body::Own(own) | Body::Service(own, _) => own.text.as_bytes().to_vec(),
    }
}

fn head(wire: &PublishWire, body: Body, payload_bytes: usize) -> Vec<u8> {
    match wire {
        PublishWire::Http { head } => {
            let media = body.media_type();
            format!("{head}Content-Type: {media}\r\nContent-Length: {payload_bytes}\r\n\r\n")
                .into_bytes()
        }
        PublishWire::Mqtt { topic, qos } => super::mqtt::publish_head(topic, *qos, payload_bytes),
    }
}

fn stamped(date: &str) -> String {
    let value = format!(r#""type":"temperature","value":{STAMP_BASE},"unit":"Cel""#);
    format!(r#"{{"observations":[{{{value},"time":"{date}T{TIME_BLANK}Z"}}]}}"#)
}

fn json_batch(count: usize, date: &str) -> String {
    let mut text = String::from(r#"{"observations":["#);
    for index in 0..count {
        let comma = if index == 0 { "" } else { "," };
        let (stream, value) = batch_row(index);
        text += &format!(
            r#"{comma}{{"topic":"bench/batch/{stream}","value":{value:.2},"time":"{date}T{TIME_BLANK}Z"}}"#
        );
    }
    text + "]}"
}

/// RFC 8949: maps 0xa0, arrays 0x80, texts 0x60, 64-bit floats 0xfb; tag 0 is an RFC 3339 time.
fn cbor_batch(count: usize, date: &str) -> Vec<u8> {
    let mut bytes = vec![0xa1];
    cbor_text(&mut bytes, "observations");
    cbor_head(&mut bytes, 0x80, count);
    for index in 0..count {
        let (stream, value) = batch_row(index);
        bytes.push(0xa3);
        cbor_text(&mut bytes, "topic");
        cbor_text(&mut bytes, &format!("bench/batch/{stream}"));
        cbor_text(&mut bytes, "value");
        bytes.push(0xfb);
        bytes.extend_from_slice(&value.to_be_bytes());
        cbor_text(&mut bytes, "time");
        bytes.push(0xc0);
        cbor_text(&mut bytes, &format!("{date}T{TIME_BLANK}Z"));
    }
    bytes
}

fn batch_row(index: usize) -> (usize, f64) {
    (
        index % BATCH_DATASTREAMS,
        20.0 + (index * 37 % 1000) as f64 / 100.0,
    )
}

fn cbor_head(bytes: &mut Vec<u8>, major: u8, argument: usize) {
    match argument {
        0..=23 => bytes.push(major | argument as u8),
        24..=255 => bytes.extend_from_slice(&[major | 24, argument as u8]),
        _ => {
            bytes.push(major | 25);
            bytes.extend_from_slice(&(argument as u16).to_be_bytes());
        }
    }
}

fn cbor_text(bytes: &mut Vec<u8>, text: &str) {
    cbor_head(bytes, 0x60, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn write_digits(out: &mut [u8], mut number: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

fn write_time(out: &mut [u8], time_us: u64) {
    let seconds = time_us / 1_000_000;
    write_digits(&mut out[9..15], time_us % 1_000_000);
    write_digits(&mut out[6..8], seconds % 60);
    write_digits(&mut out[3..5], seconds / 60 % 60);
    write_digits(&mut out[0..2], seconds / 3600);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn wire() -> PublishWire {
        PublishWire::Http {
            head: "POST /live/x HTTP/1.1\r\nHost: x\r\n".into(),
        }
    }

    fn payload(message: &[u8]) -> &[u8] {
        &message[memchr::memmem::find(message, b"\r\n\r\n").unwrap() + 4..]
    }

    #[test]
    fn every_message_carries_its_own_due_time() {
        let mut template = Template::new(&wire(), Body::Stamped);
        for due in [0, 42, 7_999_999_999_999] {
            let mut out = Vec::new();
            template.write(due, 0, &mut out);
            let json: serde_json::Value = serde_json::from_slice(payload(&out)).unwrap();
            assert_eq!(json["observations"][0]["value"], STAMP_BASE + due);
        }
    }

    #[test]
    fn a_batch_has_its_observations_at_distinct_times() {
        let mut out = Vec::new();
        Template::new(&wire(), Body::JsonBatch(100)).write(0, 0, &mut out);
        let json: serde_json::Value = serde_json::from_slice(payload(&out)).unwrap();
        let rows = json["observations"].as_array().unwrap();
        let times: std::collections::HashSet<_> = rows.iter().map(|r| r["time"].as_str()).collect();
        assert_eq!((rows.len(), times.len()), (100, 100));
    }
}
