//! Messages as the payload of an item, and back (XEP-0060 section 7.1).
//!
//! The sensor message (`xml`) is elements of a namespace of ours, JSON the element of XEP-0335; all else is an
//! element that says the media type and holds text, or base64 where that would not arrive as it went. The
//! decision worth arguing: O&M and SOAP travel as text, since servers write elements anew with prefixes of
//! their own (Prosody does), and a name in a value (`xsi:type`) then means nothing any more.

use crate::names::MESSAGE;
use crate::xml::{Element, escape, escape_content, is_carried};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use weir_codec::Element::{Named, Text};
use weir_codec::{Format, by_element, by_media, by_root};
use weir_hub::Media;

/// Appends the payload that carries a message in a format.
pub(super) fn write(format: &Format, message: &[u8], out: &mut String) {
    match (std::str::from_utf8(message), format.element) {
        (Ok(text), Named(name, namespace)) => write_named(name, namespace, text, out),
        // [XEP0335-2-1]
        (Ok(text), Text(name, namespace)) => {
            out.push_str(&format!("<{name} xmlns='{namespace}'>"));
            escape_content(text, out);
            out.push_str(&format!("</{name}>"));
        }
        // A carriage return is a line feed behind the next server (XML 1.0 section 2.11).
        (Ok(text), _) if format.text && is_carried(text) && !text.contains('\r') => {
            write_as("text", format.media, out, |out| escape_content(text, out));
        }
        _ => write_bytes(format.media, message, out),
    }
}

/// Appends the payload that carries what is in none of the formats: XML that can be a payload as it is, all else as
/// bytes.
// [XEP0060-7.1-1]
pub(super) fn write_opaque(media: &str, bytes: &[u8], out: &mut String) {
    let text = std::str::from_utf8(bytes).ok().map(str::trim_ascii);
    match text.filter(|text| is_xml(media) && is_payload(text)) {
        Some(text) => out.push_str(text),
        None => write_bytes(media, bytes, out),
    }
}

fn is_xml(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    essence == "application/xml" || essence == "text/xml" || essence.ends_with("+xml")
}

/// Whether a text is one element of a namespace (XEP-0060 section 7.1.1), and nothing that XMPP's XML has not (RFC 6120
/// section 11.1).
fn is_payload(text: &str) -> bool {
    let is_plain = !text.contains("<!") && !text.contains("<?") && is_carried(text);
    let whole = || Element::read(text.as_bytes()).ok().flatten();
    is_plain && whole().is_some_and(|whole| !whole.namespace.is_empty())
}

/// Appends the payload that carries bytes of some media type.
fn write_bytes(media: &str, bytes: &[u8], out: &mut String) {
    write_as("data", media, out, |out| {
        out.push_str(&STANDARD.encode(bytes))
    });
}

