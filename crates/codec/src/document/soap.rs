//! SOAP's envelope, 1.1 and 1.2.
//!
//! What it deliberately does not do: attachments, encodings, intermediaries. Of headers WS-Addressing is
//! answered (`RelatesTo`); another that must be understood is a fault (SOAP 1.2 part 1 section 5.2.3, SOAP
//! 1.1 section 4.2.3).

use super::{Attribute, Element, Xml};
use crate::soap_role;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Namespace of SOAP 1.1.
pub const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// Namespace of SOAP 1.2.
pub const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
/// Namespace of WS-Addressing 1.0.
pub const ADDRESSING: &str = "http://www.w3.org/2005/08/addressing";

/// Whoever asks, as an address of WS-Addressing 1.0.
const ANONYMOUS: &str = "http://www.w3.org/2005/08/addressing/anonymous";

/// Which SOAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1.1: `text/xml` and a field `SOAPAction`.
    V11,
    /// 1.2: `application/soap+xml`.
    V12,
}

impl Version {
    /// Its namespace.
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::V11 => SOAP11,
            Version::V12 => SOAP12,
        }
    }

    /// Media type of a message in XML.
    pub const fn media(self) -> &'static str {
        match self {
            Version::V11 => "text/xml; charset=utf-8",
            Version::V12 => "application/soap+xml; charset=utf-8",
        }
    }
}

/// What an envelope held.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Which SOAP it is.
    pub version: Version,
    /// The element in its body; `None` where that is empty.
    pub body: Option<Element>,
    /// `wsa:MessageID`, to which the answer relates.
    pub message_id: Option<String>,
}

/// Who is at fault (SOAP 1.2 part 1 section 5.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Who asked; `Client` in 1.1.
    Sender,
    /// Who answers; `Server` in 1.1.
    Receiver,
    /// A header must be understood, and is not.
    MustUnderstand,
    /// The envelope is of another version.
    VersionMismatch,
}

impl Code {
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Code::Sender, Version::V11) => "Client",
            (Code::Sender, Version::V12) => "Sender",
            (Code::Receiver, Version::V11) => "Server",
            (Code::Receiver, Version::V12) => "Receiver",
            (Code::MustUnderstand, _) => "MustUnderstand",
            (Code::VersionMismatch, _) => "VersionMismatch",
        }
    }
}

/// A fault to be answered.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Who is at fault.
    pub code: Code,
    /// What 1.2 says closer, and closer still: names with their prefixes, and the namespaces of those.
    pub subcodes: Vec<(String, &'static str)>,
    /// One sentence.
    pub reason: String,
    /// XML of the detail.
    pub detail: String,
}

impl Fault {
    /// A fault that needs no detail.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Self {
            code,
            subcodes: Vec::new(),
            reason: reason.into(),
            detail: String::new(),
        }
    }
}

/// Says whether this is an envelope.
pub fn is_envelope(root: &Element) -> bool {
    root.local == "Envelope"
}

/// Takes an envelope apart. A refusal comes with the version to answer in.
///
/// Whoever asks is answered and nobody else is: another `wsa:ReplyTo` or `wsa:FaultTo` is a fault (WS-Addressing
/// 1.0 SOAP Binding section 6.4.1.7).
pub fn open(root: Element) -> Result<Envelope, (Version, Fault)> {
    let elsewhere = root.child("Header").and_then(reply_elsewhere);
    let opened = open_knowing(root, &[ADDRESSING])?;
    match elsewhere {
        None => Ok(opened),
        Some(address) => Err((opened.version, only_anonymous(&address))),
    }
}

/// The address that an answer or a fault is wanted at, if that is not whoever asks.
fn reply_elsewhere(header: &Element) -> Option<String> {
    let wanted = |part: &&Element| part.is(ADDRESSING, "ReplyTo") || part.is(ADDRESSING, "FaultTo");
    let address = |part: &Element| part.child("Address").map(Element::text);
    header
        .elements()
        .filter(|part| is_ours(part))
        .filter(wanted)
        .filter_map(address)
        .find(|address| address != ANONYMOUS)
}

fn only_anonymous(address: &str) -> Fault {
    let reason = format!("an answer goes to who asked, not to `{address}`");
    Fault {
        subcodes: ["InvalidAddressingHeader", "OnlyAnonymousAddressSupported"]
            .map(|name| (format!("wsa:{name}"), ADDRESSING))
            .into(),
        ..Fault::new(Code::Sender, reason)
    }
}

/// Whether a block of the header is for a node that answers.
fn is_ours(block: &Element) -> bool {
    let of_soap = |own: &&Attribute| match own.uri.as_str() {
        SOAP12 => own.local == "role",
        SOAP11 => own.local == "actor",
        _ => false,
    };
    let role = block.attributes.iter().find(of_soap);
    role.is_none_or(|own| soap_role::acts_in(&own.value))
}

