//! XML itself: our reader and writer, and quick-xml as the reference. Of the latter `NsReader` is
//! used; namespaces are resolved, attributes normalized and text freed of carriage returns, as any
//! reader of a document must.

use std::hint::black_box;
use std::rc::Rc;

use quick_xml::NsReader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use weir_exi::xml::{Reader, Writer};

use super::recording::{self, Recording};
use super::{Coding, From, Prepared};
use crate::encoding::data::Document;
use weir_bench_model::results::OURS;

pub(super) fn codings() -> Vec<Coding> {
    let coding = |target, prepare: fn(&Rc<Document>) -> Result<Prepared, String>| Coding {
        format: "xml",
        target,
        from: From::Document,
        prepare: Box::new(prepare),
    };
    vec![coding(OURS, ours), coding("quick-xml", quick_xml)]
}

fn ours(document: &Rc<Document>) -> Result<Prepared, String> {
    let (read, recording) = (Rc::clone(document), Recording::of(&document.xml)?);
    let mut out = Vec::with_capacity(document.xml.len());
    Ok(Prepared {
        bytes: document.xml.clone().into_bytes(),
        parse: Some(Box::new(move || parse(&read.xml))),
        serialize: Some(Box::new(move || {
            out.clear();
            let mut writer = Writer::new();
            for event in recording.events() {
                writer.write(&event, &mut out).map_err(|e| e.to_string())?;
            }
            black_box(&out);
            Ok(())
        })),
        from_xml: None,
    })
}

/// Reads every event with our reader.
pub(super) fn parse(xml: &str) -> Result<(), String> {
    let reader = Reader::new(xml.as_bytes(), recording::preserve(), recording::LIMITS);
    let mut reader = reader.map_err(|e| e.to_string())?;
    loop {
        match reader.next_event() {
            Ok(Some(ref event)) => black_box(event),
            Ok(None) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
    }
}

fn quick_xml(document: &Rc<Document>) -> Result<Prepared, String> {
    let (read, events) = (Rc::clone(document), events(&document.xml)?);
    Ok(Prepared {
        bytes: document.xml.clone().into_bytes(),
        parse: Some(Box::new(move || read_all(&read.xml))),
        serialize: Some(Box::new(move || write_all(&events))),
        from_xml: None,
    })
}

/// Reads every event with its names and values.
pub(super) fn read_all(xml: &str) -> Result<(), String> {
    let mut reader = NsReader::from_str(xml);
    loop {
        let (namespace, event) = reader.read_resolved_event().map_err(|e| e.to_string())?;
        if let ResolveResult::Unknown(prefix) = namespace {
            return Err(format!("an unknown prefix {prefix:?}"));
        }
        match event {
            Event::Start(tag) | Event::Empty(tag) => read_attributes(&reader, &tag)?,
            Event::Text(text) => {
                black_box(text.xml10_content());
            }
            Event::Eof => return Ok(()),
            ref other => {
                black_box(other);
            }
        }
    }
}

fn read_attributes(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>) -> Result<(), String> {
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        black_box(reader.resolver().resolve_attribute(attribute.key));
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        black_box(value.map_err(|e| e.to_string())?);
    }
    Ok(())
}

fn events(xml: &str) -> Result<Vec<Event<'static>>, String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut events = Vec::new();
    loop {
        match reader.read_event().map_err(|e| e.to_string())? {
            Event::Eof => return Ok(events),
            event => events.push(event.into_owned()),
        }
    }
}

fn write_all(events: &[Event<'static>]) -> Result<(), String> {
    let mut writer = quick_xml::Writer::new(Vec::new());
    for event in events {
        writer
            .write_event(event.borrow())
            .map_err(|e| e.to_string())?;
    }
    black_box(writer.into_inner());
    Ok(())
}
