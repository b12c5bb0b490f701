//! What an operation answers, before it is put in a form.

use crate::observed::Observed;
use weir_hub::Ticket;

/// An answer.
pub(crate) enum Reply {
    /// A document and the action that it is in WS-Addressing.
    Document(String, &'static str),
    /// Observations, page by page.
    Observed(Box<Observed>),
    /// A document, once all of these are on disk.
    Accepted(Vec<Ticket>, String, &'static str),
}
