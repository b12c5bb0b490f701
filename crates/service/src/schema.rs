//! Definitions of messages, in languages of their own, for who generates programs from them.

/// A definition that the gateway serves.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Name of its file.
    pub name: &'static str,
    /// Media type.
    pub media: &'static str,
    /// The definition.
    pub text: &'static str,
}
