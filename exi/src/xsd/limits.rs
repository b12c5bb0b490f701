//! What a schema may cost. Reaching a limit is an error with its place.

/// Documents of one schema, chameleon copies counted each.
pub(super) const DOCUMENTS: usize = 4_096;
/// Depth of derivation, of groups in groups, and of attribute groups.
pub(super) const DEPTH: u32 = 200;
/// Positions of one content model after its occurrence bounds are written out.
pub(super) const POSITIONS: usize = 1 << 19;
/// States of one content model: the Unique Particle Attribution of XML Schema keeps it small.
pub(super) const CONTENT_STATES: usize = 1 << 17;
/// Steps from particle to particle while states are made, of all content models together: some tenths
/// of a second. What Unique Particle Attribution allows takes about as many as it has productions;
/// occurrence bounds inside each other multiply them otherwise.
pub(super) const STEPS: usize = 1 << 23;
/// States of all grammars together.
pub(super) const STATES: usize = 1 << 20;
/// Productions of all grammars together.
pub(super) const PRODUCTIONS: usize = 1 << 22;
/// Members of all substitution groups together.
pub(super) const MEMBERS: usize = 1 << 20;
