//! protocols/http.
