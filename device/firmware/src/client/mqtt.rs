//! MQTT 3.1.1: publishes to a topic that it has subscribed to, as the paper's device does (section III).
//!
//! An exchange is settled when its message is acknowledged (PUBACK, or PUBCOMP) and, of QoS 2, the echo is
//! released as well.

use super::Micros;
use super::buffer::Buffer;
use super::order::Order;
use super::payload::Payload;
use super::talk::{Conversation, Fault, Progress};

/// Control packets (MQTT 3.1.1 section 2.2.1), with the flags that theirs must have.
const CONNECT: u8 = 0x10;
const CONNACK: u8 = 0x20;
const PUBLISH: u8 = 0x30;
const PUBACK: u8 = 0x40;
const PUBREC: u8 = 0x50;
const PUBREL: u8 = 0x62;
const PUBCOMP: u8 = 0x70;
const SUBSCRIBE: u8 = 0x82;
const SUBACK: u8 = 0x90;

const CLIENT: &[u8] = b"board";
const SUBSCRIPTION: u16 = 1;

/// A client that is publisher and subscriber.
pub(crate) struct Mqtt {
    order: Order,
    qos: u8,
    payload: Option<Payload>,
    progress: Progress,
    /// The message of the server that it has not released, of QoS 2.
    unreleased: Option<u16>,
}

impl Mqtt {
    pub(crate) fn new(order: Order, qos: u8) -> Self {
        Self {
            order,
            qos,
            payload: None,
            progress: Progress::default(),
            unreleased: None,
        }
    }

    fn subscribe(&self, out: &mut Buffer) {
        let topic = self.order.target.bytes();
        head(SUBSCRIBE, 2 + 2 + topic.len() + 1, out);
        out.push(&SUBSCRIPTION.to_be_bytes());
        string(topic, out);
        out.push(&[self.qos]);
    }

    /// The packet's identifier of a payload.
    fn identifier(payload: Payload) -> u16 {
        (payload.number % 60_000) as u16 + SUBSCRIPTION + 1
    }

    fn is_own(&self, body: &[u8]) -> bool {
        let own = self.payload.map(|it| Self::identifier(it).to_be_bytes());
        own.is_some_and(|own| body == own)
    }

    fn take(&mut self, kind: u8, body: &[u8], out: &mut Buffer) -> Result<(), Fault> {
        match (kind & 0xf0, body) {
            (CONNACK, [_, 0]) => self.subscribe(out),
            (SUBACK, [_, _, granted]) if *granted == self.qos => self.progress.is_open = true,
            (CONNACK | SUBACK, _) => return Err(Fault::Refused),
            (PUBLISH, _) => return self.published(kind, body, out),
            (PUBACK | PUBCOMP, _) if self.is_own(body) => self.progress.is_acknowledged = true,
            (PUBREC, _) if self.is_own(body) => answer(PUBREL, body, out),
            (0x60, [high, low]) => {
                answer(PUBCOMP, body, out);
                if self.unreleased == Some(u16::from_be_bytes([*high, *low])) {
                    self.unreleased = None;
                }
            }
            // What comes late of an exchange before.
            (PUBACK | PUBREC | PUBCOMP, _) => {}
            _ => return Err(Fault::Malformed),
        }
        Ok(())
    }

    fn published(&mut self, kind: u8, body: &[u8], out: &mut Buffer) -> Result<(), Fault> {
        let qos = kind >> 1 & 3;
        let (length, rest) = body.split_first_chunk::<2>().ok_or(Fault::Malformed)?;
        let topic = usize::from(u16::from_be_bytes(*length));
        let mut text = rest.get(topic..).ok_or(Fault::Malformed)?;
        if qos > 0 {
            let (identifier, behind) = text.split_first_chunk::<2>().ok_or(Fault::Malformed)?;
            answer(if qos == 1 { PUBACK } else { PUBREC }, identifier, out);
            self.unreleased = (qos == 2).then_some(u16::from_be_bytes(*identifier));
            text = behind;
        }
        if self.payload.is_some_and(|payload| payload.is(text)) {
            self.progress.is_echoed = true;
        }
        Ok(())
    }
}

impl Conversation for Mqtt {
    fn open(&mut self, _now: Micros, out: &mut Buffer) {
        head(CONNECT, 6 + 1 + 1 + 2 + 2 + CLIENT.len(), out);
        string(b"MQTT", out);
        // Protocol level 4, clean session, no keep-alive.
        out.push(&[4, 2, 0, 0]);
        string(CLIENT, out);
    }

    fn hear(&mut self, heard: &[u8], out: &mut Buffer) -> Result<usize, Fault> {
        let Some((kind, begin, length)) = whole(heard)? else {
            return Ok(0);
        };
        let Some(body) = heard.get(begin..begin + length) else {
            return Ok(0);
        };
        self.take(kind, body, out)?;
        Ok(begin + length)
    }

    fn say(&mut self, _now: Micros, payload: Payload, out: &mut Buffer) {
        self.payload = Some(payload);
        self.progress.is_echoed = false;
        self.progress.is_acknowledged = self.qos == 0;
        let topic = self.order.target.bytes();
        let identifier = if self.qos > 0 { 2 } else { 0 };
        head(
            PUBLISH | self.qos << 1,
            2 + topic.len() + identifier + payload.length,
            out,
        );
        string(topic, out);
        if self.qos > 0 {
            out.push(&Self::identifier(payload).to_be_bytes());
        }
        payload.write(out);
    }

