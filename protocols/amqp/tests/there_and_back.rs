//! What is written reads back, and no bytes panic.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use proptest::prelude::*;
use weir_amqp::wire::{
    Attach, Begin, Body, Condition, Decode, DeliveryState, Detach, Disposition, Encode, Error,
    Flow, Framed, Header, Map, Message, MessageId, Open, Performative, Properties, Reader, Role,
    Sasl, SaslCode, Source, Symbol, Tag, Target, TargetKind, Transfer, Value, frame,
};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<u8>().prop_map(Value::Ubyte),
        any::<u16>().prop_map(Value::Ushort),
        any::<u32>().prop_map(Value::Uint),
        (0u32..300).prop_map(Value::Uint),
        any::<u64>().prop_map(Value::Ulong),
        any::<i8>().prop_map(Value::Byte),
        any::<i16>().prop_map(Value::Short),
        any::<i32>().prop_map(Value::Int),
        any::<i64>().prop_map(Value::Long),
        (-200i64..200).prop_map(Value::Long),
        (-1e9f32..1e9).prop_map(Value::Float),
        (-1e9f64..1e9).prop_map(Value::Double),
        any::<[u8; 16]>().prop_map(Value::Uuid),
        any::<char>().prop_map(Value::Char),
        any::<i64>().prop_map(Value::Timestamp),
        proptest::collection::vec(any::<u8>(), 0..300)
            .prop_map(|bytes| Value::Binary(bytes.into())),
        ".{0,90}".prop_map(Value::String),
        "[a-z:]{0,9}".prop_map(|text| Value::Symbol(Symbol::from(text))),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::List),
            proptest::collection::vec((inner.clone(), inner.clone()), 0..4)
                .prop_map(|pairs| Value::Map(Map(pairs))),
            proptest::collection::vec(any::<i32>().prop_map(Value::Int), 1..5)
                .prop_map(Value::Array),
            proptest::collection::vec(".{0,9}".prop_map(Value::String), 1..5)
                .prop_map(Value::Array),
            (any::<u64>(), inner)
                .prop_map(|(code, value)| Value::Described(Box::new((Value::Ulong(code), value)))),
        ]
    })
}

fn back(performative: &Performative, payload: &[u8]) -> Performative {
    let mut bytes = Vec::new();
    performative.write(7, payload.len(), &mut bytes);
    bytes.extend_from_slice(payload);
    let Ok(Framed::Whole(header)) = frame(&bytes, bytes.len()) else {
        panic!("no frame");
    };
    assert_eq!((header.end, header.channel), (bytes.len(), 7));
    let (read, rest) = Performative::read(&header, &bytes).unwrap().unwrap();
    assert_eq!(rest, payload);
    read
}

#[test]
fn every_performative_reads_back() {
    let mut attach = Attach::new("link", 3, Role::Receiver);
    let mut filter = Map::default();
    filter.push("weir:where", Value::String("value>3".into()));
    attach.source = Some(Box::new(Source {
        address: Some("a/+/b".into()),
        durable: 2,
        expiry_policy: Some(Symbol::new("never")),
        filter,
        outcomes: vec![
            Symbol::new("amqp:accepted:list"),
            Symbol::new("amqp:released:list"),
        ],
        ..Source::default()
    }));
    attach.target = Some(TargetKind::Node(Box::new(Target {
        address: Some("t".repeat(300)),
        ..Target::default()
    })));
    let error = Error::new(Condition::NOT_FOUND, "nothing there");
    let all = [
        Performative::Open(Box::new(Open {
            container_id: "c".into(),
            idle_time_out: Some(3000),
            ..Open::default()
        })),
        Performative::Begin(Box::new(Begin {
            remote_channel: Some(1),
            incoming_window: 70_000,
            ..Begin::default()
        })),
        Performative::Attach(Box::new(attach)),
        Performative::Flow(Flow {
            handle: Some(0),
            link_credit: Some(10),
            drain: true,
            ..Flow::default()
        }),
        Performative::Transfer(Transfer {
            handle: 1,
            delivery_id: Some(0),
            delivery_tag: Tag::new(b"tag"),
            more: true,
            state: Some(DeliveryState::Accepted),
            ..Transfer::default()
        }),
        Performative::Disposition(Disposition {
            role: Role::Receiver,
            first: 1,
            last: Some(9),
            settled: true,
            state: Some(DeliveryState::Rejected(Some(error.clone()))),
            batchable: false,
        }),
        Performative::Detach(Detach {
            handle: 4,
            closed: true,
            error: Some(error.clone()),
        }),
        Performative::End(None),
        Performative::Close(Some(error)),
    ];
    for performative in all {
        assert_eq!(back(&performative, b"payload"), performative);
    }
}