fn write_as(name: &str, media: &str, out: &mut String, content: impl FnOnce(&mut String)) {
    out.push('<');
    out.push_str(name);
    out.push_str(" xmlns='urn:weir:message:0' type='");
    escape(media, out);
    out.push_str("'>");
    content(out);
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// XEP-0060 wants a payload that has a namespace.
fn write_named(name: &str, namespace: &str, text: &str, out: &mut String) {
    let begin = format!("<{name}");
    let rest = text.find(&begin).map(|at| &text[at + begin.len()..]);
    out.push_str(&format!("{begin} xmlns='{namespace}'"));
    out.push_str(rest.unwrap_or_default());
}

/// What a payload carries; an error is a sentence.
///
/// `document` is what the payload was read from, and `item` the item around it.
pub(super) fn read(item: &Element, document: &[u8]) -> Result<(Media, Bytes), String> {
    let mut payloads = item.elements();
    let payload = payloads.next().ok_or("an item without a payload")?;
    if payloads.next().is_some() {
        return Err("more than one payload in an item".into());
    }
    match (payload.namespace.as_str(), payload.name.as_str()) {
        (MESSAGE, "text") => Ok((media(payload)?, payload.own_text().into())),
        (MESSAGE, "data") => {
            let text: String = payload.own_text().split_ascii_whitespace().collect();
            let bytes = STANDARD
                .decode(text)
                .map_err(|error| format!("not base64: {error}"))?;
            Ok((media(payload)?, bytes.into()))
        }
        (namespace, name) => match by_element(name, namespace) {
            Some(format) if matches!(format.element, Text(..)) => {
                Ok((undeclared(payload)?, payload.own_text().into()))
            }
            Some(format) => {
                let mut bare = payload.clone();
                bare.rename(namespace, "");
                let mut text = String::new();
                bare.write("", &mut text);
                Ok((Media::Format(format), text.into()))
            }
            None => read_xml(item, payload, document),
        },
    }
}

/// JSON may be in any of the formats that look like it, unless the publisher says which.
fn undeclared(payload: &Element) -> Result<Media, String> {
    match payload.attribute("type") {
        Some(_) => media(payload),
        None => Ok(Media::Undeclared),
    }
}

fn media(payload: &Element) -> Result<Media, String> {
    let named = payload
        .attribute("type")
        .ok_or("no media type: attribute `type`")?;
    Ok(match by_media(named) {
        Some(format) if format.vague => Media::Undeclared,
        Some(format) => Media::Format(format),
        None => Media::Opaque(named.into()),
    })
}

/// Any other XML: O&M, SOAP, or what nobody here reads.
fn read_xml(item: &Element, payload: &Element, document: &[u8]) -> Result<(Media, Bytes), String> {
    let slice = document
        .get(payload.place.start..item.place.end)
        .unwrap_or_default();
    let text = slice.trim_ascii_end();
    let whole = Element::read(text).map_err(|error| {
        format!("the payload must declare the namespaces that it uses: {error}")
    })?;
    let name = whole.map(|whole| whole.name).unwrap_or_default();
    let media = match by_root(&name) {
        Some(format) => Media::Format(format),
        None => Media::Opaque("application/xml".into()),
    };
    Ok((media, Bytes::copy_from_slice(text)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_codec::FORMATS;

    fn through_a_stream(payload: &str) -> Result<(Media, Bytes), String> {
        let text = format!("<stream xmlns='jabber:client'><item id='1'>{payload}</item></stream>");
        let item = Element::read_within(text.as_bytes()).unwrap().unwrap();
        read(&item, text.as_bytes())
    }

    #[test]
    fn every_format_comes_back_as_it_went() {
        for format in FORMATS {
            let mut message = Vec::new();
            (format.encode)(&weir_codec::sample::message(2, 1), &mut message);
            let mut text = String::new();
            write(format, &message, &mut text);
            let (media, bytes) = through_a_stream(&text).unwrap();
            match media {
                Media::Format(known) | Media::Claimed(known) => assert_eq!(known.name, format.name),
                Media::Undeclared => assert!(["json", "plain"].contains(&format.name)),
                Media::Opaque(media) => panic!("{media}"),
            }
            assert_eq!(bytes, message, "{}", format.name);
        }
    }

    #[test]
    fn xml_of_others_comes_as_it_went_or_as_bytes() {
        let entry = "<entry xmlns='http://www.w3.org/2005/Atom' xml:lang='en'><title>Soliloquy</title>\
                     <a:x xmlns:a='urn:a' a:y='1'>2</a:x></entry>";
        let (media, bytes) = through_a_stream(entry).unwrap();
        let Media::Opaque(media) = media else {
            panic!("an opaque message was expected");
        };
        let mut out = String::new();
        write_opaque(&media, &bytes, &mut out);
        assert_eq!(out, entry);
        for (media, text) in [
            ("application/xml", "<a>1</a>"),
            ("application/xml", "<?xml version='1.0'?><a xmlns='x'/>"),
            ("application/xml", "<a xmlns='x'><!-- no --></a>"),
            ("application/xml", "<a xmlns='x'><![CDATA[no]]></a>"),
            ("application/xml", "<a xmlns='x'/><b xmlns='x'/>"),
            ("application/xml", "</stream>"),
            ("application/xml", "<a xmlns='x'>\u{1}</a>"),
            ("image/png", "<a xmlns='x'/>"),
        ] {
            let mut out = String::new();
            write_opaque(media, text.as_bytes(), &mut out);
            assert!(out.starts_with("<data "), "{text}: {out}");
        }
    }

    #[test]
    fn what_carries_no_message_is_refused_with_what_is_wrong() {
        for (payload, says) in [
            ("", "without a payload"),
            ("<a xmlns='x'/><b xmlns='x'/>", "more than one"),
            (
                "<data xmlns='urn:weir:message:0' type='a/b'>?</data>",
                "base64",
            ),
            ("<data xmlns='urn:weir:message:0'>QQ==</data>", "media type"),
        ] {
            let problem = through_a_stream(payload).unwrap_err();
            assert!(problem.contains(says), "{problem}");
        }
        let (media, bytes) = through_a_stream("<e xmlns='x' a='&lt;'>1<b/></e> ").unwrap();
        assert!(matches!(media, Media::Opaque(media) if media == "application/xml"));
        assert_eq!(bytes, "<e xmlns='x' a='&lt;'>1<b/></e>");
    }
}
