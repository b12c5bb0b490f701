//! services/live.
