//! weir-testkit.