    fn progress(&self) -> Progress {
        Progress {
            is_acknowledged: self.progress.is_acknowledged && self.unreleased.is_none(),
            ..self.progress
        }
    }
}

/// The fixed header (section 2.2); no packet of ours is longer than two digits of 7 bits can say.
fn head(kind: u8, length: usize, out: &mut Buffer) {
    let (low, high) = ((length & 127) as u8, (length >> 7) as u8);
    match high {
        0 => out.push(&[kind, low]),
        _ => out.push(&[kind, low | 128, high]),
    }
}

fn string(text: &[u8], out: &mut Buffer) {
    out.push(&(text.len() as u16).to_be_bytes());
    out.push(text);
}

fn answer(kind: u8, identifier: &[u8], out: &mut Buffer) {
    out.push(&[kind, 2]);
    out.push(identifier);
}

/// Kind, and where the body begins and how long it is; nothing where that is not there yet.
fn whole(heard: &[u8]) -> Result<Option<(u8, usize, usize)>, Fault> {
    let Some((&kind, rest)) = heard.split_first() else {
        return Ok(None);
    };
    let mut length = 0;
    for (place, &digit) in rest.iter().take(3).enumerate() {
        length |= usize::from(digit & 127) << (7 * place);
        if digit < 128 {
            return Ok(Some((kind, place + 2, length)));
        }
    }
    match rest.len() {
        0..3 => Ok(None),
        _ => Err(Fault::TooLong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &[u8] =
        b"id=1 protocol=mqtt-qos-2 server=10.9.0.1:1883 payload=3 packets=1 warm-up=0 \
                           rest-ms=0 wait-ms=1 target=a/b peer=echo";

    fn opened(qos: u8) -> (Mqtt, Buffer) {
        let mut mqtt = Mqtt::new(Order::read(ORDER).unwrap(), qos);
        let mut out = Buffer::new();
        mqtt.open(0, &mut out);
        assert_eq!(out.bytes(), b"\x10\x11\0\x04MQTT\x04\x02\0\0\0\x05board");
        out.clear();
        assert_eq!(mqtt.hear(&[0x20, 2, 0], &mut out), Ok(0));
        assert_eq!(mqtt.hear(&[0x20, 2, 0, 0], &mut out), Ok(4));
        assert_eq!(
            out.bytes(),
            [&[0x82, 8, 0, 1, 0, 3][..], b"a/b", &[qos]].concat()
        );
        assert_eq!(mqtt.hear(&[0x90, 3, 0, 1, qos, 0x30], &mut out), Ok(5));
        assert!(mqtt.progress().is_open);
        out.clear();
        (mqtt, out)
    }

    #[test]
    fn with_qos_0_the_echo_settles_the_exchange() {
        let (mut mqtt, mut out) = opened(0);
        let payload = Payload {
            length: 3,
            number: 2,
        };
        mqtt.say(0, payload, &mut out);
        assert_eq!(out.bytes(), b"\x30\x08\0\x03a/bdbb");
        let echo = out.bytes().to_vec();
        assert_eq!(
            mqtt.hear(b"\x30\x08\0\x03a/bcbb", &mut Buffer::new()),
            Ok(10)
        );
        assert!(!mqtt.progress().is_echoed);
        assert_eq!(mqtt.hear(&echo, &mut Buffer::new()), Ok(echo.len()));
        assert!(mqtt.progress().is_echoed && mqtt.progress().is_acknowledged);
    }

    #[test]
    fn with_qos_2_both_ways_are_released() {
        let (mut mqtt, mut out) = opened(2);
        mqtt.say(
            0,
            Payload {
                length: 3,
                number: 2,
            },
            &mut out,
        );
        out.clear();
        let own = [0, 4];
        let rounds: [(&[u8], &[u8], bool); 4] = [
            (&[0x50, 2, 0, 4], &[0x62, 2, 0, 4], false),
            (b"\x34\x0a\0\x03a/b\0\x09dbb", &[0x50, 2, 0, 9], false),
            (&[0x70, 2, 0, 4], &[], false),
            (&[0x62, 2, 0, 9], &[0x70, 2, 0, 9], true),
        ];
        assert!(mqtt.is_own(&own));
        for (said, answered, is_settled) in rounds {
            out.clear();
            assert_eq!(mqtt.hear(said, &mut out), Ok(said.len()));
            assert_eq!(out.bytes(), answered);
            assert_eq!(mqtt.progress().is_acknowledged, is_settled);
        }
    }

    #[test]
    fn who_grants_less_than_is_asked_refuses() {
        let mut mqtt = Mqtt::new(Order::read(ORDER).unwrap(), 2);
        let mut out = Buffer::new();
        assert_eq!(
            mqtt.hear(&[0x90, 3, 0, 1, 0], &mut out),
            Err(Fault::Refused)
        );
        assert_eq!(mqtt.hear(&[0x20, 2, 0, 5], &mut out), Err(Fault::Refused));
        assert_eq!(
            mqtt.hear(&[0x30, 255, 255, 255], &mut out),
            Err(Fault::TooLong)
        );
    }
}
