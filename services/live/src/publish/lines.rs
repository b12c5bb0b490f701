//! A message of the line protocol of which a part cannot be taken: the rest is, so that a client that sends what was
//! refused again and again, as Telegraf does, does not stand still for one line or for the number of its series.
//!
//! Lines that cannot be read are left out first. Of the rest, what the hub refuses for what it says is halved until the
//! lines that it is refused for stand alone. The decision worth arguing: where something is taken the answer is 200
//! and says what is not. By 400, which InfluxDB has for it, Telegraf's `outputs.http` would send the whole again for
//! ever.

use super::Acknowledge;
use crate::fault::from_hub;
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use std::task::{Context, Poll, ready};
use weir_codec::{Format, Parts, position};
use weir_hub::limits::NEW_DATASTREAMS_MAX;
use weir_hub::{Caller, Fault, Publish, Ticket};
use weir_model::Limits;
use weir_service::{Answer, Call, Pending, Response};

/// What takes a message of a format apart.
pub(super) type Part = fn(&[u8], usize, &Limits) -> Parts;

/// Publishes a message, or what can be taken of it.
pub(super) fn publish(
    caller: &Caller<'_>,
    call: &Call,
    (format, part): (&'static Format, Part),
    whole: &Publish,
) -> Result<Answer, Response> {
    let refused = match caller.offer(whole.clone()) {
        Ok(ticket) => return Ok(Answer::Later(Box::new(Acknowledge { ticket }))),
        Err(fault) => fault,
    };
    let refuse = |fault: &Fault| {
        caller.refuse(whole, fault, 1);
        from_hub(fault, &call.body)
    };
    if !may_be_parted(&refused) {
        return Err(refuse(&refused));
    }
    let made = part(&whole.body, NEW_DATASTREAMS_MAX, &Limits::default());
    let mut taking = Taking::new(caller, whole);
    for part in &made.parts {
        taking.take(part).map_err(|fault| refuse(&fault))?;
    }
    taking.note_unreadable(made, format);
    match (&taking.first, taking.tickets.is_empty()) {
        (None, true) => Err(refuse(&refused)),
        (Some((_, first)), true) => Err(from_hub(first, &call.body)),
        (first, false) => {
            let said = first.as_ref().map(|(at, why)| taking.said(*at, why));
            Ok(taking.acknowledged(said))
        }
    }
}

/// Whether a part of it may be taken though the whole is not; a whole that was taken in parts has its key used.
fn may_be_parted(refused: &Fault) -> bool {
    is_of_lines(refused) || matches!(refused, Fault::Undecodable { .. } | Fault::KeyReused(_))
}

/// Whether it is for what a line says, so that it costs no other.
fn is_of_lines(refused: &Fault) -> bool {
    matches!(
        refused,
        Fault::OverLimit { .. } | Fault::Contradicted { .. } | Fault::Message(_)
    )
}

/// A message that is being taken in parts.
struct Taking<'a> {
    caller: &'a Caller<'a>,
    whole: &'a Publish,
    tickets: Vec<Ticket>,
    taken_count: usize,
    refused_count: usize,
    /// Why the first line that is not taken is not, and where it is.
    first: Option<(usize, Fault)>,
}

impl<'a> Taking<'a> {
    fn new(caller: &'a Caller<'a>, whole: &'a Publish) -> Self {
        Self {
            caller,
            whole,
            tickets: Vec::new(),
            taken_count: 0,
            refused_count: 0,
            first: None,
        }
    }

    /// Takes of these lines what can be taken; an error says why nothing more can be.
    fn take(&mut self, lines: &[Range<usize>]) -> Result<(), Fault> {
        let part = Publish {
            key: self.key(lines),
            body: self.body(lines),
            ..self.whole.clone()
        };
        // What was taken before is taken again with the rest: a line is an observation, not a step.
        let fault = match self.caller.offer(part) {
            Ok(ticket) => {
                self.tickets.push(ticket);
                self.taken_count += lines.len();
                return Ok(());
            }
            Err(fault) if may_be_parted(&fault) => fault,
            Err(fault) => return Err(fault),
        };
        if lines.len() > 1 {
            let (before, behind) = lines.split_at(lines.len() / 2);
            self.take(before)?;
            return self.take(behind);
        }
        if !is_of_lines(&fault) {
            return Err(fault);
        }
        self.caller.refuse(self.whole, &fault, 1);
        self.refused_count += 1;
        let at = lines.first().map_or(0, |line| line.start);
        self.first.get_or_insert((at, fault));
        Ok(())
    }

    fn body(&self, lines: &[Range<usize>]) -> Bytes {
        let mut body = BytesMut::new();
        for line in lines {
            body.extend_from_slice(&self.whole.body[line.clone()]);
        }
        body.freeze()
    }

    /// The key of a part: one that begins the message has that of the whole.
    fn key(&self, lines: &[Range<usize>]) -> Option<Vec<u8>> {
        let mut key = self.whole.key.clone()?;
        if let Some(line) = lines.first().filter(|line| line.start > 0) {
            key.extend_from_slice(format!("/{}", line.start).as_bytes());
        }
        Some(key)
    }

    /// Counts the lines that cannot be read.
    fn note_unreadable(&mut self, made: Parts, format: &Format) {
        let Some(error) = made.refused else {
            return;
        };
        let at = error.at;
        let format = format.name;
        let fault = Fault::Undecodable { format, error };
        (self.caller).refuse(self.whole, &fault, made.refused_count as u64);
        self.refused_count += made.refused_count;
        if self.first.as_ref().is_none_or(|(first, _)| at < *first) {
            self.first = Some((at, fault));
        }
    }

    /// What is not taken, in a sentence.
    fn said(&self, at: usize, first: &Fault) -> String {
        let (line, column) = position(&self.whole.body, at);
        let (refused, all) = (self.refused_count, self.taken_count + self.refused_count);
        let count = match refused {
            1 => format!("1 line of {all} is not taken"),
            _ => format!("{refused} lines of {all} are not taken, the first of them here"),
        };
        let why = match first {
            Fault::Undecodable { error, .. } => error.to_string(),
            other => other.to_string(),
        };
        format!("{count}: {why} (line {line}, column {column})")
    }

    fn acknowledged(self, said: Option<String>) -> Answer {
        Answer::Later(Box::new(AcknowledgeAll {
            tickets: self.tickets,
            said,
        }))
    }
}

/// 204 once all parts are committed; 200 where something was left out.
struct AcknowledgeAll {
    tickets: Vec<Ticket>,
    said: Option<String>,
}

impl Pending for AcknowledgeAll {
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
