//! The machines: an endpoint of datagrams and a connection over a byte stream.

mod assemblies;
mod bodies;
mod calls;
mod connection;
mod echo;
mod endpoint;
mod event;
mod ids;
mod observers;
mod parameters;
mod peers;
mod random;
mod recent;
mod seen;
mod slots;

pub use calls::Failure;
pub use connection::{Connection, ConnectionFault};
pub use endpoint::{Arrival, Endpoint};
pub use event::{Event, Incoming, Outgoing};
pub use ids::{Address, CallId, ExchangeId, ObservationId};
pub use parameters::Parameters;
