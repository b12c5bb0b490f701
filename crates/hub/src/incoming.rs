//! A message read and checked, on its way to the log; and what becomes of one for whose observations there is no room.

use crate::access::{Principal, Verb};
use crate::attributes::{Block, BlockBytes};
use crate::checks;
use crate::client::ClientId;
use crate::decoded::{Decoded, Unread};
use crate::descriptions::{self, Known};
use crate::fault::Fault;
use crate::hub::Core;
use crate::message::{Message, shared};
use crate::room;
use crate::state::keys;
use crate::trace::Traced;
use bytes::Bytes;
use weir_codec::Format;
use weir_model::Time;
use weir_storage::{Kind, Record};

/// A message read and checked, on its way to the log.
pub(crate) struct Incoming {
    pub(crate) topic: String,
    pub(crate) content: Decoded,
    pub(crate) body: Bytes,
    pub(crate) key: Vec<u8>,
    /// Of media and body, where there is a key.
    pub(crate) fingerprint: u64,
    pub(crate) origin: String,
    /// What goes with it, and the same as the log keeps it.
    pub(crate) block: Block,
    pub(crate) attributes: BlockBytes,
    pub(crate) client: Option<ClientId>,
    pub(crate) retain: bool,
    pub(crate) trace: Traced,
    /// Whether its bytes are kept where what they say cannot be.
    pub(crate) may_be_bytes: bool,
    /// Whether a refusal reaches its publisher.
    pub(crate) is_answered: bool,
    /// What of it is not understood.
    pub(crate) unread: Option<Box<Unread>>,
}

impl Incoming {
    /// Checks that there is room for it; where there is none for its observations, there may be for its bytes. Gives
    /// which of its datastreams are known.
    #[inline]
    pub(crate) fn fit(
        &mut self,
        now: Time,
        principal: &Principal,
        core: &Core,
    ) -> Result<Known, Fault> {
        if self.retain && !self.body.is_empty() {
            core.retained.check_room(&self.topic)?;
        }
        if let Decoded::Observations(batch, _) = &self.content {
            let checked = checks::check_new(principal, &core.catalog, batch)
                .and_then(|()| room::check_batch(&core.catalog, batch))
                .and_then(|()| descriptions::check(&core.catalog, batch, now));
            match checked {
                Err(fault)
                    if self.is_kept_for(&fault)
                        && principal.grants.allow(Verb::Publish, &self.topic) =>
                {
                    self.become_bytes(fault)?;
                }
                checked => return checked,
            }
        }
        if !self.body.is_empty() {
            checks::check_full(&core.catalog, &self.topic)?;
        }
        Ok(Known::new())
    }

    /// Says whether its bytes are kept where its observations are refused for this. What contradicts a declaration is
    /// understood all too well: whoever can be told of that is.
    fn is_kept_for(&self, fault: &Fault) -> bool {
        let is_told = self.is_answered && matches!(fault, Fault::Contradicted { .. });
        self.may_be_bytes && !is_told
    }

    /// Goes on as bytes, and why.
    fn become_bytes(&mut self, fault: Fault) -> Result<(), Fault> {
        if !self.key.is_empty() {
            self.fingerprint = self.fingerprint_of_bytes();
        }
        self.content = Decoded::bytes(&self.block.attributes);
        self.block.opaque = self.retain;
        self.attributes = self.block.checked()?;
        self.unread = Some(Box::new(Unread::Fault(fault)));
        Ok(())
    }

    pub(crate) fn fingerprint_of_bytes(&self) -> u64 {
        keys::fingerprint(Decoded::bytes(&self.block.attributes).media(), &self.body)
    }

    #[inline]
    pub(crate) fn record<'a>(&'a self, now: Time, kind: Kind, media: &'a str) -> Record<'a> {
        Record {
            kind: if self.retain { Kind::Retained } else { kind },
            arrival: now,
            topic: &self.topic,
            media,
            key: &self.key,
            origin: &self.origin,
            attributes: &self.attributes,
            body: &self.body,
        }
    }

    /// Gives what goes with it to the message that it becomes.
    #[inline]
    pub(crate) fn message(&mut self, mut message: Message) -> Message {
        message.body = std::mem::take(&mut self.body);
        message.origin = shared(&self.origin);
        message.client = self.client;
        message.take(Block {
            attributes: std::mem::take(&mut self.block.attributes),
            ..self.block
        });
        message.retain = self.retain;
        message.trace = self.trace.clone();
        message
    }
}

/// The format that a body which is in none was meant to be in, as far as its beginning says: so that it is told why.
pub(crate) fn looks_like(body: &[u8]) -> Option<&'static Format> {
    let first = body.trim_ascii_start().first();
    let is_json = first.is_some_and(|first| matches!(first, b'{' | b'['));
    weir_codec::by_name("json").filter(|_| is_json)
}