/// The same by who understands the headers of these namespaces.
pub fn open_knowing(root: Element, known: &[&str]) -> Result<Envelope, (Version, Fault)> {
    let version = match root.uri.as_str() {
        SOAP11 => Version::V11,
        SOAP12 => Version::V12,
        // A node of both answers in 1.1 (SOAP 1.2 part 1 appendix A).
        _ => {
            let reason = "an envelope of SOAP 1.1 or 1.2 was expected";
            return Err((Version::V11, Fault::new(Code::VersionMismatch, reason)));
        }
    };
    let header = root.child("Header");
    let foreign = header.into_iter().flat_map(Element::elements).find(|part| {
        let must = part.attributes.iter().any(|own| {
            own.uri == version.namespace()
                && own.local == "mustUnderstand"
                && soap_role::is_true(&own.value)
        });
        must && is_ours(part) && !known.contains(&part.uri.as_str())
    });
    if let Some(part) = foreign {
        let reason = format!(
            "the header {{{}}}{} is not understood",
            part.uri, part.local
        );
        return Err((version, Fault::new(Code::MustUnderstand, reason)));
    }
    let message_id = header
        .into_iter()
        .flat_map(Element::elements)
        .find(|part| part.local == "MessageID" && is_ours(part))
        .map(Element::text);
    match body_of(root) {
        Ok(body) => Ok(Envelope {
            version,
            body,
            message_id,
        }),
        Err(reason) => Err((version, Fault::new(Code::Sender, reason))),
    }
}

/// The element in the one Body, which has one at most (WS-I Basic Profile 1.2 R9981).
fn body_of(root: Element) -> Result<Option<Element>, &'static str> {
    let uri = root.uri.clone();
    let mut bodies = root.into_elements().filter(|part| part.is(&uri, "Body"));
    let body = bodies.next().ok_or("the envelope has no Body")?;
    if bodies.next().is_some() {
        return Err("the envelope has two Bodies");
    }
    let mut elements = body.into_elements();
    match (elements.next(), elements.next()) {
        (_, Some(_)) => Err("the envelope's Body has more than one element"),
        (first, None) => Ok(first),
    }
}

/// An envelope around XML; `relates_to` is what was asked, `action` what is answered.
pub fn wrap(version: Version, relates_to: Option<&str>, action: &str, body: &str) -> String {
    let (mut head, tail) = around(version, relates_to, action);
    head.push_str(body);
    head.push_str(&tail);
    head
}

/// What stands before and after the body.
pub fn around(version: Version, relates_to: Option<&str>, action: &str) -> (String, String) {
    let mut xml = Xml::new();
    xml.start("env:Envelope")
        .prefixes(&[("env", version.namespace())]);
    if let Some(message) = relates_to {
        xml.start("env:Header").prefixes(&[("wsa", ADDRESSING)]);
        xml.leaf("wsa:To", ANONYMOUS);
        xml.leaf("wsa:Action", action);
        xml.leaf("wsa:RelatesTo", message);
        xml.end();
    }
    xml.start("env:Body");
    xml.split()
}

/// An envelope around a fault.
pub fn fault(version: Version, relates_to: Option<&str>, fault: &Fault) -> String {
    let action = "http://www.w3.org/2005/08/addressing/soap/fault";
    wrap(version, relates_to, action, &fault_body(version, fault))
}

/// A fault as it stands in a body, whose prefix of SOAP is `env`.
pub fn fault_body(version: Version, fault: &Fault) -> String {
    let mut xml = Xml::new();
    xml.start("env:Fault");
    match version {
        Version::V11 => write_fault11(fault, &mut xml),
        Version::V12 => write_fault12(fault, &mut xml),
    }
    xml.finish()
}

/// SOAP 1.1 section 4.4.
fn write_fault11(fault: &Fault, xml: &mut Xml) {
    let code = format!("env:{}", fault.code.name(Version::V11));
    xml.leaf("faultcode", &code);
    xml.leaf("faultstring", &fault.reason);
    if !fault.detail.is_empty() {
        xml.start("detail").raw(&fault.detail).end();
    }
}

/// SOAP 1.2 part 1 section 5.4.
fn write_fault12(fault: &Fault, xml: &mut Xml) {
    xml.start("env:Code");
    let code = format!("env:{}", fault.code.name(Version::V12));
    xml.leaf("env:Value", &code);
    for (name, uri) in &fault.subcodes {
        let prefix = name.split(':').next().unwrap_or_default();
        xml.start("env:Subcode").start("env:Value");
        xml.prefixes(&[(prefix, *uri)]).text(name).end();
    }
    fault.subcodes.iter().for_each(|_| {
        xml.end();
    });
    xml.end();
    xml.start("env:Reason").start("env:Text");
    xml.attribute("xml:lang", "en").text(&fault.reason);
    xml.end().end();
    if !fault.detail.is_empty() {
        xml.start("env:Detail").raw(&fault.detail).end();
    }
}
