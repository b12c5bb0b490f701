//! JSON of a whole document, as generic converters of that time made it (the paper used JSON-lib):
//! an element is an object, an attribute a member `@name`, text a member `#text` or, alone, a string;
//! elements of one name become an array. Namespaces are dropped, which the authors did by hand.

use std::hint::black_box;
use std::rc::Rc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Coding, From, Prepared};
use crate::encoding::data::Document;

pub(super) fn codings() -> Vec<Coding> {
    vec![Coding {
        format: "json",
        target: "serde_json",
        from: From::Document,
        prepare: Box::new(prepare),
    }]
}

fn prepare(document: &Rc<Document>) -> Result<Prepared, String> {
    let tree = tree(&document.xml)?;
    let bytes = serde_json::to_vec(&tree).map_err(|e| e.to_string())?;
    let read = bytes.clone();
    let mut out = Vec::with_capacity(bytes.len());
    Ok(Prepared {
        bytes,
        parse: Some(Box::new(move || read_all(&read))),
        serialize: Some(Box::new(move || {
            out.clear();
            serde_json::to_writer(&mut out, &tree).map_err(|e| e.to_string())?;
            black_box(&out);
            Ok(())
        })),
        from_xml: None,
    })
}

/// The JSON of a document.
pub(crate) fn json_of(xml: &str) -> Result<Vec<u8>, String> {
    serde_json::to_vec(&tree(xml)?).map_err(|e| e.to_string())
}

/// An element; what an object holds, in order.
#[derive(Debug, Default, PartialEq)]
struct Element {
    members: Vec<(String, Member)>,
    text: String,
}

#[derive(Debug, PartialEq)]
enum Member {
    Attribute(String),
    Elements(Vec<Element>),
}

impl Element {
    fn add(&mut self, name: String, child: Element) {
        // A name stands last, or not at all, in nearly every document.
        let found = self.members.iter_mut().rev().find(|(own, _)| *own == name);
        if let Some((_, Member::Elements(elements))) = found {
            elements.push(child);
        } else {
            self.members.push((name, Member::Elements(vec![child])));
        }
    }
}

impl Serialize for Element {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.members.is_empty() {
            return serializer.serialize_str(&self.text);
        }
        let mut map = serializer.serialize_map(None)?;
        for (name, member) in &self.members {
            match member {
                Member::Attribute(value) => map.serialize_entry(name, value)?,
                Member::Elements(one) if one.len() == 1 => map.serialize_entry(name, &one[0])?,
                Member::Elements(all) => map.serialize_entry(name, all)?,
            }
        }
        if !self.text.is_empty() {
            map.serialize_entry("#text", &self.text)?;
        }
        map.end()
    }
}

/// The document as one element around its root.
fn tree(xml: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(xml);
    let mut open: Vec<(String, Element)> = vec![Default::default()];
    loop {
        match reader.read_event().map_err(|e| e.to_string())? {
            Event::Start(tag) => open.push(element(&tag)?),
            Event::Empty(tag) => {
                let (name, element) = element(&tag)?;
                parent(&mut open)?.add(name, element);
            }
            Event::End(_) => {
                let (name, element) = open.pop().ok_or("an end without a start")?;
                parent(&mut open)?.add(name, element);
            }
            Event::Text(text) if !text.trim_ascii().is_empty() => {
                parent(&mut open)?.text.push_str(&text);
            }
            Event::CData(text) => parent(&mut open)?.text.push_str(&text),
            Event::GeneralRef(name) => {
                let reference = format!("&{};", &*name);
                let text = quick_xml::escape::unescape(&reference).map_err(|e| e.to_string())?;
                parent(&mut open)?.text.push_str(&text);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(open.swap_remove(0).1)
}

fn parent(open: &mut [(String, Element)]) -> Result<&mut Element, String> {
    let last = open.last_mut().ok_or("content outside the root")?;
    Ok(&mut last.1)
}

fn element(tag: &BytesStart<'_>) -> Result<(String, Element), String> {
    let mut element = Element::default();
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|e| e.to_string())?;
        if crate::encoding::density::is_structure(attribute.key.as_ref()) {
            continue;
        }
        let name = format!("@{}", attribute.key.local_name().as_ref());
        let value = quick_xml::escape::unescape(&attribute.value).map_err(|e| e.to_string())?;
        element
            .members
            .push((name, Member::Attribute(value.into_owned())));
    }
    Ok((tag.local_name().as_ref().into(), element))
}

/// Reads every name and value as a stream, building nothing, as the paper's parser did.
fn read_all(json: &[u8]) -> Result<(), String> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    Stream.deserialize(&mut reader).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())
}

struct Stream;

impl<'de> DeserializeSeed<'de> for Stream {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Stream {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object, an array or a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        black_box(text);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(Stream)?.is_some() {
            map.next_value_seed(Stream)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Stream)?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn elements_attributes_text_and_repetition_have_their_places() {
        let xml = "<s:a xmlns:s=\"urn:s\" s:b=\"1 &amp; 2\"><s:c>x</s:c><s:c>y</s:c><d/>\n\
                   <e f=\"g\">h &lt; i</e></s:a>";
        let json = String::from_utf8(json_of(xml).unwrap()).unwrap();
        assert_eq!(
            json,
            r##"{"a":{"@b":"1 & 2","c":["x","y"],"d":"","e":{"@f":"g","#text":"h < i"}}}"##
        );
        read_all(json.as_bytes()).unwrap();
    }

    #[test]
    fn what_is_no_json_is_refused() {
        assert!(read_all(b"{\"a\":").is_err());
        assert!(read_all(b"{} {}").is_err());
    }
}
