//! The methods that a client sends.

use super::frame::{FrameKind, write_frame};
use alloc::string::String;
use alloc::vec::Vec;

/// What a client asks.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// `connection.start-ok`.
    StartOk {
        /// The security mechanism.
        mechanism: &'a str,
        /// Its first words.
        response: &'a [u8],
    },
    /// `connection.tune-ok`.
    TuneOk {
        /// Bytes of a frame.
        frame_max: u32,
        /// Seconds between heartbeats; 0 for none.
        heartbeat: u16,
    },
    /// `connection.open`.
    Open {
        /// The virtual host.
        host: &'a str,
    },
    /// `connection.close`.
    Close,
    /// `connection.close-ok`.
    CloseOk,
    /// `channel.open`.
    ChannelOpen,
    /// `channel.flow-ok`.
    FlowOk(bool),
    /// `channel.close-ok`.
    ChannelCloseOk,
    /// `exchange.declare` of a durable topic exchange.
    DeclareExchange(&'a str),
    /// `queue.declare`.
    DeclareQueue {
        /// Its name; empty for one that the broker makes up.
        name: &'a str,
        /// Whether it is kept without this connection and by a broker that starts again.
        durable: bool,
    },
    /// `queue.bind`.
    Bind {
        /// The queue.
        queue: &'a str,
        /// The exchange.
        exchange: &'a str,
        /// The pattern of routing keys.
        key: &'a str,
    },
    /// `queue.unbind`, of the same.
    Unbind {
        /// The queue.
        queue: &'a str,
        /// The exchange.
        exchange: &'a str,
        /// The pattern of routing keys.
        key: &'a str,
    },
    /// `basic.qos`.
    Prefetch(u16),
    /// `basic.consume`.
    Consume {
        /// The queue.
        queue: &'a str,
        /// Whether the broker takes messages for acknowledged when it sends them.
        settled: bool,
    },
    /// `basic.publish`.
    Publish {
        /// The exchange.
        exchange: &'a str,
        /// The routing key.
        key: &'a str,
    },
    /// `basic.ack`.
    Ack(u64),
    /// `basic.reject` of a message that is not to come again.
    Reject(u64),
    /// `confirm.select`.
    Confirm,
}

