//! What a service is made on: the hub, and what the gateway has opened around it.

use crate::schema::Schema;
use crate::way::Way;
use std::net::SocketAddr;
use std::sync::Arc;
use weir_hub::Hub;

/// What a service is made on.
#[derive(Clone)]
pub struct Premises {
    /// The hub.
    pub hub: Arc<Hub>,
    /// What is open, in the order of the ready line; WebSockets of bindings behind what carries them.
    pub endpoints: Vec<Endpoint>,
    /// By what else it is reached, through servers of others: relations and URLs (RFC 8288 section 3).
    pub links: Vec<(&'static str, String)>,
    /// How bindings define their messages, beside what the formats have.
    pub schemas: Vec<Schema>,
    /// How clients can say who they are.
    pub logins: Logins,
    /// What each service serves, as it says itself: parts of an OpenAPI document, in JSON.
    pub parts: Vec<&'static str>,
}

impl Premises {
    /// A hub that nothing is open to.
    pub fn of(hub: Arc<Hub>) -> Self {
        Self {
            hub,
            endpoints: Vec::new(),
            links: Vec::new(),
            schemas: Vec::new(),
            logins: Logins::default(),
            parts: Vec::new(),
        }
    }
}

/// A transport that is open.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its name: that of the ready line, or `mqtt+ws` for the WebSocket of a subprotocol.
    pub transport: String,
    /// Where clients find it.
    pub place: Place,
    /// Whether HTTP is spoken there.
    pub is_web: bool,
    /// What can be done through it.
    pub ways: &'static [Way],
}

/// Where clients find a transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address that the gateway listens at.
    Address(SocketAddr),
    /// By what its URLs have in place of an address, `//` included where they have one: a service of somebody's
    /// server, a domain.
    Name(String),
}

/// How clients can say who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logins {
    /// By a name and a password.
    pub users: bool,
    /// By a token.
    pub tokens: bool,
}
