//! What a schema may cost. Reaching a limit is an error with its place.

/// Documents of one schema, chameleon copies counted each.
pub(super) const DOCUMENTS: usize = 4_096;
/// Depth of derivation, of groups in groups, and of attribute groups.
pub(super) const DEPTH: u32 = 200;
/// Positions of one content model after its occurrence bounds are written out.
pub(super) const POSITIONS: usize = 1 << 20;
/// States of all grammars together.
pub(super) const STATES: usize = 1 << 22;
/// Productions of all grammars together.
pub(super) const PRODUCTIONS: usize = 1 << 24;
