//! From a bridge to the log: published as any client would, whatever the message says of itself.

use crate::Gateway;
use bytes::Bytes;
use weir_hub::{Fault, LogFault, Media, Publish, Ticket};

/// What became of a message.
pub enum Taken {
    /// It is in the log, and on disk once this says so.
    Logged(Ticket),
    /// The log takes nothing now: to be tried again.
    Busy,
    /// The gateway is stopping, or its log has failed.
    Over,
    /// It is never taken, and why.
    Refused(String),
}

/// A message of bytes that nobody looks into.
pub fn opaque(topic: &str, content_type: Option<&str>, payload: Bytes) -> Publish {
    let media = content_type.unwrap_or("application/octet-stream");
    Publish::new(topic, Media::Opaque(media.into()), payload)
}

/// Publishes a message. A content type that its body belies does not stop it: it is bytes then, as nobody on the other
/// side could be told.
pub fn give(context: &dyn Gateway, mut publish: Publish) -> Taken {
    if let Media::Format(format) = publish.media {
        publish.media = Media::Claimed(format);
    }
    loop {
        let gateway = context.hub().internal().at(context.now());
        match gateway.publish(publish.clone()) {
            Ok(ticket) => return Taken::Logged(ticket),
            // Another message than the one that was given this number before a crash.
            Err(Fault::KeyReused(_)) if publish.key.is_some() => publish.key = None,
            Err(fault) if fault.is_for_now() => return Taken::Busy,
            Err(Fault::Log(LogFault::Unavailable(_))) => return Taken::Busy,
            Err(Fault::Stopping | Fault::Log(_)) => return Taken::Over,
            Err(fault) => return Taken::Refused(fault.to_string()),
        }
    }
}