#[test]
fn every_frame_of_sasl_reads_back() {
    let all = [
        Sasl::Mechanisms(vec![Symbol::new("PLAIN")]),
        Sasl::Mechanisms(vec![Symbol::new("PLAIN"), Symbol::new("ANONYMOUS")]),
        Sasl::Init {
            mechanism: Symbol::new("PLAIN"),
            initial_response: Some(Bytes::from_static(b"\0user\0secret")),
            hostname: None,
        },
        Sasl::Challenge(Bytes::from_static(b"?")),
        Sasl::Response(Bytes::from_static(b"!")),
        Sasl::Outcome(SaslCode::AUTH, None),
    ];
    for sasl in all {
        let mut bytes = Vec::new();
        sasl.write(&mut bytes);
        let Ok(Framed::Whole(header)) = frame(&bytes, 512) else {
            panic!("no frame");
        };
        assert!(header.is_sasl);
        assert_eq!(Sasl::read(&header, &bytes), Ok(sasl));
    }
}

// Section 2.7.1 and Figure 2.16: an open of a container `c` and nothing else.
#[test]
fn the_shortest_open_is_these_bytes() {
    let mut bytes = Vec::new();
    let open = Open {
        container_id: "c".into(),
        ..Open::default()
    };
    Performative::Open(Box::new(open)).write(0, 0, &mut bytes);
    let expected = [
        0, 0, 0, 17, 2, 0, 0, 0, 0, 0x53, 0x10, 0xc0, 4, 1, 0xa1, 1, b'c',
    ];
    assert_eq!(bytes, expected);
}

// Section 1.6.24: an array of symbols has one constructor.
#[test]
fn several_symbols_are_an_array() {
    let mut bytes = Vec::new();
    vec![Symbol::new("ab"), Symbol::new("c")].encode(&mut bytes);
    let expected = [
        0xf0, 0, 0, 0, 16, 0, 0, 0, 2, 0xb3, 0, 0, 0, 2, b'a', b'b', 0, 0, 0, 1, b'c',
    ];
    assert_eq!(bytes, expected);
}

#[test]
fn values_that_nest_too_deep_or_are_too_many_are_refused() {
    let deep = [&[0xc0u8, 2, 1][..]; 40].concat();
    assert!(Reader::new(&deep, 0).value().is_err());
    let many = [0xf0, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0x40];
    let fault = Reader::new(&many, 0).value().unwrap_err();
    assert_eq!(fault.condition, Condition::RESOURCE_LIMIT_EXCEEDED);
}

// [AMQP-3.2-1]
#[test]
fn sections_out_of_order_and_bodiless_messages_are_refused() {
    let data = [0, 0x53, 0x75, 0xa0, 1, b'x'];
    let annotations = [0, 0x53, 0x72, 0xc1, 1, 0];
    let read = |parts: &[&[u8]]| Message::read(&Bytes::from(parts.concat()));
    assert!(read(&[&annotations, &data, &data]).is_ok());
    assert!(read(&[&data, &annotations]).is_err());
    assert!(read(&[&annotations, &annotations, &data]).is_err());
    assert!(read(&[&annotations]).is_err());
}

// [AMQP-1.4-1]
#[test]
fn a_type_has_no_more_fields_than_it_has() {
    let accepted = [0, 0x53, 0x24, 0xc0, 2, 1, 0x40];
    assert!(weir_amqp::wire::DeliveryState::decode(&mut Reader::new(&accepted, 0)).is_err());
}

proptest! {
    // [AMQP-1.6-1]
    #[test]
    fn every_value_reads_back(value in values()) {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        let mut reader = Reader::new(&bytes, 0);
        prop_assert_eq!(reader.value(), Ok(value));
        prop_assert!(reader.is_empty());
    }

    #[test]
    fn every_message_reads_back(
        parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..600), 1..3),
        value in values(),
        text in proptest::option::of("[ -~]{0,30}"),
        ttl in any::<Option<u32>>(),
    ) {
        let mut message = Message::of(Bytes::new());
        message.body = Body::Data(parts.into_iter().map(Bytes::from).collect());
        message.header = Some(Header { ttl, ..Header::default() });
        message.message_annotations.push("weir-cursor", value);
        message.properties = Some(Box::new(Properties {
            to: text.clone(),
            correlation_id: text.clone().map(MessageId::String),
            content_type: text.map(Symbol::from),
            ..Properties::default()
        }));
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        prop_assert_eq!(Message::read(&bytes.into()), Ok(message));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _value = Reader::new(&bytes, 0).value();
        if let Ok(Framed::Whole(header)) = frame(&bytes, 4096) {
            let _frame = Performative::read(&header, &bytes);
            let _sasl = Sasl::read(&header, &bytes);
        }
        let _message = Message::read(&bytes.into());
    }
}
