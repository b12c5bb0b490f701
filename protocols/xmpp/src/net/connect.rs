//! From an address to an opened stream.

use std::io;
use tokio::net::TcpStream;
use weir_carrier::{Stream, tls};

/// Opens TCP without delay for small messages.
pub(super) async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let tcp = TcpStream::connect((host, port)).await?;
    tcp.set_nodelay(true)?;
    Ok(tcp)
}

/// Speaks TLS from here on to a server of this domain (RFC 6120 section 13.7.2).
// [RFC6120-13.7-1] [XEP0368-3-1]
pub(super) async fn secure(
    tcp: TcpStream,
    domain: &str,
    roots: Option<&[u8]>,
) -> io::Result<Stream> {
    let peer = tcp.peer_addr()?;
    let settings = tls::client_config(roots)?;
    Ok(tls::connect(&settings, domain, tcp, peer).await?.stream)
}
