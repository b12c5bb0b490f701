//! weir-binding.
