//! What the members of a message are called, over any tree syntax.

pub(crate) mod message;
