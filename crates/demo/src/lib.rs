//! weir-demo.
