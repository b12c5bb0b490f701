//! The methods that a broker sends (section 1.3 and the class reference).

use super::reader::{Fault, Reader};
use alloc::string::String;
use alloc::vec::Vec;

/// Why a broker closes a connection or a channel, or returns a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The reply code (section 1.2, Constants).
    pub code: u16,
    /// Its words.
    pub text: String,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// `connection.start`.
    Start {
        /// Security mechanisms.
        mechanisms: String,
        /// What the broker says it is.
        product: String,
    },
    /// `connection.secure`.
    Secure,
    /// `connection.tune`.
    Tune {
        /// Bytes of a frame; 0 for any.
        frame_max: u32,
        /// Seconds between heartbeats; 0 for none.
        heartbeat: u16,
    },
    /// `connection.open-ok`.
    Opened,
    /// `connection.close`.
    Close(Reply),
    /// `connection.close-ok`.
    Closed,
    /// `connection.blocked` (RabbitMQ's extension).
    Blocked(String),
    /// `connection.unblocked`.
    Unblocked,
    /// `channel.flow`.
    Flow(bool),
    /// `channel.close`.
    ChannelClose(Reply),
    /// `queue.declare-ok`: its name.
    Declared(String),
    /// `basic.cancel`: the broker ends a consumer (RabbitMQ's extension).
    Cancelled,
    /// `basic.deliver`.
    Deliver {
        /// The number by which it is acknowledged.
        tag: u64,
        /// Whether it came before.
        redelivered: bool,
        /// The routing key.
        key: String,
    },
    /// `basic.return`.
    Return(Reply),
    /// `basic.ack` of a publisher's messages (RabbitMQ's extension).
    Acked {
        /// The number of the message since `confirm.select`.
        tag: u64,
        /// Whether all before it are meant too.
        multiple: bool,
    },
    /// `basic.nack` of a publisher's messages.
    Nacked {
        /// As of [`Method::Acked`].
        tag: u64,
        /// As of [`Method::Acked`].
        multiple: bool,
    },
    /// Another, which says no more than that it came: class and method.
    Done(u16, u16),
}

impl Method {
    /// Reads the payload of a method frame.
    pub fn read(payload: &[u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(payload);
        let id = (reader.u16()?, reader.u16()?);
        Ok(match id {
            (10, 10) => start(&mut reader)?,
            (10, 20) => Self::Secure,
            (10, 30) => {
                reader.u16()?;
                let (frame_max, heartbeat) = (reader.u32()?, reader.u16()?);
                Self::Tune {
                    frame_max,
                    heartbeat,
                }
            }
            (10, 41) => Self::Opened,
            (10, 50) => Self::Close(reply(&mut reader)?),
            (10, 51) => Self::Closed,
            (10, 60) => Self::Blocked(reader.short()?),
            (10, 61) => Self::Unblocked,
            (20, 20) => Self::Flow(reader.u8()? & 1 != 0),
            (20, 40) => Self::ChannelClose(reply(&mut reader)?),
            (50, 11) => Self::Declared(reader.short()?),
            (60, 30) => Self::Cancelled,
            (60, 50) => Self::Return(reply(&mut reader)?),
            (60, 60) => deliver(&mut reader)?,
            (60, 80) => {
                let (tag, multiple) = tag(&mut reader)?;
                Self::Acked { tag, multiple }
            }
            (60, 120) => {
                let (tag, multiple) = tag(&mut reader)?;
                Self::Nacked { tag, multiple }
            }
            (class, method) => Self::Done(class, method),
        })
    }
}

fn start(reader: &mut Reader<'_>) -> Result<Method, Fault> {
    reader.take(2)?;
    let properties: Vec<(String, String)> = reader.table()?;
    let mechanisms = String::from_utf8_lossy(reader.long()?).into_owned();
    let product = properties.into_iter().find(|(name, _)| name == "product");
    Ok(Method::Start {
        mechanisms,
        product: product.map_or_else(String::new, |(_, product)| product),
    })
}

fn reply(reader: &mut Reader<'_>) -> Result<Reply, Fault> {
    Ok(Reply {
        code: reader.u16()?,
        text: reader.short()?,
    })
}

fn deliver(reader: &mut Reader<'_>) -> Result<Method, Fault> {
    reader.short()?;
    let (tag, redelivered) = tag(reader)?;
    reader.short()?;
    Ok(Method::Deliver {
        tag,
        redelivered,
        key: reader.short()?,
    })
}

fn tag(reader: &mut Reader<'_>) -> Result<(u64, bool), Fault> {
    Ok((reader.u64()?, reader.u8()? & 1 != 0))
}
