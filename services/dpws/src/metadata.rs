//! What the device says of itself and of what it hosts (DPWS 1.1 section 5, WS-MetadataExchange).

use crate::device::Device;
use crate::names::{DEVICE, EXCHANGE, Generation, OBSERVATIONS};
use weir_codec::document::Xml;

/// Where the hosted service is.
pub(crate) const HOSTED: &str = "/dpws/observations";
/// Its name among the device's (`ServiceId`).
const SERVICE_ID: &str = "urn:weir:device/observations";
/// Namespace of WSDL 1.1, the dialect of its section.
const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";

/// The sections of the device, which is reached at a URL: what `wxf:Get` is answered with.
pub(crate) fn of_device(device: &Device, generation: &Generation, base: &str) -> String {
    let mut xml = begun(generation);
    section(generation, "ThisModel", &mut xml, |xml| {
        xml.start("p:ThisModel");
        xml.leaf("p:Manufacturer", "weir");
        xml.leaf("p:ModelName", "weir gateway");
        xml.leaf("p:ModelNumber", env!("CARGO_PKG_VERSION"));
        xml.leaf("p:PresentationUrl", &format!("{base}/"));
        xml.end();
    });
    section(generation, "ThisDevice", &mut xml, |xml| {
        xml.start("p:ThisDevice");
        xml.leaf("p:FriendlyName", &device.name);
        xml.leaf("p:FirmwareVersion", env!("CARGO_PKG_VERSION"));
        xml.leaf("p:SerialNumber", serial(device));
        xml.end();
    });
    write_relationship(device, generation, base, &mut xml);
    xml.finish()
}

/// The sections of the hosted service: what `wsx:GetMetadata` is answered with.
pub(crate) fn of_hosted(device: &Device, generation: &Generation, base: &str) -> String {
    let mut xml = begun(generation);
    write_relationship(device, generation, base, &mut xml);
    xml.start("wsx:MetadataSection").attribute("Dialect", WSDL);
    xml.leaf("wsx:Location", &format!("{base}{HOSTED}?wsdl"));
    xml.end();
    xml.finish()
}

fn begun(generation: &Generation) -> Xml {
    let mut xml = Xml::new();
    xml.start("wsx:Metadata").prefixes(&[
        ("wsx", EXCHANGE),
        ("p", generation.profile),
        ("a", generation.addressing),
    ]);
    xml
}

fn section(generation: &Generation, name: &str, xml: &mut Xml, write: impl Fn(&mut Xml)) {
    let dialect = format!("{}/{name}", generation.profile);
    xml.start("wsx:MetadataSection")
        .attribute("Dialect", &dialect);
    write(xml);
    xml.end();
}

/// The host and what it hosts (DPWS 1.1 section 5.3).
fn write_relationship(device: &Device, generation: &Generation, base: &str, xml: &mut Xml) {
    section(generation, "Relationship", xml, |xml| {
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
    });
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
