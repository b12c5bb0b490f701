//! weir-codec.
