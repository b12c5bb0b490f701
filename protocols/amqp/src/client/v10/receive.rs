//! What comes from the peer.

use super::opening::Phase;
use super::peer::Peer;
use super::{Client, TAKEN_BYTES_MAX};
use crate::client::{ClientEvent, ClosedKind, is_of_a_topic};
use crate::limits::INCOMING_WINDOW;
use crate::wire::{
    Condition, DeliveryState, Disposition, Error, Fault, FrameHeader, Framed, HEADER_BYTES,
    Performative, ProtocolHeader, Role, Sasl, Transfer, frame,
};
use alloc::format;
use alloc::string::{String, ToString};

/// Conditions by which a peer refuses a user.
const DENIED: [Condition; 2] = [Condition::UNAUTHORIZED_ACCESS, Condition::NOT_ALLOWED];
/// Conditions by which a peer refuses a message with its link, its session or all.
const OF_MESSAGE: [Condition; 4] = [
    Condition::MESSAGE_SIZE_EXCEEDED,
    Condition::PRECONDITION_FAILED,
    Condition::FRAMING_ERROR,
    Condition::DECODE_ERROR,
];

impl Client {
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        let mut all = core::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut at = 0;
        while self.phase != Phase::Over {
            match self.first(&all[at..]) {
                Ok(0) => break,
                Ok(length) => at += length,
                Err(fault) => self.end(
                    ClosedKind::Lost,
                    &format!(
                        "the peer breaks a rule: {} (byte {})",
                        fault.rule, fault.offset
                    ),
                ),
            }
        }
        all.drain(..at);
        self.rest = all;
    }

    /// Hears what stands first; its length, or 0 while it is not whole.
    fn first(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        if self.phase.is_header() {
            let Some((header, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
                return Ok(0);
            };
            self.header(ProtocolHeader::read(header));
            return Ok(HEADER_BYTES);
        }
        match frame(bytes, TAKEN_BYTES_MAX as usize)? {
            Framed::Incomplete => Ok(0),
            Framed::Whole(header) => {
                self.frame(&header, &bytes[..header.end])?;
                Ok(header.end)
            }
        }
    }

    fn frame(&mut self, header: &FrameHeader, bytes: &[u8]) -> Result<(), Fault> {
        if header.is_sasl {
            self.sasl(Sasl::read(header, bytes)?);
            return Ok(());
        }
        let Some((performative, payload)) = Performative::read(header, bytes)? else {
            return Ok(());
        };
        self.hear(performative, payload);
        Ok(())
    }

    fn hear(&mut self, performative: Performative, payload: &[u8]) {
        match performative {
            Performative::Open(open) if self.phase == Phase::Open => self.opened(&open),
            Performative::Begin(begin) if self.phase == Phase::Begin => self.begun(&begin),
            Performative::Attach(attach) => self.attached(&attach),
            Performative::Flow(flow) => {
                self.way.flow(&flow);
                self.way.go_on(&mut self.out);
                if flow.echo {
                    self.answer_flow();
                }
            }
            Performative::Transfer(transfer) => self.transfer(&transfer, payload),
            Performative::Disposition(disposition) => self.disposition(disposition),
            Performative::Detach(detach) if self.ended(&detach) => {}
            Performative::Detach(detach) => self.refused("the link", detach.error),
            Performative::End(error) => self.refused("the session", error),
            Performative::Close(error) => {
                self.write(&Performative::Close(None));
                self.refused("the connection", error);
            }
            Performative::Open(_) | Performative::Begin(_) => {
                self.end(ClosedKind::Lost, "the peer opens what is open");
            }
        }
    }

    fn answer_flow(&mut self) {
        if !self.links.is_empty() {
            self.grant(0);
        }
    }

    fn refused(&mut self, what: &str, error: Option<Error>) {
        let (condition, description) = match error {
            Some(error) => (error.condition.as_str().to_string(), error.description),
            None => (String::new(), None),
        };
        let description = description.unwrap_or_default();
        let is_one = |of: &[Condition]| of.iter().any(|one| one.0 == condition);
        let is_of_one = is_one(&OF_MESSAGE) || (is_one(&DENIED) && is_of_a_topic(&description));
        let kind = match () {
            () if self.phase == Phase::Ready && is_of_one => ClosedKind::Message,
            () if is_one(&DENIED) => ClosedKind::Refused,
            () => ClosedKind::Lost,
        };
        self.end(
            kind,
            &format!("the peer ends {what}: {condition} {description}"),
        );
    }

    fn transfer(&mut self, transfer: &Transfer, payload: &[u8]) {
        self.next_incoming.0 = self.next_incoming.0.wrapping_add(1);
        self.next_incoming.1 += 1;
        let link = self
            .links
            .iter()
            .position(|link| link.handle == transfer.handle);
        let Some(link) = link else {
            return self.end(
                ClosedKind::Lost,
                "a transfer comes on a link that is not attached",
            );
        };
        if let Some(whole) = self.links[link].take(transfer, payload) {
            self.links[link].unsettled += 1;
            self.unsettled.push_back((whole.id, link, whole.settled));
            let event = whole.event(self.peer, &self.options.exchange);
            self.events.push_back(event);
        }
        if self.next_incoming.1 >= INCOMING_WINDOW / 2 {
            self.grant(link);
        }
    }

    fn disposition(&mut self, disposition: Disposition) {
        if disposition.role == Role::Sender {
            return;
        }
        let is_returned = matches!(
            disposition.state,
            Some(DeliveryState::Released | DeliveryState::Modified { .. })
        );
        let outcome = match &disposition.state {
            Some(DeliveryState::Rejected(error)) => Err(rejected(error.as_ref())),
            // RabbitMQ 4 releases what no queue is bound for, and confirms it by 0.9.1.
            Some(DeliveryState::Released) if self.peer == Peer::RabbitMq => Ok(()),
            Some(DeliveryState::Released) => Err("the peer does not look at it".to_string()),
            Some(DeliveryState::Modified { .. }) => Err("the peer wants it changed".to_string()),
            Some(state) if !state.is_terminal() && !disposition.settled => return,
            _ => Ok(()),
        };
        let (first, last) = (
            disposition.first,
            disposition.last.unwrap_or(disposition.first),
        );
        for token in self.way.settled(first, last) {
            self.events.push_back(match outcome.clone() {
                Err(reason) if is_returned => ClientEvent::Returned(token, reason),
                outcome => ClientEvent::Confirmed(token, outcome),
            });
        }
        if !disposition.settled {
            let settled = Disposition {
                role: Role::Sender,
                settled: true,
                ..disposition
            };
            self.write(&Performative::Disposition(settled));
        }
    }
}

fn rejected(error: Option<&Error>) -> String {
    match error {
        None => "the peer rejects it".into(),
        Some(error) => {
            let description = error.description.as_deref().unwrap_or("");
            format!(
                "the peer rejects it: {} {description}",
                error.condition.as_str()
            )
        }
    }
}
