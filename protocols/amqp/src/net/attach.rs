//! Links that a client attaches: from its source or to its target.

use super::durable::{self, Durable, Holders, NEVER, Stored};
use super::filter::{Wanted, split_format};
use super::link::Outward;
use super::member::{Inward, Member};
use super::publish::error_of;
use crate::session::{Accepted, LinkId};
use crate::wire::{
    Attach, Condition, DeliveryState, Error, Role, SenderSettles, Source, Symbol, Target,
    TargetKind, Value,
};
use std::sync::Arc;
use weir_binding::Gateway;
use weir_hub::{Principal, Shape, Since, Subscribe, Subscription, Verb};
use weir_model::topic;

/// Outcomes that a receiver may tell (section 3.4).
const OUTCOMES: [&str; 4] = [
    "amqp:accepted:list",
    "amqp:rejected:list",
    "amqp:released:list",
    "amqp:modified:list",
];

/// What becomes of a delivery that its receiver settles and says nothing of (section 3.5.3).
pub(super) const DEFAULT_OUTCOME: DeliveryState = DeliveryState::Released;

fn invalid(sentence: &str) -> Error {
    Error::new(Condition::INVALID_FIELD, sentence)
}

/// A client that sends.
fn inward(member: &mut Member, id: LinkId, attach: &Attach) -> Result<Accepted, Error> {
    let Some(TargetKind::Node(target)) = &attach.target else {
        return Err(invalid("a sender without a target"));
    };
    if target.dynamic {
        let sentence = "no node is made for a sender: name a topic";
        return Err(Error::new(Condition::NOT_IMPLEMENTED, sentence));
    }
    if let Some(address) = &target.address {
        let (_, name) = split_format(address)?;
        topic::check(name).map_err(|error| {
            let sentence = format!("`{name}` is no topic: {error}");
            Error::new(Condition::INVALID_FIELD, sentence)
        })?;
        let principal = &member.principal;
        if !principal.grants.may_reach(Verb::Publish, name) {
            let sentence = format!("{principal} may not publish `{name}`");
            return Err(Error::new(Condition::UNAUTHORIZED_ACCESS, sentence));
        }
    }
    let address: Option<Box<str>> = target.address.as_deref().map(Into::into);
    member.inward.push(Inward { id, address });
    let target = Target {
        address: target.address.clone(),
        capabilities: vec![Symbol::new("topic")],
        ..Target::default()
    };
    Ok(Accepted {
        source: attach.source.clone(),
        target: Some(TargetKind::Node(Box::new(target))),
        ..Accepted::default()
    })
}

/// Where a link is attached.
pub(super) struct Place<'a> {
    pub(super) holders: &'a Arc<Holders>,
    pub(super) context: &'a Arc<dyn Gateway>,
    pub(super) container: &'a str,
}

impl Place<'_> {
    /// Decides about a link.
    pub(super) fn attach(
        &self,
        member: &mut Member,
        id: LinkId,
        attach: &Attach,
    ) -> Result<Accepted, Error> {
        match attach.role {
            Role::Sender => inward(member, id, attach),
            Role::Receiver => self.outward(member, id, attach),
        }
    }

    /// A client that receives.
    fn outward(&self, member: &mut Member, id: LinkId, attach: &Attach) -> Result<Accepted, Error> {
        let (owner, name) = (member.principal.name.to_string(), &attach.name);
        let key = durable::key(&owner, self.container, name);
        let asks = attach.source.as_deref().is_none_or(durable::is_kept);
        let stored = asks
            .then(|| durable::stored(&**self.context, &owner, self.container, name))
            .flatten();
        // Without a source it is what is kept that is asked for (section 2.6.1).
        let source = match (&attach.source, &stored) {
            (Some(source), _) => (**source).clone(),
            (None, Some(stored)) => stored.source(),
            (None, None) => {
                let sentence = "no source, and no link is kept of this name";
                return Err(Error::new(Condition::NOT_FOUND, sentence));
            }
        };
        if source.dynamic {
            let sentence = "no node is made for a receiver: name a topic or a filter";
            return Err(Error::new(Condition::NOT_IMPLEMENTED, sentence));
        }
        let wanted = Wanted::read(&source)?;
        let kept = stored
            .as_ref()
            .and_then(|stored| stored.since(&source, &wanted));
        // [AMQP-3.5.5-1]
        let since = kept.unwrap_or(wanted.since);
        let is_kept = asks && durable::is_kept(&source);
        let subscription = open(&**self.context, &member.principal, &wanted, since, is_kept)?;
        // Where it is taken up the position is the record's, until something has come.
        let position = match since {
            Since::Cursor(cursor) => cursor,
            _ => subscription.position(),
        };
        let durable = if is_kept {
            let stored = Stored {
                owner,
                address: source.address.clone().unwrap_or_default(),
                filter: source.filter.clone(),
                position,
            };
            let claimed = Durable::claim(self.holders, self.context, key, stored);
            Some(Box::new(claimed.map_err(|fault| error_of(&fault))?))
        } else {
            None
        };
        let promised = attach.snd_settle_mode != SenderSettles::Settled;
        let answer = answer(&source, &wanted, promised, is_kept);
        member.outward.push(Outward {
            id,
            wanted,
            delivered: position,
            source: Some(subscription),
            work: None,
            durable,
        });
        Ok(Accepted {
            source: Some(Box::new(answer)),
            target: attach.target.clone(),
            ..Accepted::default()
        })
    }
}

/// The source as it is in effect.
fn answer(source: &Source, wanted: &Wanted, promised: bool, is_kept: bool) -> Source {
    Source {
        address: source.address.clone(),
        durable: u32::from(is_kept),
        expiry_policy: is_kept.then_some(NEVER),
        distribution_mode: Some(Symbol::new("copy")),
        filter: wanted.in_effect.clone(),
        default_outcome: promised.then(released),
        outcomes: OUTCOMES.map(Symbol::new).to_vec(),
        capabilities: vec![Symbol::new("topic")],
        ..Source::default()
    }
}

/// [`DEFAULT_OUTCOME`] as a source tells it (section 3.4.4).
fn released() -> Value {
    Value::Described(Box::new((Value::Ulong(0x26), Value::List(Vec::new()))))
}

/// Opens what a link's messages come from.
pub(super) fn open(
    context: &dyn Gateway,
    principal: &Principal,
    wanted: &Wanted,
    since: Since,
    committed: bool,
) -> Result<Box<Subscription>, Error> {
    let mut subscribe = Subscribe::new(vec![wanted.filter.clone()], Shape::Items);
    subscribe.since = since;
    subscribe.policy = wanted.policy;
    subscribe.condition = wanted.condition.clone();
    subscribe.aggregate = wanted.aggregate;
    subscribe.unit = wanted.unit.clone();
    subscribe.raw = wanted.is_raw();
    subscribe.committed = committed;
    let caller = context.hub().caller(context.now(), principal);
    let subscribed = caller.and_then(|caller| caller.subscribe(subscribe));
    subscribed.map_err(|fault| error_of(&fault))
}
