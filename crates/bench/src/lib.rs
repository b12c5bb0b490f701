//! weir-bench.
