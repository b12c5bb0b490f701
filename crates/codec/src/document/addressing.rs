//! WS-Addressing's message properties in a SOAP header: 1.0, and the submission of August 2004 that the
//! devices' profile of 2006 names.
//!
//! What it deliberately does not do: endpoint metadata, and answers to anywhere but where the question came
//! from; who reads these properties decides what they mean.

use super::soap::{self, Version};
use super::tree::Attribute;
use super::{Element, Xml};
use alloc::string::String;
use alloc::vec::Vec;

/// Namespace of the submission of August 2004.
pub const SUBMISSION: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing";

/// Where messages go (WS-Addressing 1.0 Core section 2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// `wsa:Address`.
    pub address: String,
    /// What goes along as headers of their own.
    pub parameters: Vec<Element>,
}

impl Endpoint {
    /// Reads an endpoint reference; one without an address is none.
    pub fn read(element: &Element) -> Option<Self> {
        let address = element.child("Address")?.text();
        // The submission has properties beside parameters (its section 2.1); both go along.
        let along = ["ReferenceProperties", "ReferenceParameters"];
        let parameters = along.iter().filter_map(|name| element.child(name));
        let parameters = parameters.flat_map(Element::elements).cloned();
        (!address.is_empty()).then(|| Self {
            address,
            parameters: parameters.collect(),
        })
    }
}

/// The properties of a message (WS-Addressing 1.0 Core section 3.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Which WS-Addressing it is; empty where none is spoken.
    pub namespace: &'static str,
    /// `wsa:Action`.
    pub action: Option<String>,
    /// `wsa:MessageID`.
    pub message_id: Option<String>,
    /// `wsa:To`.
    pub to: Option<String>,
    /// `wsa:ReplyTo`.
    pub reply_to: Option<Endpoint>,
}

impl Properties {
    /// Reads them from an envelope.
    pub fn of(envelope: &Element) -> Self {
        let mut found = Self::default();
        let header = envelope.child("Header");
        for part in header.into_iter().flat_map(Element::elements) {
            let known = [soap::ADDRESSING, SUBMISSION];
            let Some(namespace) = known.into_iter().find(|uri| part.uri == **uri) else {
                continue;
            };
            found.namespace = namespace;
            match part.local.as_str() {
                "Action" => found.action = Some(part.text()),
                "MessageID" => found.message_id = Some(part.text()),
                "To" => found.to = Some(part.text()),
                "ReplyTo" => found.reply_to = Endpoint::read(part),
                _ => {}
            }
        }
        found
    }
}

/// The header of a message that is sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header<'a> {
    /// Which WS-Addressing.
    pub namespace: &'a str,
    /// `wsa:To`.
    pub to: &'a str,
    /// `wsa:Action`.
    pub action: &'a str,
    /// `wsa:MessageID`.
    pub message_id: Option<&'a str>,
    /// `wsa:RelatesTo`: the message that is answered.
    pub relates_to: Option<&'a str>,
    /// Parameters of the endpoint that it goes to.
    pub parameters: &'a [Element],
    /// XML of headers beside these.
    pub beside: &'a str,
}

impl Header<'_> {
    /// An envelope with this header around the XML of a body.
    pub fn around(&self, version: Version, body: &str) -> String {
        let mut xml = Xml::new();
        xml.start("env:Envelope")
            .prefixes(&[("env", version.namespace()), ("wsa", self.namespace)]);
        xml.start("env:Header");
        self.write(&mut xml);
        xml.end();
        xml.start("env:Body").raw(body).end();
        xml.finish()
    }

    fn write(&self, xml: &mut Xml) {
        xml.leaf("wsa:To", self.to);
        xml.leaf("wsa:Action", self.action);
        for (name, text) in [
            ("wsa:MessageID", self.message_id),
            ("wsa:RelatesTo", self.relates_to),
        ] {
            if let Some(text) = text {
                xml.leaf(name, text);
            }
        }
        for parameter in self.parameters {
            self.marked(parameter).write(xml, None);
        }
        xml.raw(self.beside);
    }

    /// A parameter as a header (WS-Addressing 1.0 SOAP Binding section 3.3).
    fn marked(&self, parameter: &Element) -> Element {
        let mut marked = parameter.clone();
        if self.namespace == soap::ADDRESSING {
            marked.attributes.push(Attribute {
                uri: self.namespace.into(),
                local: "IsReferenceParameter".into(),
                prefix: "wsa".into(),
                value: "true".into(),
            });
        }
        marked
    }
}
