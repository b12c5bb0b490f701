//! The two ways of the line.

/// A way over the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// To the board.
    In,
    /// To the clients.
    Out,
}
