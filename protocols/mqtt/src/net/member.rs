//! A client that was accepted: who it is, what it subscribed to, and what waits for the disk.

use super::record::{Stored, StoredSubscription};
use super::service::Awaited;
use super::subscription::Subscribed;
use crate::session::{ConnectRequest, InFlight, Message, Server, Stage, State, Will};
use crate::wire::{ReasonCode, Version};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Context;
use weir_carrier::clock::now;
use weir_carrier::crowd::Place;
use weir_hub::{ClientId, Principal};
use weir_model::Cursor;
use weir_sansio::Instant;

/// In the place of a key: the message was taken, by a service for one, and is not to be taken again.
pub(super) const TAKEN: u64 = 0;

/// An accepted client; what is here goes with the connection only [MQTT-4.1.0-1].
pub(super) struct Member {
    pub(super) id: Arc<str>,
    pub(super) version: Version,
    pub(super) principal: Principal,
    /// What the hub knows its messages by, so that it can be spared them.
    pub(super) client: ClientId,
    pub(super) subscriptions: Vec<Subscribed>,
    pub(super) next_key: u32,
    /// QoS 1 and 2 messages that are on their way to the disk, in their order.
    pub(super) tickets: VecDeque<(Due, Awaited)>,
    /// A message that the log could not take yet, and its key; nothing is read meanwhile.
    pub(super) held: Option<(Box<Message>, Option<u64>)>,
    /// Keys of QoS 2 messages that came and are not released, by identifier.
    pub(super) receipts: Vec<(u16, u64)>,
    next_receipt: u64,
    /// Where the log says that the session is this gateway's; the beginning where nobody else could have it.
    pub(super) claim: Cursor,
    pub(super) will: Option<Box<Will>>,
    /// Seconds that the session lives on.
    pub(super) session_expiry_secs: u32,
    /// Whether the log holds a record of the session.
    pub(super) recorded: bool,
    /// Whether the session is other than its record says, and when that is mended.
    pub(super) changed: bool,
    pub(super) record_at: Instant,
    /// For which reasons it was said in the log that messages of it are set aside: a bit each.
    pub(super) said: u32,
    /// The same of subscriptions that are refused.
    pub(super) said_of_filters: u32,
    /// Which subscription is served first next time.
    pub(super) turn: usize,
    /// Where it waits for what others are told too.
    pub(super) place: Place,
}

/// What the client is told once something is on disk.
pub(super) enum Due {
    /// That its message of this identifier is there.
    Acknowledge(u16),
    /// That a service took its message.
    Posted(Box<Message>),
    /// That its release of this identifier is.
    Complete(u16),
    /// How the filters of its SUBSCRIBE went.
    Subscribed(u16, Vec<u8>),
    /// How the filters of its UNSUBSCRIBE went.
    Unsubscribed(u16, Vec<u8>),
    /// Nothing yet: its message is published then, under this key, which was drawn at that time.
    Publish(Box<Message>, u64, Instant),
}

impl Due {
    /// Tells the client.
    pub(super) fn tell(self, server: &mut Server) {
        match self {
            Self::Posted(message) => {
                server.acknowledge(message.packet_id, ReasonCode::SUCCESS, None);
            }
            Self::Acknowledge(id) => server.acknowledge(id, ReasonCode::SUCCESS, None),
            Self::Complete(id) => server.complete(id),
            Self::Subscribed(id, codes) => server.suback(id, &codes),
            Self::Unsubscribed(id, codes) => server.unsuback(id, &codes),
            Self::Publish(..) => {}
        }
    }
}

impl Member {
    /// A client that was accepted, without subscriptions; what it does not say of itself is given.
    pub(super) fn new(
        id: Arc<str>,
        principal: Principal,
        claim: Cursor,
        request: ConnectRequest,
    ) -> Self {
        Self {
            id,
            version: request.version,
            principal,
            client: ClientId::new(),
            subscriptions: Vec::new(),
            next_key: 1,
            tickets: VecDeque::new(),
            held: None,
            receipts: Vec::new(),
            next_receipt: first_receipt(),
            claim,
            will: request.will,
            session_expiry_secs: 0,
            recorded: false,
            changed: false,
            record_at: now(),
            said: 0,
            said_of_filters: 0,
            turn: 0,
            place: Place::default(),
        }
    }

