//! What the device is: its address, types, scopes and description.

use crate::names::{DEVICE, GENERATIONS, Generation};
use std::sync::atomic::{AtomicU64, Ordering};
use weir_codec::document::Xml;

/// The gateway as a device.
#[derive(Debug)]
pub(crate) struct Device {
    /// `urn:uuid:...`, the same after each start (DPWS 1.1 R0005).
    pub(crate) address: String,
    /// Scopes, as URIs.
    pub(crate) scopes: Vec<String>,
    /// `FriendlyName`.
    pub(crate) name: String,
    /// `InstanceId` of discovery: greater after each start (WS-Discovery 1.1 section 7).
    pub(crate) instance: u64,
    /// How often it was reached at other addresses since.
    moves: AtomicU64,
}

impl Device {
    /// A device that was started under a number.
    pub(crate) fn started(instance: u64, address: String, name: &str, scopes: Vec<String>) -> Self {
        Self {
            address,
            scopes,
            name: name.to_owned(),
            instance,
            moves: AtomicU64::new(0),
        }
    }

    /// `MetadataVersion`: it grows with each start, since settings may be others, and whenever the device is
    /// reached at other addresses (WS-Discovery 1.1 section 4.1).
    pub(crate) fn version(&self) -> u64 {
        self.instance + self.moves.load(Ordering::Relaxed)
    }

    /// Notes that it is reached at other addresses.
    pub(crate) fn moved(&self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

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
