//! What an event sink is told: notifications, and the end of a subscription.

use super::filter::ACTION;
use super::subscriptions::{Agreement, Ending};
use crate::limits::EVENT_ROWS_MAX;
use crate::names::EVENTING;
use crate::random::Random;
use weir_codec::document::Xml;
use weir_codec::document::addressing::{Endpoint, Header};
use weir_codec::document::observations::{NAMESPACE, write_rows};
use weir_codec::document::soap::Version;
use weir_hub::Item;
use weir_model::{Batch, Cursor};

/// Parts of messages, each small enough for one notification.
pub(crate) fn parts(items: &[Item]) -> Vec<Batch> {
    let mut parts = Vec::new();
    for item in items {
        let selected = item.selected();
        let Some(batch) = selected.as_ref().or_else(|| item.message.batch()) else {
            continue;
        };
        for start in (0..batch.len()).step_by(EVENT_ROWS_MAX) {
            let end = start + EVENT_ROWS_MAX;
            parts.push(batch.select(|row| (start..end).contains(&row)));
        }
    }
    parts
}

/// A notification of observations; `missed` is how many messages came before it that the sink did not take in
/// time.
pub(crate) fn notification(
    agreement: &Agreement,
    batch: &Batch,
    cursor: Cursor,
    missed: u64,
) -> String {
    let mut xml = Xml::new();
    xml.start("w:observations").prefixes(&[("w", NAMESPACE)]);
    xml.leaf("w:cursor", &cursor.to_string());
    if missed > 0 {
        xml.leaf("w:missed", &missed.to_string());
    }
    write_rows(batch, &mut xml);
    send(agreement, &agreement.notify_to, ACTION, &xml.finish())
}

/// `wse:SubscriptionEnd` to whom it is told, where it is (WS-Eventing section 3.5).
pub(crate) fn end(agreement: &Agreement, why: Ending) -> Option<(Endpoint, String)> {
    let (endpoint, status) = (agreement.end_to.clone()?, why.status()?);
    let mut xml = Xml::new();
    xml.start("wse:SubscriptionEnd");
    xml.prefixes(&[("wse", EVENTING), ("a", agreement.generation.addressing)]);
    xml.start("wse:SubscriptionManager");
    xml.leaf("a:Address", &agreement.manager).end();
    xml.leaf("wse:Status", &format!("{EVENTING}/{status}"));
    xml.start("wse:Reason").attribute("xml:lang", "en");
    xml.text(match why {
        Ending::DeliveryFailure => "the event sink did not take what was pushed to it",
        _ => "the gateway is stopping",
    });
    let action = format!("{EVENTING}/SubscriptionEnd");
    let message = send(agreement, &endpoint, &action, &xml.finish());
    Some((endpoint, message))
}

fn send(agreement: &Agreement, endpoint: &Endpoint, action: &str, body: &str) -> String {
    let header = Header {
        namespace: agreement.generation.addressing,
        to: &endpoint.address,
        action,
        message_id: Some(&Random::default().uuid()),
        parameters: &endpoint.parameters,
        ..Header::default()
    };
    header.around(Version::V12, body)
}
