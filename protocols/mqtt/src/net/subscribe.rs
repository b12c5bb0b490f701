//! From a filter to a subscription: each is one of the hub's, or a place in a share.

use super::filter::{Conversion, Wanted};
use super::framing::PublishFraming;
use super::house::House;
use super::member::Member;
use super::record::StoredSubscription;
use super::service::{self, Followed};
use super::share::before;
use super::subscription::{Again, Before, Source, Subscribed, Work};
use crate::session::SubscribeRequest;
use crate::wire::{QoS, ReasonCode, RetainHandling, SubscriptionOptions};
use bytes::Bytes;
use std::sync::Arc;
use weir_binding::{Gateway, Response, Watched};
use weir_codec::FORMATS;
use weir_hub::{Fault, InUnit, Policy, Principal, Shape, Since, Standing, Subscribe};
use weir_model::Cursor;

/// What opening a subscription takes.
pub(super) struct Opener<'a> {
    pub(super) house: &'a House,
    pub(super) context: &'a Arc<dyn Gateway>,
    /// The largest packet that the client takes.
    pub(super) client_bytes_max: usize,
}

/// From this size on no message is too large, so that packets may be shared.
const NO_LIMIT_BYTES: usize = 268_435_455;

impl Opener<'_> {
    /// Does what a SUBSCRIBE asks for; says a code for each filter [MQTT-3.8.4-6] [MQTT-3.8.4-7].
    pub(super) fn subscribe(&self, member: &mut Member, request: &SubscribeRequest) -> Vec<u8> {
        let asked = request.user.iter().find(|(name, _)| name == "weir-cursor");
        let since = asked.and_then(|(_, value)| value.parse().ok());
        let mut codes = Vec::with_capacity(request.filters.len());
        // [MQTT-3.8.4-5]
        for (text, options) in &request.filters {
            let wish = Wish {
                text,
                options: *options,
                identifier: request.identifier,
                wants_cursor: asked.is_some(),
                since,
            };
            codes.push(match self.add(member, &wish) {
                Ok(qos) => qos.bits(),
                Err(code) => code.0,
            });
        }
        codes
    }

    /// A filter taken apart, and what it means where it is a service's topic.
    fn wanted(&self, member: &Member, text: &str) -> Result<Wanted, ReasonCode> {
        let mut wanted = Wanted::parse(text)?;
        let topic = wanted.filter.as_str();
        let found = self
            .context
            .service_of_topic(topic)
            .filter(|_| wanted.format.is_none());
        if let Some((service, path)) = found {
            let call = service::call(
                &**self.context,
                &member.principal,
                "GET",
                &path,
                Bytes::new(),
            );
            let refused = |response: Response| {
                service::code_of(response.status, ReasonCode::TOPIC_FILTER_INVALID)
            };
            wanted.watched = Some(service.watch(&call).map_err(refused)?);
        }
        Ok(wanted)
    }

    /// Adds a subscription; says with which quality.
    fn add(&self, member: &mut Member, wish: &Wish<'_>) -> Result<QoS, ReasonCode> {
        let wanted = self.wanted(member, wish.text)?;
        let mut options = wish.options;
        // Changes are told as they happen, and not kept [MQTT-3.8.4-7].
        if matches!(wanted.watched, Some(Watched::Changes(_))) {
            options.qos = QoS::AtMostOnce;
        }
        let existing = member
            .subscriptions
            .iter()
            .position(|of| *of.text == *wish.text);
        let most = self.house.settings.subscriptions_max;
        if existing.is_none() && member.subscriptions.len() >= most {
            let reason = format!("it has {most} (mqtt.max_subscriptions)");
            say_refused(member, wish.text, ReasonCode::QUOTA_EXCEEDED, &reason);
            return Err(ReasonCode::QUOTA_EXCEEDED);
        }
        // [MQTT-3.3.1-9] [MQTT-3.3.1-10] [MQTT-3.3.1-11]
        let retained = wanted.share.is_none()
            && match wish.options.retain_handling {
                RetainHandling::Send => true,
                RetainHandling::SendIfNew => existing.is_none(),
                RetainHandling::Never => false,
            };
        // [MQTT-3.8.4-3] [MQTT-3.8.4-4]
        let from = match &wanted.share {
            None => existing.map(|at| member.subscriptions[at].delivered),
            // Where members that are away have left it.
            Some(_) => {
                let sessions = &self.house.sessions;
                sessions.share_position(&member.principal.name, wish.text)
            }
        };
        let since = wish.since.or(from).map_or(Since::Now, Since::Cursor);
        let source = self.open(member, &wanted, wish, since, retained);
        let source = source.inspect_err(|code| {
            say_refused(member, wish.text, *code, &code.to_string());
        })?;
        let delivered = match (&source, from) {
            (Source::Framed(of) | Source::Items(of), _) => of.position(),
            (_, from) => from.unwrap_or_default(),
        };
        // What is under way of the one before stays known by its key.
        let key = existing.map_or(member.next_key, |at| member.subscriptions[at].key);
        member.next_key = member.next_key.max(key + 1);
        let subscribed = Subscribed {
            text: wish.text.into(),
            options,
            identifier: wish.identifier,
            wants_cursor: wish.wants_cursor,
            key,
            conversion: Conversion::of(&wanted, &member.principal.grants),
            source,
            delivered,
            before: None,
            work: None,
        };
        match existing {
            Some(at) => member.subscriptions[at] = subscribed,
            None => {
                // Most clients have one or two.
                if member.subscriptions.len() < 4 {
                    member.subscriptions.reserve_exact(1);
                }
                member.subscriptions.push(subscribed);
            }
        }
        Ok(options.qos)
    }

    /// Takes up a subscription of an earlier connection.
    pub(super) fn resume(
        &self,
        member: &mut Member,
        stored: &StoredSubscription,
        in_flight: Vec<Cursor>,
        doubtful: Cursor,
    ) {
        let wish = Wish {
            text: &stored.filter,
            options: stored.options,
            identifier: stored.identifier,
            wants_cursor: stored.wants_cursor,
            since: None,
        };
        let Ok(wanted) = self.wanted(member, &stored.filter) else {
            return;
        };
        // What is under way is read again, what was acknowledged meanwhile is passed over.
        let from = match in_flight.first() {
            Some(&first) if first <= stored.delivered && wanted.share.is_none() => before(first),
            _ => stored.delivered,
        };
        // What came meanwhile is in the log [MQTT-4.5.0-1].
        let since = match stored.options.qos {
            QoS::AtMostOnce => Since::Now,
            _ if from == Cursor::START => Since::Now,
            _ => Since::Cursor(from),
        };
        // What may not be subscribed to any more is not.
        if let Ok(source) = self.open(member, &wanted, &wish, since, false) {
            member.subscriptions.push(Subscribed {
                text: stored.filter.as_str().into(),
                options: stored.options,
                identifier: stored.identifier,
                wants_cursor: stored.wants_cursor,
                key: stored.key,
                conversion: Conversion::of(&wanted, &member.principal.grants),
                source,
                delivered: stored.delivered,
                before: Some(Box::new(Before {
                    resumed: stored.delivered,
                    doubtful,
                })),
                work: self.again(member, &wanted, &wish, in_flight),
            });
        }
    }

    /// Where a member of a share finds what is under way to it.
    fn again(
        &self,
        member: &Member,
        wanted: &Wanted,
        wish: &Wish<'_>,
        due: Vec<Cursor>,
    ) -> Option<Box<Work>> {
        wanted.share.as_ref()?;
        let since = Since::Cursor(before(*due.first()?));
        let alone = Wanted {
            share: None,
            ..wanted.clone()
        };
        let Ok(Source::Items(subscription)) = self.open(member, &alone, wish, since, false) else {
            return None;
        };
        Some(Box::new(Work {
            again: Some(Box::new(Again { subscription, due })),
            ..Work::default()
        }))
    }

    fn open(
        &self,
        member: &Member,
        wanted: &Wanted,
        wish: &Wish<'_>,
        since: Since,
        retained: bool,
    ) -> Result<Source, ReasonCode> {
        let options = wish.options;
        let filters = match &wanted.watched {
            None => vec![wanted.filter.clone()],
            Some(Watched::Messages(filters, _)) => filters.clone(),
            Some(Watched::Changes(_)) if wanted.share.is_some() => {
                return Err(ReasonCode::TOPIC_FILTER_INVALID);
            }
            Some(Watched::Changes(changes)) => {
                return Ok(Source::Followed(Box::new(Followed {
                    topic: wanted.filter.as_str().into(),
                    changes: changes.clone(),
                    context: self.context.clone(),
                })));
            }
        };
        let is_hubs = wanted.watched.is_none();
        let framed = options.qos == QoS::AtMostOnce
            && wanted.share.is_none()
            && !options.no_local
            && wish.identifier.is_none()
            && !wish.wants_cursor
            && self.client_bytes_max >= NO_LIMIT_BYTES;
        let shape = if framed {
            self.framed(member, wanted, wish)
        } else {
            Shape::Items
        };
        // A share outlives the member that began it; each member's own connection looks at its standing.
        let lasting = Principal {
            standing: Standing::default(),
            ..member.principal.clone()
        };
        let subscribe = |principal: &Principal| {
            let mut subscribe = Subscribe::new(filters, shape);
            subscribe.since = since;
            subscribe.policy = Policy::DropOldest;
            subscribe.raw = wanted.format.is_none() && is_hubs;
            subscribe.retained = retained && is_hubs;
            if !is_hubs {
                // Who renders observations has one unit for each datastream.
                subscribe.unit = InUnit::Own;
            }
            subscribe.committed = member.is_kept() && options.qos != QoS::AtMostOnce;
            let hub = self.context.hub();
            hub.caller(self.context.now(), principal)?
                .subscribe(subscribe)
        };
        let opened = match &wanted.share {
            None => subscribe(&member.principal).map(if framed {
                Source::Framed
            } else {
                Source::Items
            }),
            Some(_) => {
                let key = (wish.text.to_owned(), member.principal.grants.clone());
                let joined = self.house.sessions.shares.join(key, || subscribe(&lasting));
                joined.map(|(share, place)| Source::Shared(share, place))
            }
        };
        opened.map_err(|fault| code_of(&fault))
    }

    fn framed(&self, member: &Member, wanted: &Wanted, wish: &Wish<'_>) -> Shape {
        let framing = PublishFraming {
            version: member.version,
            retain_as_published: wish.options.retain_as_published,
            conversion: Conversion::of(wanted, &member.principal.grants),
            context: self.context.clone(),
        };
        Shape::Framed(wanted.format.unwrap_or(&FORMATS[0]), Arc::new(framing))
    }

    /// Opens a subscription again from where its client is, after messages were dropped before it.
    pub(super) fn reopen(&self, member: &mut Member, at: usize) {
        let (text, options, delivered) = {
            let of = &member.subscriptions[at];
            (of.text.clone(), of.options, of.delivered)
        };
        let wish = Wish {
            text: &text,
            options,
            identifier: member.subscriptions[at].identifier,
            wants_cursor: member.subscriptions[at].wants_cursor,
            since: None,
        };
        let source = match self.wanted(member, &text) {
            Ok(wanted) => self.open(member, &wanted, &wish, Since::Cursor(delivered), false),
            Err(code) => Err(code),
        };
        member.subscriptions[at].source = source.unwrap_or(Source::Ended);
    }
}

