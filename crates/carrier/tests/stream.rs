//! Byte streams inside WebSockets, both roles against each other, and datagrams.
#![allow(clippy::unwrap_used)]

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use weir_carrier::websocket::{
    Close, CloseCode, Opcode, Opening, Role, WebSocketStream, accept, open, write_close,
    write_frame, write_masked,
};
use weir_carrier::{Datagrams, Stream};

const LIMIT: usize = 1 << 20;
const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (connected, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
    (connected.unwrap(), accepted.unwrap().0)
}

async fn both() -> (WebSocketStream, WebSocketStream) {
    let (client, server) = pair().await;
    let of = |tcp, role| WebSocketStream::new(Stream::Tcp(tcp), role, b"", LIMIT).unwrap();
    (of(client, Role::Client), of(server, Role::Server))
}

/// A peer that writes frames of its own against our server.
async fn against_server() -> (TcpStream, WebSocketStream) {
    let (raw, server) = pair().await;
    let server = WebSocketStream::new(Stream::Tcp(server), Role::Server, b"", LIMIT).unwrap();
    (raw, server)
}

fn masked(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_masked(opcode, payload, [1, 2, 3, 4], &mut out);
    out
}

#[tokio::test]
async fn bytes_come_through_both_ways_whatever_their_number() {
    let (client, server) = both().await;
    let bytes: Vec<u8> = (0..500_000u32).map(|n| (n % 251) as u8).collect();
    let (mut client_reads, mut client_writes) = tokio::io::split(client);
    let (mut server_reads, mut server_writes) = tokio::io::split(server);
    let echo = async {
        tokio::io::copy(&mut server_reads, &mut server_writes)
            .await
            .unwrap();
        server_writes.shutdown().await.unwrap();
    };
    let ask = async {
        client_writes.write_all(&bytes).await.unwrap();
        client_writes.shutdown().await.unwrap();
    };
    let mut echoed = Vec::new();
    let (_, _, read) = tokio::join!(echo, ask, client_reads.read_to_end(&mut echoed));
    read.unwrap();
    assert_eq!(echoed, bytes);
}

#[tokio::test]
async fn messages_keep_their_bounds() {
    let (mut client, mut server) = both().await;
    for length in [1, 200, 70_000] {
        client.send_message(&vec![7; length]);
    }
    let sent = async { client.flush().await.unwrap() };
    let taken = async {
        let mut lengths = Vec::new();
        for _ in 0..3 {
            let message = poll_fn(|cx| server.poll_message(cx)).await.unwrap();
            lengths.push(message.unwrap().len());
        }
        lengths
    };
    assert_eq!(tokio::join!(sent, taken).1, [1, 200, 70_000]);
}

#[tokio::test]
async fn fragments_are_one_stream_and_a_ping_is_answered() {
    let (mut raw, mut server) = against_server().await;
    let mut bytes = vec![0x02, 0x82, 0, 0, 0, 0, b'a', b'b'];
    bytes.extend(masked(Opcode::PING, b"there?"));
    bytes.extend([0x80, 0x81, 0, 0, 0, 0, b'c']);
    raw.write_all(&bytes).await.unwrap();
    let mut taken = [0; 3];
    server.read_exact(&mut taken).await.unwrap();
    assert_eq!(&taken, b"abc");
    server.flush().await.unwrap();
    let mut pong = [0; 8];
    raw.read_exact(&mut pong).await.unwrap();
    assert_eq!(pong, *b"\x8a\x06there?");
}

#[tokio::test]
async fn text_is_closed_with_1003_and_a_broken_frame_with_1002() {
    let unmasked = {
        let mut out = Vec::new();
        write_frame(Opcode::BINARY, b"x", &mut out);
        out
    };
    for (bytes, code) in [(masked(Opcode::TEXT, b"x"), 1003u16), (unmasked, 1002)] {
        let (mut raw, mut server) = against_server().await;
        raw.write_all(&bytes).await.unwrap();
        let refused = server.read_u8().await.unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::InvalidData);
        assert!(server.write_all(b"late").await.is_err());
        let mut head = [0; 4];
        raw.read_exact(&mut head).await.unwrap();
        assert_eq!((head[0], [head[2], head[3]]), (0x88, code.to_be_bytes()));
    }
}

