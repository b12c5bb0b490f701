//! What the device says of itself and of what it hosts (DPWS 1.1 section 5, WS-MetadataExchange).

use crate::device::Device;
use crate::names::{DEVICE, EXCHANGE, Generation, OBSERVATIONS};
use weir_codec::document::{Element, Xml};

/// Where the hosted service is.
pub(crate) const HOSTED: &str = "/dpws/observations";
/// Its name among the device's (`ServiceId`).
const SERVICE_ID: &str = "urn:weir:device/observations";
/// Namespace of WSDL 1.1, the dialect of its section.
const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";

/// Which sections are wanted (WS-MetadataExchange section 4).
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Those of this dialect; all where none is said.
    dialect: Option<String>,
    /// Those of this identifier, which no section here has.
    identifier: Option<String>,
}

impl Wanted {
    /// What the body of `wsx:GetMetadata` says, if there is one.
    pub(crate) fn of(body: Option<&Element>) -> Self {
        let said = |name| Some(body?.child(name)?.text());
        Self {
            dialect: said("Dialect"),
            identifier: said("Identifier"),
        }
    }

    fn has(&self, dialect: &str) -> bool {
        let is_of_dialect = self.dialect.as_ref().is_none_or(|own| own == dialect);
        is_of_dialect && self.identifier.is_none()
    }
}

/// Sections as they are written.
struct Sections<'a> {
    generation: &'a Generation,
    wanted: &'a Wanted,
    xml: Xml,
}

impl<'a> Sections<'a> {
    fn begin(generation: &'a Generation, wanted: &'a Wanted) -> Self {
        let mut xml = Xml::new();
        xml.start("wsx:Metadata").prefixes(&[
            ("wsx", EXCHANGE),
            ("p", generation.profile),
            ("a", generation.addressing),
        ]);
        Self {
            generation,
            wanted,
            xml,
        }
    }

    /// A section of the profile's.
    fn of_profile(&mut self, name: &str, write: impl Fn(&mut Xml)) {
        let dialect = format!("{}/{name}", self.generation.profile);
        self.section(&dialect, write);
    }

    /// A section, if it is wanted.
    fn section(&mut self, dialect: &str, write: impl Fn(&mut Xml)) {
        if self.wanted.has(dialect) {
            self.xml
                .start("wsx:MetadataSection")
                .attribute("Dialect", dialect);
            write(&mut self.xml);
            self.xml.end();
        }
    }

    /// The host and what it hosts (DPWS 1.1 section 5.3).
    fn relationship(&mut self, device: &Device, base: &str) {
        let generation = self.generation;
        self.of_profile("Relationship", |xml| {
            write_relationship(device, generation, base, xml);
        });
    }
}

/// The sections of the device, which is reached at a URL: what `wxf:Get` is answered with.
pub(crate) fn of_device(
    device: &Device,
    generation: &Generation,
    base: &str,
    wanted: &Wanted,
) -> String {
    let mut sections = Sections::begin(generation, wanted);
    sections.of_profile("ThisModel", |xml| {
        xml.start("p:ThisModel");
        xml.leaf("p:Manufacturer", "weir");
        xml.leaf("p:ModelName", "weir gateway");
        xml.leaf("p:ModelNumber", env!("CARGO_PKG_VERSION"));
        xml.leaf("p:PresentationUrl", &format!("{base}/"));
        xml.end();
    });
    sections.of_profile("ThisDevice", |xml| {
        xml.start("p:ThisDevice");
        xml.leaf("p:FriendlyName", &device.name);
        xml.leaf("p:FirmwareVersion", env!("CARGO_PKG_VERSION"));
        xml.leaf("p:SerialNumber", serial(device));
        xml.end();
    });
    sections.relationship(device, base);
    sections.xml.finish()
}

/// The sections of the hosted service: what `wsx:GetMetadata` is answered with.
pub(crate) fn of_hosted(
    device: &Device,
    generation: &Generation,
    base: &str,
    wanted: &Wanted,
) -> String {
    let mut sections = Sections::begin(generation, wanted);
    sections.relationship(device, base);
    sections.section(WSDL, |xml| {
        xml.leaf("wsx:Location", &format!("{base}{HOSTED}?wsdl"));
    });
    sections.xml.finish()
}

fn write_relationship(device: &Device, generation: &Generation, base: &str, xml: &mut Xml) {
    let host = format!("{}/host", generation.profile);
    xml.start("p:Relationship").attribute("Type", &host);
    xml.start("p:Host");
    write_endpoint(&device.address, xml);
    device.write_types("p:Types", generation, xml);
    xml.end();
    xml.start("p:Hosted");
    write_endpoint(&format!("{base}{HOSTED}"), xml);
    xml.start("p:Types")
        .prefixes(&[("w", OBSERVATIONS), ("g", DEVICE)]);
    xml.text("w:Observations g:ObservationSource").end();
    xml.leaf("p:ServiceId", SERVICE_ID);
    xml.end().end();
}

fn write_endpoint(address: &str, xml: &mut Xml) {
    xml.start("a:EndpointReference");
    xml.leaf("a:Address", address).end();
}

/// What is behind `urn:uuid:` of the device's address.
fn serial(device: &Device) -> &str {
    device
        .address
        .strip_prefix("urn:uuid:")
        .unwrap_or(&device.address)
}
