//! weir-log.
