//! Links that a client attaches: from its source or to its target.

use super::connection::{Connection, Inward, Member};
use super::filter::{Wanted, split_format};
use super::link::Outward;
use super::publish::error_of;
use crate::session::{Accepted, LinkId};
use crate::wire::{
    Attach, Condition, Error, Role, SenderSettles, Source, Symbol, Target, TargetKind, Value,
};
use std::sync::Arc;
use weir_binding::Context;
use weir_hub::{Exchange, Fault, Principal, Request, Shape, Since, Subscribe, Subscription, Verb};
use weir_model::topic;

/// Outcomes that a receiver may tell (section 3.4).
const OUTCOMES: [&str; 4] = [
    "amqp:accepted:list",
    "amqp:rejected:list",
    "amqp:released:list",
    "amqp:modified:list",
];

impl Connection {
    /// Decides about a link.
    pub(super) fn attach(&mut self, id: LinkId, attach: &Attach) {
        let Some(member) = &mut self.member else {
            return;
        };
        let accepted = match attach.role {
            Role::Sender => inward(member, id, attach),
            Role::Receiver => outward(&self.context, member, id, attach),
        };
        match accepted {
            Ok(accepted) => self.server.accept(id, accepted),
            Err(error) => self.server.refuse(id, attach, error),
        }
    }
}

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

/// A client that receives.
fn outward(
    context: &Arc<dyn Context>,
    member: &mut Member,
    id: LinkId,
    attach: &Attach,
) -> Result<Accepted, Error> {
    let Some(source) = &attach.source else {
        return Err(invalid("a receiver without a source"));
    };
    if source.dynamic {
        let sentence = "no node is made for a receiver: name a topic or a filter";
        return Err(Error::new(Condition::NOT_IMPLEMENTED, sentence));
    }
    let wanted = Wanted::read(source)?;
    let promised = attach.snd_settle_mode != SenderSettles::Settled;
    let subscription = open(&**context, &member.principal, &wanted, wanted.since)?;
    let answer = Source {
        address: source.address.clone(),
        distribution_mode: Some(Symbol::new("copy")),
        filter: wanted.in_effect.clone(),
        default_outcome: promised.then(released),
        outcomes: OUTCOMES.map(Symbol::new).to_vec(),
        capabilities: vec![Symbol::new("topic")],
        ..Source::default()
    };
    member.outward.push(Outward {
        id,
        wanted,
        delivered: subscription.position(),
        source: Some(subscription),
        work: None,
    });
    Ok(Accepted {
        source: Some(Box::new(answer)),
        target: attach.target.clone(),
        ..Accepted::default()
    })
}

/// What becomes of a delivery of which its receiver says nothing (section 3.5.7).
fn released() -> Value {
    Value::Described(Box::new((Value::Ulong(0x26), Value::List(Vec::new()))))
}

/// Opens what a link's messages come from.
pub(super) fn open(
    context: &dyn Context,
    principal: &Principal,
    wanted: &Wanted,
    since: Since,
) -> Result<Box<Subscription>, Error> {
    let mut subscribe = Subscribe::new(vec![wanted.filter.clone()], Shape::Items);
    subscribe.since = since;
    subscribe.policy = wanted.policy;
    subscribe.condition = wanted.condition.clone();
    subscribe.aggregate = wanted.aggregate;
    subscribe.raw = wanted.is_raw();
    let request = Request::Subscribe(subscribe);
    match context.hub().open(context.now(), principal, request) {
        Ok(Exchange::Subscription(subscription)) => Ok(subscription),
        Ok(_) => Err(error_of(&Fault::Stopping)),
        Err(fault) => Err(error_of(&fault)),
    }
}
