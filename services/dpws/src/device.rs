//! What the device is: its address, types, scopes and description.

use crate::names::{DEVICE, GENERATIONS, Generation};
use weir_codec::document::Xml;

/// The gateway as a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// `urn:uuid:...`, the same after each start (DPWS 1.1 R0005).
    pub(crate) address: String,
    /// Scopes, as URIs.
    pub(crate) scopes: Vec<String>,
    /// `FriendlyName`.
    pub(crate) name: String,
    /// `MetadataVersion`: seconds of the start, so that it grows whenever something may have changed.
    pub(crate) version: u64,
    /// `InstanceId` of discovery: the same.
    pub(crate) instance: u64,
}

impl Device {
    /// Says whether it has this type: that of every device of the profile (DPWS 1.1 R1020), or its own.
    pub(crate) fn has_type(&self, (uri, local): &(String, String)) -> bool {
        let device = GENERATIONS.iter().any(|of| of.profile == uri) && local == "Device";
        device || uri == DEVICE && local == "Gateway"
    }

    /// Writes its types as an element of this name.
    pub(crate) fn write_types(&self, name: &str, generation: &Generation, xml: &mut Xml) {
        xml.start(name);
        xml.prefixes(&[("p", generation.profile), ("g", DEVICE)]);
        xml.text("p:Device g:Gateway").end();
    }
}
