//! weir-gateway.
