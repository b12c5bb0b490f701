//! What is built, by Cargo features.

/// What is served, by Cargo features: what is not is unreachable and left out.
pub(crate) const COAP: bool = cfg!(feature = "coap");
pub(crate) const ECHO: bool = cfg!(feature = "echo");
pub(crate) const PAGES: bool = cfg!(feature = "pages");
pub(crate) const POLLING: bool = cfg!(feature = "polling");
pub(crate) const LONG_POLLING: bool = cfg!(feature = "long-polling");
pub(crate) const STREAMING: bool = cfg!(feature = "streaming");
pub(crate) const RESUMPTION: bool = cfg!(feature = "resumption");
/// Whether a topic is answered with a single notification.
pub(crate) const VALUES: bool = POLLING || LONG_POLLING;
/// Whether anything but a stream is answered.
pub(crate) const ANSWERS: bool = VALUES || PAGES || cfg!(feature = "refusals");

/// Whether it is known when something is due.
pub(crate) const DEADLINE: bool = cfg!(feature = "deadline");
/// Whether what happens is counted.
pub(crate) const COUNTERS: bool = cfg!(feature = "counters");
