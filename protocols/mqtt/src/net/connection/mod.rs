//! One connection.
//!
//! An idle connection is a socket, the machine's few words and its subscriptions, with no buffer. What it does are its
//! methods, spread over files that nothing imports.

mod accept;
mod drive;
mod keep;
mod leave;
mod post;
mod publish;
mod refuse;

use super::accepting::Accepting;
use super::house::House;
use super::live::Live;
use super::member::Member;
use super::sessions::Counts;
use crate::session::{Server, ServerLimits};
use std::sync::Arc;
use weir_binding::{Gateway, Hosted, Tally};
use weir_carrier::clock::now;
use weir_carrier::driver::Serving;
use weir_carrier::{Link, Stream};
use weir_hub::Ticket;
use weir_sansio::Instant;

/// A connection on its way.
pub(super) struct Connection {
    house: Arc<House>,
    host: Hosted,
    /// What the WebSocket's opening presented.
    credential: Option<Box<str>>,
    peer: std::net::IpAddr,
    server: Server,
    /// Who wants to connect is found out, and the connection before is to let go.
    accepting: Option<Box<Accepting>>,
    live: Arc<Live>,
    member: Option<Box<Member>>,
    tally: Arc<Tally>,
    /// When the log is asked again.
    retry: Instant,
    /// Whether there are tickets that were not asked for yet.
    is_fresh: bool,
    /// Nothing is sent before this is on disk.
    hold: Option<Box<Ticket>>,
    /// Whether something was made that is sent when the session's record says it, and how many bytes
    /// waited before it.
    promised: bool,
    mark: usize,
}

/// Serves a link to its end.
pub(super) fn serve(
    link: Link,
    house: Arc<House>,
    context: Arc<dyn Gateway>,
) -> Serving<Connection> {
    let limits = ServerLimits {
        packet_bytes_max: house.settings.packet_bytes_max,
        ..ServerLimits::default()
    };
    Counts::add(&house.sessions.counts.connections, 1);
    let connection = Connection {
        peer: link.peer.ip(),
        credential: link.credential.map(Into::into),
        tally: context.tally("mqtt", scheme(&link.stream)),
        house,
        host: Hosted::new(context),
        server: Server::new(now(), limits),
        accepting: None,
        live: Arc::default(),
        member: None,
        retry: Instant::NEVER,
        is_fresh: false,
        hold: None,
        promised: false,
        mark: 0,
    };
    Serving::new(link.stream, connection)
}

/// As in an address of its kind, for metrics.
fn scheme(stream: &Stream) -> &'static str {
    match stream {
        Stream::Tcp(_) => "mqtt",
        Stream::Tls(_) => "mqtts",
        Stream::WebSocket(socket) => match socket.below() {
            Stream::Tls(_) => "mqtt+wss",
            _ => "mqtt+ws",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_is_small() {
        let size = size_of::<Serving<Connection>>() + size_of::<Member>();
        assert!(
            size <= 800,
            "{} and {}",
            size_of::<Serving<Connection>>(),
            size_of::<Member>()
        );
        assert!(size_of::<crate::net::subscription::Subscribed>() <= 160);
    }
}