    /// Says whether there may be more to take at once; what has nothing more wakes the connection when it has.
    pub(super) fn poll_more(&mut self, cx: &Context<'_>) -> bool {
        let told = self.place.waker(cx);
        let mut told = Context::from_waker(&told);
        let sources = self.subscriptions.iter_mut().map(|of| &mut of.source);
        sources.fold(false, |more, source| source.poll_more(&mut told) | more)
    }

    /// A key that no other message has.
    pub(super) fn draw_key(&mut self) -> u64 {
        self.next_receipt = self.next_receipt.wrapping_add(1).max(TAKEN + 1);
        self.next_receipt
    }

    /// The key of a QoS 2 message that came before.
    pub(super) fn key_of(&self, packet_id: u16) -> Option<u64> {
        let mut receipts = self.receipts.iter();
        let found = receipts.find(|(id, _)| *id == packet_id);
        found.map(|(_, key)| *key)
    }

    /// Notes the key of a QoS 2 message that came.
    pub(super) fn note_key(&mut self, packet_id: u16, key: u64) {
        self.receipts.retain(|(id, _)| *id != packet_id);
        self.receipts.push((packet_id, key));
    }

    /// Takes up the keys of messages that came before; of one that came to a gateway that gave none, all that is
    /// known is that it was taken.
    pub(super) fn take_up_keys(&mut self, stored: &Stored) {
        self.receipts.clone_from(&stored.receipts);
        for &id in &stored.state.received {
            if self.key_of(id).is_none() {
                self.note_key(id, TAKEN);
            }
        }
    }

    /// Whether the session outlives its connection.
    pub(super) fn is_kept(&self) -> bool {
        self.session_expiry_secs > 0
    }

    /// What the session is to be taken up with, as if its client had not left.
    pub(super) fn stored(&self, mut state: State) -> Stored {
        // QoS 1 messages of a share are whoever's comes first.
        let given_back = |of: &InFlight| {
            let mut shared = self.subscriptions.iter().filter(|of| of.is_shared());
            of.stage == Stage::Puback && shared.any(|sub| sub.key == of.token.subscription)
        };
        state.in_flight.retain(|of| !given_back(of));
        // One that waits for its turn here has no key yet: it comes again as if it were new.
        state.received.retain(|id| self.key_of(*id).is_some());
        let kept = self.subscriptions.iter().map(|of| StoredSubscription {
            filter: of.text.to_string(),
            options: of.options,
            identifier: of.identifier,
            wants_cursor: of.wants_cursor,
            key: of.key,
            delivered: of.position(),
        });
        Stored {
            owner: self.principal.name.to_string(),
            expiry_secs: self.session_expiry_secs,
            left: None,
            subscriptions: kept.collect(),
            state,
            will: self.will.clone(),
            connection: self.claim,
            receipts: self.receipts.clone(),
            claim: self.claim,
            doubtful: Cursor::START,
            put_off: None,
        }
    }
}

/// Where a connection begins to count its keys: somewhere, so that they are nobody else's.
fn first_receipt() -> u64 {
    weir_random::number()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member() -> Member {
        let request = ConnectRequest {
            version: Version::V5,
            clean_start: false,
            client_id: "x".into(),
            session_expiry_secs: 9,
            will: None,
            user_name: None,
            password: None,
            wants_response_information: false,
        };
        Member::new("x".into(), Principal::gateway(), Cursor::START, request)
    }

    /// What is left of it where these came and were not released.
    fn left(member: &Member, received: &[u16]) -> Stored {
        member.stored(State {
            received: received.to_vec(),
            ..State::default()
        })
    }

    #[test]
    fn what_was_given_no_key_yet_is_new_when_it_comes_again() {
        let mut member = member();
        let key = member.draw_key();
        member.note_key(7, key);
        let stored = left(&member, &[7, 8]);
        assert_eq!(
            (stored.state.received, stored.receipts),
            (vec![7], vec![(7, key)])
        );
    }

    #[test]
    fn what_came_to_a_gateway_that_gave_no_keys_was_taken() {
        let mut before = member();
        before.note_key(7, 5);
        let mut stored = left(&before, &[7]);
        stored.state.received.push(8);
        let mut member = member();
        member.take_up_keys(&stored);
        assert_eq!(
            [7, 8, 9].map(|id| member.key_of(id)),
            [Some(5), Some(TAKEN), None]
        );
        assert_eq!(left(&member, &[7, 8]).state.received, [7, 8]);
    }
}
