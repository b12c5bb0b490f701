//! What a client of CoAP by datagrams needs beside its messages: a socket, and what a server says of a request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use weir_coap::wire::{Code, Message, Number};

/// A socket that speaks to this address alone, and waits no longer than that.
pub fn datagrams_to(to: SocketAddr, wait: Duration) -> std::io::Result<UdpSocket> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(wait))?;
    Ok(socket)
}

/// What a server wants back before it believes that a request is fresh (RFC 9175 section 2.3).
pub fn challenge(response: &Message) -> Option<Vec<u8>> {
    let is_asked = response.code == Code::UNAUTHORIZED;
    let echo = response.options.first(Number::ECHO).filter(|_| is_asked);
    echo.map(|echo| echo.to_vec())
}

/// What a server says where it was no success.
pub fn refusal(response: &Message) -> Option<String> {
    (!response.code.is_success()).then(|| {
        format!(
            "{}.{:02} {}",
            response.code.class(),
            response.code.detail(),
            String::from_utf8_lossy(&response.payload)
        )
    })
}
