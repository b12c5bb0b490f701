//! stores/embedded.
