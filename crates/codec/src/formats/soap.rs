//! `soap`: the elements of `xml` in the body of a SOAP 1.2 envelope; 1.1 is read too.
//!
//! A fault is read as an error that says what the peer says. What it deliberately does not do:
//! headers of its own; one that must be understood is refused, as none is (SOAP 1.2 part 1 section
//! 5.2.3).
#![cfg(feature = "soap")]

use crate::error::DecodeError;
use crate::format::{Element, Format};
use crate::infoset::walk::skip;
use crate::infoset::xml::Xml;
use crate::infoset::xml_text::{Prefix, XmlText};
use crate::infoset::{Emit, Event, Name, Pull};
use crate::rows::{Rows, read_text};
use crate::soap_role;
use crate::vocabulary::message_xml::{self, Root};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    element: Element::Roots(&["Envelope"]),
    text: true,
    one_line: true,
    line_by_line: true,
    ..Format::new("soap", "application/soap+xml", encode, decode)
};

const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";

const PREFIXES: &[Prefix] = &[("env", SOAP12)];

const fn env(local: &'static str) -> Name<'static> {
    Name { uri: SOAP12, local }
}

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let mut xml = XmlText::with_prefixes(PREFIXES, out);
    xml.start(env("Envelope"));
    xml.start(env("Body"));
    message_xml::write(batch, &mut xml);
    xml.end(env("Body"));
    xml.end(env("Envelope"));
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    read_text(bytes, limits, |text| {
        let mut xml = Xml::new(text, limits);
        read(&mut xml, &mut Rows::new(out, limits), limits)
    })
}

/// An element of the envelope.
enum Part {
    Header,
    Body,
    Other,
}

impl Part {
    fn named(name: Name<'_>) -> Self {
        match (is_soap(name.uri), name.local) {
            (true, "Header") => Part::Header,
            (true, "Body") => Part::Body,
            _ => Part::Other,
        }
    }
}

fn is_soap(uri: &str) -> bool {
    uri == SOAP12 || uri == SOAP11
}

fn read(pull: &mut impl Pull, rows: &mut Rows<'_>, limits: &Limits) -> Result<(), DecodeError> {
    let root = match pull.next()? {
        Event::Start(name) if name.local == "Envelope" => Some(is_soap(name.uri)),
        _ => None,
    };
    match root {
        Some(true) => {}
        // SOAP 1.2 part 1 section 2.8: another namespace is another version.
        Some(false) => return Err(DecodeError::expected(pull.at(), "SOAP 1.2 or 1.1")),
        None => {
            return Err(DecodeError::expected(
                pull.at(),
                "the element Envelope of SOAP",
            ));
        }
    }
    let mut body = false;
    loop {
        let part = match pull.next()? {
            Event::Start(name) => Part::named(name),
            Event::End => break,
            _ => continue,
        };
        match part {
            Part::Header => check_header(pull)?,
            Part::Body => read_body(pull, rows, limits)?,
            Part::Other => skip(pull)?,
        }
        body |= matches!(part, Part::Body);
    }
    if !body {
        return Err(DecodeError::expected(pull.at(), "a Body"));
    }
    match pull.next()? {
        Event::Done => Ok(()),
        _ => Err(DecodeError::expected(pull.at(), "the end of the document")),
    }
}

/// Refuses a block that must be understood by who acts in its role: none is.
fn check_header(pull: &mut impl Pull) -> Result<(), DecodeError> {
    let mut depth = 1;
    let (mut must, mut is_ours) = (None, true);
    while depth > 0 {
        let attribute = match pull.next()? {
            Event::Start(_) => {
                depth += 1;
                continue;
            }
            Event::End => {
                if let (2, true, Some(at)) = (depth, is_ours, must) {
                    let what = "no header that must be understood: none is";
                    return Err(DecodeError::expected(at, what));
                }
                if depth == 2 {
                    (must, is_ours) = (None, true);
                }
                depth -= 1;
                continue;
            }
            // Attributes of what stands within a block are its own.
            Event::Attribute(name) if depth == 2 && is_soap(name.uri) => OfBlock::named(name.local),
            _ => continue,
        };
        match attribute {
            Some(OfBlock::Role) => is_ours = soap_role::acts_in(pull.text()),
            Some(OfBlock::Must) if soap_role::is_true(pull.text()) => must = Some(pull.at()),
            _ => {}
        }
    }
    Ok(())
}

/// What an attribute says of a header block.
enum OfBlock {
    Must,
    Role,
}

impl OfBlock {
    fn named(name: &str) -> Option<Self> {
        match name {
            "mustUnderstand" => Some(OfBlock::Must),
            "role" | "actor" => Some(OfBlock::Role),
            _ => None,
        }
    }
}

/// What stands in a body.
enum Content {
    Message(Root),
    Fault,
    /// The element that an operation of a document-literal service wraps its message in.
    Wrapper,
}

fn read_body(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let mut depth = 1;
    while depth > 0 {
        let content = match pull.next()? {
            Event::Start(name) if is_soap(name.uri) && name.local == "Fault" => Content::Fault,
            Event::Start(name) => Root::named(name).map_or(Content::Wrapper, Content::Message),
            Event::End => {
                depth -= 1;
                continue;
            }
            _ => continue,
        };
        match content {
            Content::Message(root) => message_xml::read_root(root, pull, rows, limits)?,
            Content::Fault => return Err(read_fault(pull)?),
            Content::Wrapper if depth > 1 => {
                let what = "the element observations, in one wrapper at most";
                return Err(DecodeError::expected(pull.at(), what));
            }
            Content::Wrapper => depth += 1,
        }
    }
    Ok(())
}

/// Reads a fault: its code and its reason, by the names of either version.
fn read_fault(pull: &mut impl Pull) -> Result<DecodeError, DecodeError> {
    let start = pull.at();
    let (mut code, mut reason) = (String::new(), String::new());
    let mut field = Field::Other;
    let mut depth = 1;
    while depth > 0 {
        match pull.next()? {
            Event::Start(name) => {
                depth += 1;
                field = Field::named(name.local);
            }
            Event::End => {
                depth -= 1;
                field = Field::Other;
            }
            Event::Content => match field {
                Field::Code if code.is_empty() => code = pull.text().trim_ascii().into(),
                Field::Reason if reason.is_empty() => reason = pull.text().trim_ascii().into(),
                _ => {}
            },
            _ => {}
        }
    }
    let sentence = format!("the peer answers with a fault, {code}: {reason}");
    Ok(DecodeError::meaning(start, sentence))
}

enum Field {
    Code,
    Reason,
    Other,
}

impl Field {
    fn named(name: &str) -> Self {
        match name {
            "Value" | "faultcode" => Field::Code,
            "Text" | "faultstring" => Field::Reason,
            _ => Field::Other,
        }
    }
}
