//! What one version says otherwise than the other.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::Offering;
use weir_codec::document::Xml;

/// What one version says otherwise than the other.
pub(super) struct Edition {
    /// Of the names in the document.
    pub(super) prefixes: &'static [(&'static str, &'static str)],
    pub(super) profiles: &'static [&'static str],
    pub(super) insertion: Option<fn(&mut Xml)>,
    pub(super) filters: fn(&mut Xml),
    pub(super) contents: fn(&Ask, &[Offering], &mut Xml) -> Result<(), Exception>,
}
