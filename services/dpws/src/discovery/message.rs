//! Discovery's messages: what is asked, and what is said (WS-Discovery 1.1 sections 4 to 6).

use super::scope::Rule;
use crate::device::Device;
use crate::limits::PROBE_NAMES_MAX;
use crate::names::Generation;
use weir_codec::document::addressing::{Header, Properties};
use weir_codec::document::soap::Version;
use weir_codec::document::{Element, Xml, read_xml, soap};

/// A name with its namespace.
pub(crate) type Name = (String, String);

/// What somebody asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) generation: &'static Generation,
    /// `wsa:MessageID`.
    pub(crate) id: String,
    pub(crate) asked: Asked,
}

/// Who is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Whoever has these types and scopes.
    Probe {
        types: Vec<Name>,
        scopes: Vec<String>,
        /// `None` where the rule is not known.
        rule: Option<Rule>,
    },
    /// Where the one of this address is.
    Resolve(String),
}

/// Why a message is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unasked {
    /// It is no SOAP 1.2 with an action of discovery.
    Foreign,
    /// It says something: Hello, Bye, matches of others.
    Said,
    /// It asks, and breaks a rule.
    Broken(&'static str),
}

impl Question {
    /// Reads what a datagram asks.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unasked> {
        let root = read_xml(bytes).map_err(|_| Unasked::Foreign)?;
        Self::of(&root)
    }

    /// Reads what an envelope asks.
    pub(crate) fn of(root: &Element) -> Result<Self, Unasked> {
        // R0034 of DPWS 1.1 section 2.1: SOAP 1.2.
        if !root.is(soap::SOAP12, "Envelope") {
            return Err(Unasked::Foreign);
        }
        let properties = Properties::of(root);
        let action = properties.action.unwrap_or_default();
        let (uri, name) = action.rsplit_once('/').ok_or(Unasked::Foreign)?;
        let generation = Generation::of_discovery(uri).ok_or(Unasked::Foreign)?;
        if !matches!(name, "Probe" | "Resolve") {
            return Err(Unasked::Said);
        }
        if properties.namespace != generation.addressing {
            return Err(Unasked::Broken("the addressing is of another generation"));
        }
        let id = properties.message_id.filter(|id| !id.is_empty());
        let id = id.ok_or(Unasked::Broken("a MessageID is needed"))?;
        let body = root.child("Body").and_then(Element::first);
        let body = body.filter(|body| body.is(generation.discovery, name));
        let body = body.ok_or(Unasked::Broken("the body is not what the action says"))?;
        let asked = match name {
            "Probe" => probe(generation, body)?,
            _ => resolve(body)?,
        };
        Ok(Self {
            generation,
            id,
            asked,
        })
    }
}

/// WS-Discovery 1.1 section 5.2.
fn probe(generation: &Generation, body: &Element) -> Result<Asked, Unasked> {
    let types = match body.child("Types") {
        None => Vec::new(),
        Some(types) => names(types).ok_or(Unasked::Broken("a type's prefix is not bound"))?,
    };
    let scopes = body.child("Scopes");
    let rule = Rule::of(generation, scopes.and_then(|own| own.attribute("MatchBy")));
    let scopes: Vec<String> = scopes.map(words).unwrap_or_default();
    if types.len() + scopes.len() > PROBE_NAMES_MAX {
        Err(Unasked::Broken("too many types and scopes"))
    } else {
        Ok(Asked::Probe {
            types,
            scopes,
            rule,
        })
    }
}

/// WS-Discovery 1.1 section 6.2.
fn resolve(body: &Element) -> Result<Asked, Unasked> {
    let address = body
        .child("EndpointReference")
        .and_then(|endpoint| endpoint.child("Address"));
    let address = address.ok_or(Unasked::Broken("an EndpointReference is needed"))?;
    Ok(Asked::Resolve(address.text()))
}

fn words(element: &Element) -> Vec<String> {
    let text = element.text();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Names by the prefixes that are bound where they stand.
fn names(element: &Element) -> Option<Vec<Name>> {
    let name = |word: &String| {
        let (prefix, local) = word.split_once(':').unwrap_or(("", word));
        let uri = element.namespace(prefix)?;
        Some((uri.to_owned(), local.to_owned()))
    };
    words(element).iter().map(name).collect()
}

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Hello,
    Bye,
    ProbeMatches,
    ResolveMatches,
}

impl Said {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Said::Hello => "Hello",
            Said::Bye => "Bye",
            Said::ProbeMatches => "ProbeMatches",
            Said::ResolveMatches => "ResolveMatches",
        }
    }
}

/// How a message stands among others.
pub(crate) struct Place<'a> {
    pub(crate) generation: &'static Generation,
    pub(crate) id: &'a str,
    /// The question that is answered.
    pub(crate) relates_to: Option<&'a str>,
    /// `InstanceId` and `MessageNumber` (WS-Discovery 1.1 section 7).
    pub(crate) sequence: (u64, u64),
}

/// A message about a device that is reached at these addresses.
pub(crate) fn write(
    said: Said,
    place: &Place<'_>,
    device: &Device,
    addresses: &[String],
) -> String {
    let generation = place.generation;
    let to = match place.relates_to {
        Some(_) => generation.anonymous,
        None => generation.everybody,
    };
    let (instance, number) = place.sequence;
    let mut sequence = Xml::new();
    sequence.start("d:AppSequence");
    sequence.prefixes(&[("d", generation.discovery)]);
    sequence.attribute("InstanceId", &instance.to_string());
    sequence.attribute("MessageNumber", &number.to_string());
    let header = Header {
        namespace: generation.addressing,
        to,
        action: &format!("{}/{}", generation.discovery, said.name()),
        message_id: Some(place.id),
        relates_to: place.relates_to,
        beside: &sequence.finish(),
        ..Header::default()
    };
    header.around(
        Version::V12,
        &body(said, generation, Some(device), addresses),
    )
}

/// The body of a message: also what a directed question is answered with, without the device where another
/// is looked for.
pub(crate) fn body(
    said: Said,
    generation: &Generation,
    device: Option<&Device>,
    addresses: &[String],
) -> String {
    let mut xml = Xml::new();
    xml.start_as("d", said.name());
    xml.prefixes(&[("d", generation.discovery), ("a", generation.addressing)]);
    let Some(device) = device else {
        return xml.finish();
    };
    match said {
        Said::ProbeMatches => xml.start("d:ProbeMatch"),
        Said::ResolveMatches => xml.start("d:ResolveMatch"),
        Said::Hello | Said::Bye => &mut xml,
    };
    xml.start("a:EndpointReference");
    xml.leaf("a:Address", &device.address).end();
    if said != Said::Bye {
        write_target(generation, device, addresses, &mut xml);
    }
    xml.finish()
}

fn write_target(generation: &Generation, device: &Device, addresses: &[String], xml: &mut Xml) {
    device.write_types("d:Types", generation, xml);
    if !device.scopes.is_empty() {
        xml.leaf("d:Scopes", &device.scopes.join(" "));
    }
    if !addresses.is_empty() {
        xml.leaf("d:XAddrs", &addresses.join(" "));
    }
    xml.leaf("d:MetadataVersion", &device.version().to_string());
}
