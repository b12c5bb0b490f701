//! The bare message (AMQP 1.0 section 3.2), which nobody on its way changes: what of it the attributes that all
//! protocols share do not keep, is kept as AMQP has it, and given to receivers of AMQP again.
//!
//! Most messages need none of it: bytes with a type and texts as properties are kept whole without. Deliberately not
//! kept: where one data section ends and the next begins, and a value that is longer than this is allowed to be.

use crate::limits::NATIVE_BYTES_MAX;
use crate::wire::{Body, Message, MessageId, Properties, Value};
use bytes::Bytes;

/// What is to be kept of a message beside its attributes and the bytes of its body; `None` where that is all.
pub(super) fn native_of(message: &Message) -> Option<Bytes> {
    let is_text = |value: &Value| matches!(value, Value::String(_));
    let mut pairs = message.application_properties.0.iter();
    let keeps_properties = message.properties.as_deref().is_none_or(is_shared)
        && pairs.all(|(name, value)| is_text(name) && is_text(value));
    if keeps_properties && matches!(&message.body, Body::Data(_)) {
        return None;
    }
    let mut bare = Message {
        properties: message.properties.clone(),
        application_properties: message.application_properties.clone(),
        ..Message::of(Bytes::new())
    };
    let before = written(&bare);
    bare.body = marked(&message.body);
    let whole = Some(written(&bare)).filter(|whole| whole.len() <= NATIVE_BYTES_MAX);
    whole.or(Some(before).filter(|before| before.len() <= NATIVE_BYTES_MAX))
}

/// Whether the attributes that all protocols share say all that these properties say.
fn is_shared(of: &Properties) -> bool {
    let known = Properties {
        to: of.to.clone(),
        reply_to: of.reply_to.clone(),
        correlation_id: of.correlation_id.clone(),
        content_type: of.content_type.clone(),
        absolute_expiry_time: of.absolute_expiry_time,
        ..Properties::default()
    };
    let correlation = &of.correlation_id;
    *of == known && matches!(correlation, None | Some(MessageId::String(_)))
}

/// A body without the bytes that are the message's anyway.
fn marked(body: &Body) -> Body {
    match body {
        Body::Data(_) => Body::Data(vec![Bytes::new()]),
        Body::Value(Value::String(_)) => Body::Value(Value::String(String::new())),
        Body::Value(Value::Binary(_)) => Body::Value(Value::Binary(Bytes::new())),
        other => other.clone(),
    }
}

fn written(message: &Message) -> Bytes {
    let mut out = Vec::new();
    message.write(&mut out);
    out.into()
}

/// The bare message again, of what was kept of it and the bytes of its body.
pub(super) fn bare_of(native: &Bytes, body: &Bytes) -> Option<Message> {
    let mut bare = Message::read(native).ok()?;
    bare.body = match bare.body {
        Body::Data(_) => Body::Data(vec![body.clone()]),
        Body::Value(Value::String(empty)) if empty.is_empty() => {
            Body::Value(Value::String(String::from_utf8(body.to_vec()).ok()?))
        }
        Body::Value(Value::Binary(empty)) if empty.is_empty() => {
            Body::Value(Value::Binary(body.clone()))
        }
        other => other,
    };
    Some(bare)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::net::body::bytes_of;
    use crate::wire::{Map, Symbol};

    fn named(name: &str, value: Value) -> Map {
        Map(vec![(Value::from(name), value)])
    }

    fn again(message: &Message) -> Option<Message> {
        let native = native_of(message)?;
        bare_of(&native, &bytes_of(message.body.clone()))
    }

    #[test]
    fn what_the_shared_attributes_keep_is_not_kept_twice() {
        let mut message = Message::of(Bytes::from_static(b"21.5"));
        assert_eq!(native_of(&message), None);
        message.properties = Some(Box::new(Properties {
            to: Some("a/b".into()),
            reply_to: Some("answers".into()),
            correlation_id: Some(MessageId::String("c".into())),
            content_type: Some(Symbol::from("text/plain".to_owned())),
            ..Properties::default()
        }));
        message.application_properties = named("name", Value::from("value"));
        assert_eq!(native_of(&message), None);
    }

    // [AMQP-3.2-2]
    #[test]
    fn a_bare_message_is_the_same_again() {
        let ids = [
            MessageId::Ulong(7),
            MessageId::Uuid([9; 16]),
            MessageId::Binary(Bytes::from_static(b"\xff")),
            MessageId::String("m".into()),
        ];
        let mut map = Map::default();
        map.push("value", Value::Double(21.5));
        let bodies = [
            Body::Data(vec![Bytes::from_static(b"21.5")]),
            Body::Value(Value::from("21.5")),
            Body::Value(Value::from("")),
            Body::Value(Value::Binary(Bytes::from_static(b"21.5"))),
            Body::Value(Value::Double(21.5)),
            Body::Value(Value::Null),
            Body::Value(Value::Map(map)),
            Body::Sequence(vec![vec![Value::Int(1)], vec![Value::Bool(true)]]),
        ];
        for (id, body) in ids
            .iter()
            .flat_map(|id| bodies.iter().map(move |body| (id, body)))
        {
            let mut message = Message {
                body: body.clone(),
                properties: Some(Box::new(Properties {
                    message_id: Some(id.clone()),
                    correlation_id: Some(id.clone()),
                    subject: Some("s".into()),
                    creation_time: Some(1),
                    group_sequence: Some(3),
                    ..Properties::default()
                })),
                ..Message::of(Bytes::new())
            };
            message.application_properties = named("count", Value::Int(3));
            assert_eq!(again(&message), Some(message));
        }
    }

    #[test]
    fn what_is_too_long_is_left_out_and_no_more() {
        let long = Value::List(vec![Value::String("x".repeat(NATIVE_BYTES_MAX))]);
        let mut message = Message {
            body: Body::Value(long),
            ..Message::of(Bytes::new())
        };
        message.application_properties = named("count", Value::Int(3));
        let kept = again(&message).unwrap();
        assert_eq!(kept.application_properties, message.application_properties);
        assert!(matches!(kept.body, Body::Data(_)));
    }
}
