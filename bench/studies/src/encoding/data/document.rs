//! A document that is encoded.

use weir_model::Batch;

/// One document, and the observations in it where there are any.
pub(crate) struct Document {
    /// The data set.
    pub data: &'static str,
    /// Which of its files.
    pub file: String,
    /// The document.
    pub xml: String,
    /// Its observations.
    pub batch: Option<Batch>,
    /// Bytes of the same observations with an element for each, where a block is compared with that.
    pub as_elements_bytes: Option<usize>,
}
