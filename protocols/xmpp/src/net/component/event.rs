//! Notifications (XEP-0060 section 7.1.2): a message for each item, with the cursor as its identifier.

use super::node::{Wanted, name_of};
use crate::limits::SENT_ITEM_BYTES_MAX;
use crate::net::payload;
use crate::xml::escape;
use weir_codec::Format;
use weir_hub::{Content, Gap, Item};
use weir_model::Batch;

/// An item of a node.
pub(super) struct Told {
    pub(super) node: String,
    /// `<item>` with its payload.
    pub(super) item: String,
}

/// What a message comes to for who wants a node: one item at the message's own topic where that is of the
/// node and the format names topics itself; else one for each datastream.
pub(super) fn items(wanted: &Wanted, format: &'static Format, item: &Item) -> Vec<Told> {
    let message = &item.message;
    let node = |topic: &str| {
        if wanted.is_collection() {
            name_of(topic)
        } else {
            wanted.node.clone()
        }
    };
    let Content::Observations { .. } = &message.content else {
        return opaque(wanted, item, node(&message.topic))
            .into_iter()
            .collect();
    };
    if format.carries.topic && (!wanted.is_collection() || wanted.filter.matches(&message.topic)) {
        let encoded = item.encoded(format);
        return vec![told(node(&message.topic), item, |out| {
            payload::write(format, &encoded, out)
        })];
    }
    let each = item.datastreams();
    let one = |batch: &Batch| {
        let mut encoded = Vec::new();
        (format.encode)(batch, &mut encoded);
        let node = node(batch.stream(0).topic);
        told(node, item, |out| payload::write(format, &encoded, out))
    };
    each.iter().map(one).collect()
}

/// A message that is in none of the formats goes as it is to who asks for no format.
fn opaque(wanted: &Wanted, item: &Item, node: String) -> Option<Told> {
    let Content::Opaque(media) = &item.message.content else {
        return None;
    };
    let due = item.whole && wanted.format.is_none();
    due.then(|| {
        told(node, item, |out| {
            payload::write_opaque(media, &item.message.body, out)
        })
    })
}

fn told(node: String, item: &Item, payload: impl FnOnce(&mut String)) -> Told {
    let mut text = format!("<item id='{}'>", item.message.cursor);
    payload(&mut text);
    text.push_str("</item>");
    if text.len() > SENT_ITEM_BYTES_MAX {
        text = without_payload(item);
    }
    Told { node, item: text }
}

/// What no server would pass on is told without its payload (XEP-0060 section 7.1.2.2).
pub(super) fn without_payload(item: &Item) -> String {
    format!("<item id='{}'/>", item.message.cursor)
}

/// Writes the message that tells an item to a subscriber.
pub(super) fn write(from: &str, to: &str, wanted: &Wanted, told: &Told, out: &mut String) {
    open(from, to, out);
    out.push_str("<event xmlns='http://jabber.org/protocol/pubsub#event'><items node='");
    escape(&told.node, out);
    out.push_str("'>");
    out.push_str(&told.item);
    out.push_str("</items></event>");
    // [XEP0248-5-1]
    if wanted.is_collection() {
        // XEP-0248 section 5.3: through which collection it comes.
        out.push_str("<headers xmlns='http://jabber.org/protocol/shim'><header name='Collection'>");
        escape(&wanted.node, out);
        out.push_str("</header></headers>");
    }
    out.push_str("</message>");
}

/// Writes the message that tells a subscriber what it will not get.
pub(super) fn write_gap(from: &str, to: &str, node: &str, gap: &Gap, out: &mut String) {
    open(from, to, out);
    gap_element(node, gap, out);
    out.push_str("</message>");
}

/// Writes a gap as an element.
pub(super) fn gap_element(node: &str, gap: &Gap, out: &mut String) {
    out.push_str("<gap xmlns='urn:weir:message:0' node='");
    escape(node, out);
    out.push_str("' reason='");
    out.push_str(gap.reason.name());
    if let Some(count) = gap.count {
        out.push_str(&format!("' count='{count}"));
    }
    out.push_str("'/>");
}

/// Nothing that nobody is there for is kept by servers (XEP-0060 section 7.1.2.1, RFC 6121 section 5.2.2).
fn open(from: &str, to: &str, out: &mut String) {
    out.push_str("<message type='headline' from='");
    escape(from, out);
    out.push_str("' to='");
    escape(to, out);
    out.push_str("'>");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::limits::SENT_BYTES_MAX;
    use crate::xml::Element;
    use weir_hub::Message;
    use weir_model::{Cursor, Time};

    fn told(bytes: usize) -> Element {
        let content = Content::Opaque("image/x".into());
        let mut message = Message::new(Cursor::new(1, 7), Time::from_nanos(0), "a".into(), content);
        message.body = vec![0; bytes].into();
        let wanted = Wanted::parse("#").unwrap();
        let format = weir_codec::by_name("json").unwrap();
        let mut item = Item::all(message.into());
        item.whole = true;
        let items = items(&wanted, format, &item);
        let mut out = String::new();
        write("weir.a", "ann@a", &wanted, &items[0], &mut out);
        assert!(out.len() < SENT_BYTES_MAX);
        let event = Element::read(out.as_bytes()).unwrap().unwrap();
        let items = event.elements().next().unwrap().elements().next().unwrap();
        items.elements().next().unwrap().clone()
    }

    #[test]
    fn what_no_server_would_pass_on_is_told_without_its_payload() {
        for (bytes, payloads) in [(1000, 1), (1 << 20, 0)] {
            let item = told(bytes);
            assert_eq!(item.attribute("id"), Some("1-7"));
            assert_eq!(item.elements().count(), payloads);
        }
    }
}
