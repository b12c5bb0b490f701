//! weir-registry.
