//! weir-model.
