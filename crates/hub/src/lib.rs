//! weir-hub.
