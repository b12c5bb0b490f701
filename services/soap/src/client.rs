//! The client's half: the envelope that publishes, the observations that one holds, and the client of the
//! Web's that `weir pub` and `weir sub` are.
//!
//! What it deliberately does not do: carry an envelope anywhere; HTTP and CoAP are their own crates'.

mod web;

pub use web::SoapClient;

use crate::operations::begun;
use crate::rows::read_rows;
use weir_codec::document::Element;
use weir_codec::document::observations::write_rows;
use weir_codec::document::soap::{self, Envelope, Version};
use weir_model::Batch;

/// Path of the service, without the slash before it.
pub const PATH: &str = "soap/observations";

/// The envelope that publishes a message of whole topics to a topic.
pub fn publish(version: Version, topic: &str, message: &Batch) -> String {
    let mut xml = begun("publish");
    xml.leaf("w:topic", topic);
    write_rows(message, &mut xml);
    soap::wrap(
        version,
        None,
        "urn:weir:observations#publish",
        &xml.finish(),
    )
}

/// The observations in the body of an envelope, of a request or an answer; an error is a sentence, a fault's
/// its reason.
pub fn observations(envelope: Element) -> Result<Batch, String> {
    let Envelope { body, .. } = soap::open(envelope).map_err(|(_, fault)| fault.reason)?;
    let body = body.ok_or("the envelope's Body is empty")?;
    if body.local == "Fault" {
        let reason = body.find("Text").or_else(|| body.find("faultstring"));
        return Err(reason.map_or_else(|| "a fault without a reason".into(), Element::text));
    }
    read_rows(&body)
}