/// Says in the log that a subscription is refused: once a connection for each reason, since a client of 3.1.1 is told
/// no reason and many look at none.
fn say_refused(member: &mut Member, filter: &str, code: ReasonCode, reason: &str) {
    let bit = 1 << (code.0 & 31);
    if member.said_of_filters & bit == 0 {
        member.said_of_filters |= bit;
        let client = &*member.id;
        tracing::warn!(client, filter, reason, "a subscription is refused");
    }
}

/// What one filter of a SUBSCRIBE asks for.
struct Wish<'a> {
    text: &'a str,
    options: SubscriptionOptions,
    identifier: Option<u32>,
    wants_cursor: bool,
    since: Option<Cursor>,
}

fn code_of(fault: &Fault) -> ReasonCode {
    match fault {
        Fault::Denied { .. } | Fault::Reserved(_) | Fault::Revoked(_) => ReasonCode::NOT_AUTHORIZED,
        Fault::Topic(_) => ReasonCode::TOPIC_FILTER_INVALID,
        Fault::OverLimit { .. } | Fault::Crowded { .. } | Fault::TooFast { .. } => {
            ReasonCode::QUOTA_EXCEEDED
        }
        _ => ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR,
    }
}

/// Ends the subscriptions of an UNSUBSCRIBE; says a code for each filter.
pub(super) fn unsubscribe(member: &mut Member, filters: &[String]) -> Vec<u8> {
    // What is under way stays the session's [MQTT-3.10.4-3].
    // [MQTT-3.10.4-1] [MQTT-3.10.4-2] [MQTT-3.10.4-6]
    let end = |text: &String| {
        let at = member
            .subscriptions
            .iter()
            .position(|of| *of.text == **text);
        match at {
            Some(at) => {
                member.subscriptions.remove(at).leave();
                ReasonCode::SUCCESS.0
            }
            None => ReasonCode::NO_SUBSCRIPTION_EXISTED.0,
        }
    };
    filters.iter().map(end).collect()
}
