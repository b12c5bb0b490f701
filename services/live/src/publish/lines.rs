//! A message of the line protocol of which a part cannot be taken: the rest is, so that a client that sends what was
//! refused again and again, as Telegraf does, does not stand still for one line or for the number of its series.
//!
//! The decision worth arguing: where something is taken the answer is 200 and says what is not. By 400, which
//! InfluxDB has for it, Telegraf's `outputs.http` would send the whole again for ever.

use super::send;
use crate::fault::from_hub;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_codec::Parts;
use weir_hub::limits::NEW_DATASTREAMS_MAX;
use weir_hub::{Fault, Hub, Publish, Ticket};
use weir_model::Limits;
use weir_service::{Answer, Call, Pending, Response};

/// What takes a message apart.
type Part = fn(&[u8], usize, &Limits) -> Parts;

/// Publishes what can be taken of a message that was refused as a whole.
pub(super) fn publish(
    hub: &Arc<Hub>,
    call: &Call,
    part: Part,
    whole: &Publish,
    refused: &Fault,
) -> Result<Answer, Response> {
    let refusal = |fault: &Fault| from_hub(fault, &call.body);
    if !may_be_parted(refused) {
        return Err(refusal(refused));
    }
    let made = part(&whole.body, NEW_DATASTREAMS_MAX, &Limits::default());
    let is_another = made.parts.len() > 1 || made.refused_count > 0;
    if made.parts.is_empty() || !is_another {
        return Err(refusal(refused));
    }
    let said = said(&made, call);
    let mut tickets = Vec::with_capacity(made.parts.len());
    for (number, part) in made.parts.into_iter().enumerate() {
        let part = Publish {
            key: key(whole, number),
            body: part.into(),
            ..whole.clone()
        };
        // What was taken before is taken again with the rest: a line is an observation, not a step.
        tickets.push(send(hub, call, part).map_err(|fault| refusal(&fault))?);
    }
    Ok(Answer::Later(Box::new(Acknowledge { tickets, said })))
}

/// Whether a part of it may be taken though the whole is not; a whole that was taken in parts has its key used.
fn may_be_parted(refused: &Fault) -> bool {
    matches!(
        refused,
        Fault::Undecodable { .. } | Fault::OverLimit { .. } | Fault::KeyReused(_)
    )
}

/// The key of a part: the first has that of the whole.
fn key(whole: &Publish, number: usize) -> Option<Vec<u8>> {
    let mut key = whole.key.clone()?;
    if number > 0 {
        key.extend_from_slice(format!("/{number}").as_bytes());
    }
    Some(key)
}

/// What is not taken, in a sentence; nothing where all is.
fn said(made: &Parts, call: &Call) -> Option<String> {
    let first = made.refused.as_ref()?;
    let (line, column) = first.position(&call.body);
    let (refused, all) = (made.refused_count, made.taken_count + made.refused_count);
    let count = match refused {
        1 => format!("1 line of {all} is not taken"),
        _ => format!("{refused} lines of {all} are not taken, the first of them here"),
    };
    Some(format!("{count}: {first} (line {line}, column {column})"))
}

/// 204 once all parts are committed; 200 where something was left out.
struct Acknowledge {
    tickets: Vec<Ticket>,
    said: Option<String>,
}

impl Pending for Acknowledge {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        let mut last = None;
        for ticket in &self.tickets {
            match ready!(ticket.poll(cx)) {
                Ok(cursor) => last = Some(cursor),
                Err(fault) => return Poll::Ready(from_hub(&fault, &[])),
            }
        }
        let response = match self.said.take() {
            Some(said) => Response::text(200, said),
            None => Response::empty(204),
        };
        Poll::Ready(match last {
            Some(cursor) => response.header("weir-cursor", cursor.to_string()),
            None => response,
        })
    }
}