#[tokio::test]
async fn a_close_is_answered_with_its_code_and_ends_the_stream() {
    let (mut raw, mut server) = against_server().await;
    let mut bytes = Vec::new();
    let close = Close::new(CloseCode::GOING_AWAY, "");
    write_close(&close, Some([9; 4]), &mut bytes);
    bytes.extend(masked(Opcode::BINARY, b"behind the close"));
    raw.write_all(&bytes).await.unwrap();
    assert_eq!(server.read(&mut [0; 8]).await.unwrap(), 0);
    server.write_all(b"bye").await.unwrap();
    drop(server);
    let mut last = [0; 5];
    raw.read_exact(&mut last).await.unwrap();
    assert_eq!(last, *b"\x82\x03bye");
    let mut answer = [0; 4];
    raw.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, [0x88, 2, 0x03, 0xe9]);
}

/// Answers one handshake with these fields beside the right ones.
async fn answer(mut raw: TcpStream, fields: &str, behind: &[u8]) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        raw.read_buf(&mut request).await.unwrap();
    }
    let request = String::from_utf8(request).unwrap();
    assert!(
        request.starts_with("GET /mqtt?x=1 HTTP/1.1\r\nHost: weir:1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("\r\nAuthorization: Bearer t\r\n"),
        "{request}"
    );
    let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap();
    let accepted = accept(key.split("\r\n").next().unwrap()).unwrap();
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n\
         Sec-WebSocket-Accept: {accepted}\r\n{fields}\r\n"
    );
    raw.write_all(&[head.as_bytes(), behind].concat())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_client_shakes_hands_and_refuses_what_it_did_not_ask_for() {
    let opening = Opening {
        host: "weir:1",
        path: "/mqtt?x=1",
        subprotocol: "mqtt",
        credential: Some("Bearer t"),
        message_bytes_max: LIMIT,
    };
    let mut hello = Vec::new();
    write_frame(Opcode::BINARY, b"hi", &mut hello);
    for (fields, taken) in [
        ("Sec-WebSocket-Protocol: mqtt\r\n", true),
        ("Sec-WebSocket-Protocol: coap\r\n", false),
        ("", false),
        (
            "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Extensions: x\r\n",
            false,
        ),
    ] {
        let (client, server) = pair().await;
        let opened = open(Stream::Tcp(client), opening);
        let (opened, ()) = tokio::join!(opened, answer(server, fields, &hello));
        assert_eq!(opened.is_ok(), taken, "{fields}");
        if let Ok(mut socket) = opened {
            let first = poll_fn(|cx| socket.poll_message(cx)).await.unwrap();
            assert_eq!(first.as_deref(), Some(&b"hi"[..]));
        }
    }
}

#[tokio::test]
async fn datagrams_come_and_go_and_one_address_may_be_shared() {
    let first = Datagrams::bind(ANY, true).unwrap();
    let address = first.local_addr().unwrap();
    let second = Datagrams::bind(address, true).unwrap();
    assert!(Datagrams::bind(address, false).is_err());
    drop(second);
    let (server, client) = (
        Datagrams::new(first).unwrap(),
        Datagrams::bind(ANY, false).unwrap(),
    );
    let client = Datagrams::new(client).unwrap();
    poll_fn(|cx| client.poll_send(cx, b"ping", address))
        .await
        .unwrap();
    let mut buffer = [0; 16];
    let (length, peer) = poll_fn(|cx| server.poll_receive(cx, &mut buffer))
        .await
        .unwrap();
    assert_eq!(
        (&buffer[..length], peer),
        (&b"ping"[..], client.local_addr().unwrap())
    );
    drop(client);
    // Nobody is there any more; that is told at a later call and is no fault of the socket's.
    for _ in 0..3 {
        poll_fn(|cx| server.poll_send(cx, b"pong", peer))
            .await
            .unwrap();
    }
}
