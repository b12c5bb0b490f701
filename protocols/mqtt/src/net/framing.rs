//! QoS 0 packets, written once for all who want them alike.

use super::filter::{Conversion, Rendered};
use super::packets::{parts_of, write_attributes};
use crate::wire::{Property, PropertyList, Publish, QoS, Version};
use std::sync::Arc;
use weir_binding::Gateway;
use weir_hub::{Frame, Framing, FramingKey};

/// How the packets are written.
pub(super) struct PublishFraming {
    pub(super) version: Version,
    /// Whether the retain flag stays as published.
    pub(super) retain_as_published: bool,
    /// What it takes where messages come in a format that the filter names, instead of as published. The
    /// hub tells filters and grants apart, so the key need not.
    pub(super) conversion: Option<Box<Conversion>>,
    pub(super) context: Arc<dyn Gateway>,
}

impl PublishFraming {
    fn rendered(&self) -> Option<&Rendered> {
        self.conversion.as_deref()?.rendered.as_ref()
    }
}

impl Framing for PublishFraming {
    fn key(&self) -> FramingKey {
        let rendered = self.rendered();
        let bits = u32::from(self.version == Version::V5)
            | u32::from(self.retain_as_published) << 1
            | u32::from(self.conversion.is_some()) << 2
            | rendered.map_or(0, |rendered| rendered.rendering.key()) << 3;
        ("mqtt", bits)
    }

    fn reads_payload(&self) -> bool {
        self.rendered().is_none()
    }

    fn ages(&self) -> bool {
        true
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let mut properties = PropertyList::default();
        let Some(item) = frame.item else {
            return;
        };
        let message = &item.message;
        let conversion = self.conversion.as_deref();
        let format = conversion.map(|conversion| conversion.format);
        let now = || self.context.now();
        if !write_attributes(&message.attributes, format, now, &mut properties) {
            return;
        }
        // [MQTT-3.3.1-12] [MQTT-3.3.1-13]
        let retain = item.retained || (self.retain_as_published && message.retain);
        let mut write = |topic: &str, payload: &[u8]| {
            let publish = Publish {
                qos: QoS::AtMostOnce,
                retain,
                topic,
                properties: properties.as_properties(),
                ..Publish::default()
            };
            publish.encode_head(self.version, payload.len(), out);
            out.extend_from_slice(payload);
        };
        if item.whole && conversion.is_none() {
            return write(&message.topic, &message.body);
        }
        for part in parts_of(item, conversion) {
            write(&part.topic, &part.payload);
        }
    }
}

/// A gap as a property tells it.
pub(super) fn write_gap(gap: &weir_hub::Gap, out: &mut PropertyList) {
    let count = gap
        .count
        .map_or_else(String::new, |count| format!(":{count}"));
    let text = format!("{}{count}", gap.reason.name());
    out.push(Property::UserProperty("weir-gap", &text));
}
