//! Subscribe, Renew, GetStatus, Unsubscribe.

use super::expires::{self, Form};
use super::subscriptions::{Agreement, Ending, Job, Subscriptions};
use super::{MANAGER, filter, sink};
use crate::limits::URI_BYTES_MAX;
use crate::message::{Fault, Message};
use crate::names::EVENTING;
use crate::random::uuid;
use std::net::IpAddr;
use std::sync::Arc;
use weir_binding::{Call, Response};
use weir_codec::document::addressing::Endpoint;
use weir_codec::document::{Element, Xml};
use weir_hub::{Hub, Shape, Subscribe};
use weir_model::Time;

/// What subscribing needs.
pub(crate) struct Desk<'a> {
    pub(crate) hub: &'a Arc<Hub>,
    pub(crate) subscriptions: &'a Subscriptions,
    pub(crate) sinks: &'a sink::Rule,
    /// Where who subscribes found the gateway.
    pub(crate) base: &'a str,
}

/// WS-Eventing section 3.1.
pub(crate) fn subscribe(
    desk: &Desk<'_>,
    call: &Call,
    message: &Message,
) -> Result<Response, Fault> {
    let asked = message.body_as(EVENTING, "Subscribe")?;
    let notify_to = delivery(desk, call, asked)?;
    let end_to = asked
        .child("EndTo")
        .map(|end_to| endpoint(desk, call, end_to));
    let filters = filter::read(asked.child("Filter"))?;
    let (expires, form) = end_of(asked, call.now)?;
    let caller = desk.hub.caller(call.now, &call.principal)?;
    let messages = caller.subscribe(Subscribe::new(filters, Shape::Items))?;
    desk.subscriptions.check_room(call.peer).map_err(|reason| {
        Fault::named("EventSourceUnableToProcess", EVENTING, reason).with_status(429)
    })?;
    let id = uuid()["urn:uuid:".len()..].to_owned();
    let manager = format!("{}{MANAGER}/{id}", desk.base);
    let agreement = Arc::new(Agreement::new(
        id,
        (call.principal.name.clone(), call.peer),
        message.form.generation,
        (notify_to, end_to.transpose()?),
        manager,
        expires,
    ));
    let mut xml = begun("SubscribeResponse");
    xml.prefixes(&[("a", message.form.generation.addressing)]);
    xml.start("wse:SubscriptionManager");
    xml.leaf("a:Address", &agreement.manager).end();
    xml.leaf("wse:Expires", &expires::write(expires, form, call.now));
    desk.subscriptions.add(Job {
        agreement,
        messages,
    });
    Ok(answer(message, "SubscribeResponse", &xml.finish()))
}

/// Where events go; they are pushed, and in no other way (WS-Eventing section 2.2, DPWS 1.1 section 6.1).
fn delivery(desk: &Desk<'_>, call: &Call, asked: &Element) -> Result<Endpoint, Fault> {
    let invalid = |reason: &str| Fault::named("InvalidMessage", EVENTING, reason);
    let delivery = asked.child("Delivery");
    let delivery = delivery.ok_or_else(|| invalid("a Delivery is needed"))?;
    let push = format!("{EVENTING}/DeliveryModes/Push");
    if let Some(mode) = delivery.attribute("Mode").filter(|mode| *mode != push) {
        let reason = format!("events are pushed ({push}), not delivered by `{mode}`");
        return Err(Fault::named(
            "DeliveryModeRequestedUnavailable",
            EVENTING,
            reason,
        ));
    }
    let notify_to = delivery.child("NotifyTo");
    endpoint(
        desk,
        call,
        notify_to.ok_or_else(|| invalid("a NotifyTo is needed"))?,
    )
}

/// An endpoint that may be posted to.
fn endpoint(desk: &Desk<'_>, call: &Call, element: &Element) -> Result<Endpoint, Fault> {
    let invalid = |reason: String| Fault::named("InvalidMessage", EVENTING, reason);
    let read = Endpoint::read(element);
    let read = read.ok_or_else(|| invalid(format!("{} has no Address", element.local)))?;
    if read.address.len() > URI_BYTES_MAX {
        return Err(invalid(format!(
            "an address has at most {URI_BYTES_MAX} bytes"
        )));
    }
    let checked = desk.sinks.check(&read.address, own_address(call));
    checked.map_err(|reason| invalid(reason).with_status(403))?;
    Ok(read)
}

fn end_of(asked: &Element, now: Time) -> Result<(Time, Form), Fault> {
    let text = asked.child("Expires").map(Element::text);
    expires::read(text.as_deref(), now).ok_or_else(|| {
        let text = text.unwrap_or_default();
        let reason = format!("`{text}` is no duration and no time to come");
        Fault::named("InvalidExpirationTime", EVENTING, reason)
    })
}

/// What is asked of a subscription's manager (WS-Eventing sections 3.2 to 3.4).
pub(crate) fn manage(
    subscriptions: &Subscriptions,
    call: &Call,
    message: &Message,
) -> Result<Response, Fault> {
    let action = message.action_of(EVENTING).unwrap_or_default();
    let agreement = owned(subscriptions, call, message, action)?;
    match action {
        "Renew" => {
            let (expires, form) = end_of(message.body_as(EVENTING, action)?, call.now)?;
            agreement.renew(expires);
            Ok(status(message, "RenewResponse", expires, form, call.now))
        }
        "GetStatus" => {
            message.body_as(EVENTING, action)?;
            let (expires, form) = (agreement.expires(), Form::Duration);
            Ok(status(
                message,
                "GetStatusResponse",
                expires,
                form,
                call.now,
            ))
        }
        "Unsubscribe" => {
            message.body_as(EVENTING, action)?;
            subscriptions.remove(&agreement.id);
            agreement.end(Ending::Unsubscribed);
            Ok(answer(message, "UnsubscribeResponse", ""))
        }
        _ => Err(message.unknown()),
    }
}

/// The subscription of the path, for who made it; for others it is not there.
fn owned(
    subscriptions: &Subscriptions,
    call: &Call,
    message: &Message,
    action: &str,
) -> Result<Arc<Agreement>, Fault> {
    let id = call.path.strip_prefix(MANAGER).unwrap_or_default();
    let found = subscriptions.find(id.trim_start_matches('/'));
    let is_theirs = |own: &Arc<Agreement>| own.owner == call.principal.name;
    let living = found.filter(|own| is_theirs(own) && own.expires() > call.now);
    living.ok_or_else(|| {
        let reason = "there is no such subscription, or not any more";
        let addressing = message.form.generation.addressing;
        match action {
            "Renew" => Fault::named("UnableToRenew", EVENTING, reason),
            _ => Fault::named("DestinationUnreachable", addressing, reason),
        }
    })
}

fn status(message: &Message, name: &str, expires: Time, form: Form, now: Time) -> Response {
    let mut xml = begun(name);
    xml.leaf("wse:Expires", &expires::write(expires, form, now));
    answer(message, name, &xml.finish())
}

fn begun(name: &str) -> Xml {
    let mut xml = Xml::new();
    xml.start_as("wse", name).prefixes(&[("wse", EVENTING)]);
    xml
}

fn answer(message: &Message, name: &str, body: &str) -> Response {
    message.form.answer(&format!("{EVENTING}/{name}"), body)
}

/// The subscriber's address; behind a proxy nobody's, since the proxy's own neighbours are not theirs.
fn own_address(call: &Call) -> Option<IpAddr> {
    let forwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];
    let proxied = forwarded.iter().any(|name| call.header(name).is_some());
    call.peer.filter(|_| !proxied)
}