impl Request<'_> {
    /// Writes it as a frame. Methods of class 10 go by channel 0 (section 4.2.3), all others by channel 1.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (class, method) = self.id();
        let channel = u16::from(class != 10);
        write_frame(FrameKind::METHOD, channel, out, |out| {
            put_u16(class, out);
            put_u16(method, out);
            self.arguments(out);
        });
    }

    fn id(&self) -> (u16, u16) {
        match self {
            Self::StartOk { .. } => (10, 11),
            Self::TuneOk { .. } => (10, 31),
            Self::Open { .. } => (10, 40),
            Self::Close => (10, 50),
            Self::CloseOk => (10, 51),
            Self::ChannelOpen => (20, 10),
            Self::FlowOk(_) => (20, 21),
            Self::ChannelCloseOk => (20, 41),
            Self::DeclareExchange(_) => (40, 10),
            Self::DeclareQueue { .. } => (50, 10),
            Self::Bind { .. } => (50, 20),
            Self::Unbind { .. } => (50, 50),
            Self::Prefetch(_) => (60, 10),
            Self::Consume { .. } => (60, 20),
            Self::Publish { .. } => (60, 40),
            Self::Ack(_) => (60, 80),
            Self::Reject(_) => (60, 90),
            Self::Confirm => (85, 10),
        }
    }

    fn arguments(&self, out: &mut Vec<u8>) {
        match *self {
            Self::StartOk {
                mechanism,
                response,
            } => start_ok(mechanism, response, out),
            Self::TuneOk {
                frame_max,
                heartbeat,
            } => {
                // One channel is opened (tune-ok.channel-max).
                put_u16(1, out);
                out.extend_from_slice(&frame_max.to_be_bytes());
                put_u16(heartbeat, out);
            }
            Self::Open { host } => {
                put_short(host, out);
                out.extend_from_slice(&[0; 2]);
            }
            Self::Close => {
                put_u16(200, out);
                put_short("", out);
                out.extend_from_slice(&[0; 4]);
            }
            Self::CloseOk | Self::ChannelCloseOk => {}
            Self::ChannelOpen | Self::Confirm => out.push(0),
            Self::FlowOk(active) => out.push(active.into()),
            Self::DeclareExchange(_)
            | Self::DeclareQueue { .. }
            | Self::Bind { .. }
            | Self::Unbind { .. } => self.topology(out),
            Self::Prefetch(count) => {
                out.extend_from_slice(&[0; 4]);
                put_u16(count, out);
                out.push(0);
            }
            Self::Consume { queue, settled } => {
                put_u16(0, out);
                put_short(queue, out);
                put_short("", out);
                out.push(if settled { NO_ACK } else { 0 });
                put_table(&[], out);
            }
            Self::Publish { exchange, key } => {
                put_u16(0, out);
                put_short(exchange, out);
                put_short(key, out);
                out.push(0);
            }
            Self::Ack(tag) | Self::Reject(tag) => {
                out.extend_from_slice(&tag.to_be_bytes());
                out.push(0);
            }
        }
    }

    /// The arguments of what makes exchanges and queues.
    fn topology(&self, out: &mut Vec<u8>) {
        put_u16(0, out);
        match *self {
            Self::DeclareExchange(name) => {
                put_short(name, out);
                put_short("topic", out);
                out.push(DURABLE);
            }
            Self::DeclareQueue { name, durable } => {
                put_short(name, out);
                out.push(if durable {
                    DURABLE
                } else {
                    EXCLUSIVE | AUTO_DELETE
                });
            }
            Self::Bind {
                queue,
                exchange,
                key,
            } => {
                for text in [queue, exchange, key] {
                    put_short(text, out);
                }
                out.push(0);
            }
            Self::Unbind {
                queue,
                exchange,
                key,
            } => {
                for text in [queue, exchange, key] {
                    put_short(text, out);
                }
            }
            _ => return,
        }
        put_table(&[], out);
    }
}

/// Bits of `queue.declare` and `exchange.declare`.
const DURABLE: u8 = 1 << 1;
const EXCLUSIVE: u8 = 1 << 2;
const AUTO_DELETE: u8 = 1 << 3;
/// A bit of `basic.consume`.
const NO_ACK: u8 = 1 << 1;

/// Says what this client is and that it hears of alarms and of consumers that end.
fn start_ok(mechanism: &str, response: &[u8], out: &mut Vec<u8>) {
    write_sized(out, |out| {
        put_text("product", "weir", out);
        put_text("version", env!("CARGO_PKG_VERSION"), out);
        put_short("capabilities", out);
        out.push(b'F');
        write_sized(out, |out| {
            for name in [
                "publisher_confirms",
                "connection.blocked",
                "consumer_cancel_notify",
                "authentication_failure_close",
            ] {
                put_short(name, out);
                out.extend_from_slice(b"t\x01");
            }
        });
    });
    put_short(mechanism, out);
    put_long(response, out);
    put_short("en_US", out);
}

fn put_u16(value: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Writes a short string; who calls has made sure that it is one.
pub(super) fn put_short(text: &str, out: &mut Vec<u8>) {
    let bytes = &text.as_bytes()[..text.len().min(255)];
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

fn put_long(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn put_text(name: &str, text: &str, out: &mut Vec<u8>) {
    put_short(name, out);
    out.push(b'S');
    put_long(text.as_bytes(), out);
}

/// Writes a table of texts.
pub(super) fn put_table(entries: &[(String, String)], out: &mut Vec<u8>) {
    write_sized(out, |out| {
        for (name, text) in entries {
            put_text(name, text, out);
        }
    });
}

/// Writes how long what a function writes is, and that.
fn write_sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let size = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&size.to_be_bytes());
}
