//! weir-carrier.
