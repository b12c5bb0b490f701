//! DPWS: each call looks for the device by a directed probe (DPWS 1.1 section 3.1), and then calls the service
//! that it hosts, which was learnt from its metadata when the connection was opened.
//!
//! What it deliberately does not do: probe everybody. Answers to a multicast wait up to half a second, so that
//! many devices do not answer at once (WS-Discovery 1.1 section 3.1.3); that would be the figure.

use weir_codec::document::soap::{ADDRESSING, SOAP12};
use weir_codec::document::{Element, Xml, read_xml};

use super::http1::Calls;
use super::{Caller, Ended, Number, Service};
use weir_bench_peers::Traffic;

/// Where the gateway is a device.
const DEVICE: &str = "dpws";
const DISCOVERY: &str = "http://docs.oasis-open.org/ws-dd/ns/discovery/2009/01";
const EVERYBODY: &str = "urn:docs-oasis-open-org:ws-dd:ns:discovery:2009:01";
const PROFILE: &str = "http://docs.oasis-open.org/ws-dd/ns/dpws/2009/01";
const GET: &str = "http://schemas.xmlsoap.org/ws/2004/09/transfer/Get";

/// A connection to a device, one call at a time.
pub(super) struct Dpws {
    http: Calls,
    /// Its address, which is no place.
    device: String,
    /// Path of the service that it hosts.
    hosted: String,
    /// Number of the last message of discovery.
    messages: u64,
}

impl Dpws {
    pub(super) fn open(service: &Service<'_>) -> Result<Self, String> {
        let mut dpws = Self {
            http: Calls::open(service)?,
            device: String::new(),
            hosted: String::new(),
            messages: 0,
        };
        dpws.device = dpws.found()?;
        let address = dpws.device.clone();
        let metadata = dpws.asked(&address, GET, "")?;
        let hosted = metadata.find("Hosted").and_then(|own| own.find("Address"));
        let hosted = hosted.ok_or("the device hosts nothing")?.text();
        dpws.hosted = path_of(&hosted).ok_or_else(|| format!("no path in `{hosted}`"))?;
        Ok(dpws)
    }

    /// Probes; the address of the device that answers.
    fn found(&mut self) -> Result<String, String> {
        let mut probe = Xml::new();
        probe.start("d:Probe").prefixes(&[("d", DISCOVERY)]);
        probe.start("d:Types").prefixes(&[("p", PROFILE)]);
        probe.text("p:Device");
        let action = format!("{DISCOVERY}/Probe");
        let matches = self.asked(EVERYBODY, &action, &probe.finish())?;
        let found = matches
            .find("ProbeMatch")
            .and_then(|own| own.find("Address"));
        Ok(found.ok_or("no device matches the probe")?.text())
    }

    /// The body of the answer to a message.
    fn asked(&mut self, to: &str, action: &str, body: &str) -> Result<Element, String> {
        self.messages += 1;
        let message = envelope(to, action, self.messages, body);
        self.http.post(DEVICE, 0, message.as_bytes())?;
        let Ended::Answered(_, answer) = self.http.next()? else {
            return Err("the device did not answer".into());
        };
        let root = read_xml(&answer).map_err(|fault| fault.to_string())?;
        let body = root.child("Body").cloned();
        body.ok_or_else(|| "an answer without a Body".into())
    }
}

impl Caller for Dpws {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        let found = self.found()?;
        if found != self.device {
            return Err(format!("another device answers: {found}"));
        }
        self.http.post(&self.hosted, number, message)
    }

    fn next(&mut self) -> Result<Ended, String> {
        self.http.next()
    }

    fn traffic(&self) -> Result<Traffic, String> {
        self.http.traffic()
    }
}

/// A message of SOAP 1.2 with WS-Addressing 1.0.
fn envelope(to: &str, action: &str, number: u64, body: &str) -> String {
    let mut xml = Xml::new();
    xml.start("env:Envelope").prefixes(&[("env", SOAP12)]);
    xml.start("env:Header").prefixes(&[("wsa", ADDRESSING)]);
    xml.leaf("wsa:To", to);
    xml.leaf("wsa:Action", action);
    xml.leaf(
        "wsa:MessageID",
        &format!("urn:uuid:00000000-0000-4000-8000-{number:012x}"),
    );
    xml.end();
    xml.start("env:Body").raw(body);
    xml.finish()
}

/// The path of a URL, without the slash before it.
fn path_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    Some(rest.split_once('/')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_message_says_whom_it_is_for_and_what_it_asks() {
        let root = read_xml(envelope("urn:a", GET, 1, "<b/>").as_bytes()).unwrap();
        assert_eq!(root.find("Action").unwrap().text(), GET);
        assert_eq!(root.find("To").unwrap().text(), "urn:a");
        assert!(root.child("Body").unwrap().first().unwrap().is("", "b"));
        assert_eq!(path_of("http://[::1]:80/dpws/x").as_deref(), Some("dpws/x"));
        assert_eq!(path_of("urn:uuid:1"), None);
    }
}
