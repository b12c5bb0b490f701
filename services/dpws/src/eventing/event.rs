//! What an event sink is told: notifications, and the end of a subscription.

use super::filter::ACTION;
use super::subscriptions::{Agreement, Ending};
use crate::limits::{ENVELOPE_BYTES_MAX, EVENT_ROWS_MAX};
use crate::names::EVENTING;
use crate::random::uuid;
use weir_codec::document::Xml;
use weir_codec::document::addressing::{Endpoint, Header};
use weir_codec::document::observations::{NAMESPACE, write_rows};
use weir_codec::document::soap::Version;
use weir_hub::Item;
use weir_model::{Batch, Cursor};

/// What is pushed of messages, in their order: observations that one notification of an agreement holds, written as
/// the WSDL has them, or nothing for one that is too long for any.
pub(crate) fn parts(agreement: &Agreement, cursor: Cursor, items: &[Item]) -> Vec<Option<String>> {
    let around = notification(agreement, "", cursor, u64::MAX).len();
    let room = ENVELOPE_BYTES_MAX.saturating_sub(around);
    let mut parts = Vec::new();
    for item in items {
        let selected = item.selected();
        let Some(batch) = selected.as_ref().or_else(|| item.message.batch()) else {
            continue;
        };
        for start in (0..batch.len()).step_by(EVENT_ROWS_MAX) {
            let end = batch.len().min(start + EVENT_ROWS_MAX);
            cut(&range(batch, start, end), room, &mut parts);
        }
    }
    parts
}

/// Halves what there is no room for, down to single observations.
fn cut(batch: &Batch, room: usize, parts: &mut Vec<Option<String>>) {
    let mut xml = Xml::new();
    write_rows(batch, &mut xml);
    let rows = xml.finish();
    match (rows.len() <= room, batch.len()) {
        (true, _) => parts.push(Some(rows)),
        (false, 0 | 1) => parts.push(None),
        (false, all) => {
            cut(&range(batch, 0, all / 2), room, parts);
            cut(&range(batch, all / 2, all), room, parts);
        }
    }
}

fn range(batch: &Batch, start: usize, end: usize) -> Batch {
    batch.select(|row| (start..end).contains(&row))
}

/// A notification of observations; `missed` is how many messages came before it that the sink did not take in
/// time, and observations that are too long for any.
pub(crate) fn notification(
    agreement: &Agreement,
    rows: &str,
    cursor: Cursor,
    missed: u64,
) -> String {
    let mut xml = Xml::new();
    xml.start("w:observations").prefixes(&[("w", NAMESPACE)]);
    xml.leaf("w:cursor", &cursor.to_string());
    if missed > 0 {
        xml.leaf("w:missed", &missed.to_string());
    }
    xml.raw(rows);
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
        Ending::SourceCanceling => "who subscribed may not read it any more",
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
        message_id: Some(&uuid()),
        parameters: &endpoint.parameters,
        ..Header::default()
    };
    header.around(Version::V12, body)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_model::{BatchBuilder, Limits, Value};

    fn batch(texts: &[usize]) -> Batch {
        let mut builder = BatchBuilder::new();
        for length in texts {
            builder.begin();
            builder.value(Value::Text(&"<".repeat(*length)));
            builder.end().unwrap();
        }
        builder.finish()
    }

    fn rows_of(texts: &[usize], room: usize) -> Vec<Option<usize>> {
        let mut parts = Vec::new();
        cut(&batch(texts), room, &mut parts);
        assert!(parts.iter().flatten().all(|part| part.len() <= room));
        let count = |part: String| part.matches("<w:observation>").count();
        parts.into_iter().map(|part| part.map(count)).collect()
    }

    #[test]
    fn an_event_tells_all_that_an_observation_carries() {
        let message = r#"{"value":1.5,"unit":"m","sensor":"urn:s","time":"2026-11-20T09:41:00Z",
            "quality":"bad","feature":"urn:f","parameters":{"k":1},
            "resultTime":"2026-11-20T09:42:00Z","end":"2026-11-20T09:41:30Z",
            "validTime":["2026-11-20T00:00:00Z","2026-11-21T00:00:00Z"]}"#;
        let mut builder = BatchBuilder::new();
        let json = weir_codec::by_name("json").unwrap();
        (json.decode)(message.as_bytes(), &mut builder, &Limits::default()).unwrap();
        let mut parts = Vec::new();
        cut(&builder.finish(), 32_000, &mut parts);
        let told = parts.pop().flatten().unwrap();
        for (name, text) in [
            ("unit", "m"),
            ("sensor", "urn:s"),
            ("feature", "urn:f"),
            ("end", "2026-11-20T09:41:30Z"),
            ("resultTime", "2026-11-20T09:42:00Z"),
            ("from", "2026-11-20T00:00:00Z"),
            ("quality", "bad"),
            ("parameters", "{&quot;k&quot;:1}"),
        ] {
            let leaf = format!("<w:{name}>{text}</w:{name}>");
            assert!(told.contains(&leaf), "{leaf} in {told}");
        }
    }

    #[test]
    fn a_notification_is_cut_by_the_bytes_it_is_written_in() {
        assert_eq!(rows_of(&[1; 50], 32_000), [Some(50)]);
        // `<` is four bytes in XML.
        assert_eq!(rows_of(&[3000; 4], 32_000), [Some(2), Some(2)]);
        assert_eq!(rows_of(&[3000, 9000, 10], 32_000), [Some(1), None, Some(1)]);
        assert_eq!(rows_of(&[9000], 32_000), [None]);
    }
}
