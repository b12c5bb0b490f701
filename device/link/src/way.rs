//! The two ways of a link.

/// Which way a packet goes: `Up` from the near end, where clients are, to the far one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// From near to far.
    Up,
    /// From far to near.
    Down,
}

impl Way {
    /// Both, in order.
    pub const BOTH: [Way; 2] = [Way::Up, Way::Down];

    /// `up` or `down`.
    pub fn name(self) -> &'static str {
        match self {
            Way::Up => "up",
            Way::Down => "down",
        }
    }
}
