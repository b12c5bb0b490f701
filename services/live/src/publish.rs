//! `POST /live/{topic}`: stored, then acknowledged.

mod lines;

use crate::fault::{from_hub, refuse};
use crate::query::{decode_path, media_types};
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_codec::Format;
use weir_hub::{Hub, Media, Publish, Ticket};
use weir_service::{Answer, Call, Pending, Response};

/// Publishes the body; 204 once it is on disk.
pub(crate) fn publish(hub: &Arc<Hub>, call: Call, rest: &str) -> Result<Answer, Response> {
    let (topic, media) = (decode_path(rest)?, media(&call)?);
    let parted = match media {
        Media::Format(format) => format.part.map(|part| (format, part)),
        _ => None,
    };
    let key = call.header("idempotency-key");
    let publish = Publish {
        key: key.map(|key| key.as_bytes().to_vec()),
        incoming: call.incoming,
        is_answered: true,
        ..Publish::new(topic, media, call.body.clone())
    };
    let caller = hub.caller(call.now, &call.principal);
    let caller = caller.map_err(|fault| from_hub(&fault, &call.body))?;
    if let Some(parted) = parted {
        return lines::publish(&caller, &call, parted, &publish);
    }
    match caller.publish(publish) {
        Ok(ticket) => Ok(Answer::Later(Box::new(Acknowledge { ticket }))),
        Err(fault) => Err(from_hub(&fault, &call.body)),
    }
}

/// What the body says it is. A form's content type is what clients send that were told nothing.
fn media(call: &Call) -> Result<Media, Response> {
    let declared = call.header("content-type").unwrap_or_default();
    if declared.is_empty() {
        return Ok(Media::Undeclared);
    }
    if declared.starts_with("application/x-www-form-urlencoded") {
        return Ok(Media::Format(looks_like(&call.body)));
    }
    weir_codec::by_media_of(declared, &call.body)
        .map(Media::Format)
        .ok_or_else(|| {
            refuse(
                415,
                format!("`{declared}` is not taken here; {} are", media_types()),
            )
        })
}

fn looks_like(body: &Bytes) -> &'static Format {
    let json = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
    let name = if json { "json" } else { "plain" };
    weir_codec::by_name(name).unwrap_or(&weir_codec::FORMATS[0])
}

/// 204 once the record is committed.
pub(crate) struct Acknowledge {
    pub(crate) ticket: Ticket,
}

impl Pending for Acknowledge {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        self.ticket.poll(cx).map(|done| match done {
            Ok(cursor) => Response::empty(204).header("weir-cursor", cursor.to_string()),
            Err(fault) => from_hub(&fault, &[]),
        })
    }
}
