//! All that a plug-in must know to be a protocol: as server and as client.
//!
//! What it deliberately does not do: no protocol, no resource, no list of either. The decision worth arguing: the
//! gateway owns listeners and TLS, a binding is given links and makes no socket of its own.
#![forbid(unsafe_code)]

mod binding;
pub mod bridge;
mod held;
mod hosted;

pub use binding::{Binding, Context, Describe, Over, Server, Transport};
pub use held::{Held, Short};
pub use hosted::Hosted;
pub use weir_service::*;
