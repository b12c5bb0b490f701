//! Opening connections by TLS: whole handshakes, one after another.
//!
//! The decision worth arguing: handshakes are neither measured nor made in waves, because only what
//! stays afterwards is asked for.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::connect::{Opening, at, dial, finish};
use crate::tls::{NAME, config};

/// An open connection.
pub(super) type Session = StreamOwned<ClientConnection, TcpStream>;

/// Opens one connection a number, and hands each on in its order.
pub(super) fn open_all(
    address: SocketAddr,
    numbers: Range<usize>,
    certificate: &[u8],
    opening: impl Fn(usize) -> Opening,
    mut each: impl FnMut(Session),
) -> Result<(), String> {
    let config = config(certificate, Some("http/1.1"));
    let config = Arc::new(config.map_err(|e| format!("the certificate: {e}"))?);
    for number in numbers {
        let session = open(address, number, config.clone(), &opening(number));
        each(session.map_err(|e| at(number, &e))?);
    }
    Ok(())
}

/// Whether the peer has ended neither the session nor the connection under it; what it sent since
/// is passed over.
pub(super) fn is_open(session: &mut Session) -> bool {
    if session.sock.set_nonblocking(true).is_err() {
        return false;
    }
    let mut buffer = [0u8; 4096];
    loop {
        match session.read(&mut buffer) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

fn open(
    address: SocketAddr,
    number: usize,
    config: Arc<ClientConfig>,
    opening: &Opening,
) -> Result<Session, String> {
    let name = ServerName::try_from(NAME).map_err(|e| format!("{NAME}: {e}"))?;
    let client = ClientConnection::new(config, name).map_err(|e| format!("TLS: {e}"))?;
    let mut session = StreamOwned::new(client, dial(address, number)?);
    session
        .write_all(&opening.request)
        .and_then(|()| session.flush())
        .map_err(|e| format!("TLS handshake or request: {e}"))?;
    finish(&mut session, opening)?;
    Ok(session)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::load::wire::SubscribeWire;
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::{ServerConfig, ServerConnection};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    type Peer = StreamOwned<ServerConnection, TcpStream>;

    fn certified() -> CertifiedKey<KeyPair> {
        generate_simple_self_signed([NAME.to_owned()]).unwrap()
    }

    /// Answers one request with a head, and hands the connection over.
    fn server(own: &CertifiedKey<KeyPair>) -> (SocketAddr, JoinHandle<std::io::Result<Peer>>) {
        let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key.into())
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serve = move || {
            let connection = ServerConnection::new(Arc::new(config)).unwrap();
            let mut peer = Peer::new(connection, listener.accept()?.0);
            peer.read_exact(&mut [0])?;
            peer.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            Ok(peer)
        };
        (address, std::thread::spawn(serve))
    }

    fn open_one(address: SocketAddr, certificate: &[u8]) -> Result<Session, String> {
        let request = "GET / HTTP/1.1\r\n\r\n".into();
        let wire = SubscribeWire::Stream { request };
        let mut opened = Vec::new();
        let opening = |number| Opening::of_subscriber(&wire, number);
        open_all(address, 0..1, certificate, opening, |s| opened.push(s))?;
        opened.pop().ok_or("none".into())
    }

    #[test]
    fn a_session_is_open_until_its_peer_ends_it_even_behind_unread_answers() {
        let own = certified();
        let (address, serving) = server(&own);
        let mut session = open_one(address, own.cert.der()).unwrap();
        let mut peer = serving.join().unwrap().unwrap();
        peer.write_all(b"data: 1\n\n").unwrap();
        assert!(is_open(&mut session));
        peer.write_all(b"data: 2\n\n").unwrap();
        peer.conn.send_close_notify();
        peer.conn.write_tls(&mut peer.sock).unwrap();
        // The kernel delivers when it sees fit; were the end never seen, this would not return.
        while is_open(&mut session) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_certificate_other_than_the_given_one_is_refused() {
        let (address, serving) = server(&certified());
        let Err(error) = open_one(address, certified().cert.der()) else {
            panic!("accepted");
        };
        assert!(error.contains("connection 1: TLS handshake"), "{error}");
        assert!(serving.join().unwrap().is_err());
    }
}
