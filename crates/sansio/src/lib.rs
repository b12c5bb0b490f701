//! weir-sansio.
