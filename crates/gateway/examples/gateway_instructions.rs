//! Has a gateway do one piece of work, for `cargo xtask instructions` to count what it takes.
//!
//! One message is under way at a time, so that how often a connection is looked at does not hang on
//! chance. The clients here are a few bytes by hand: nothing of them may count.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool")]
#![allow(clippy::disallowed_methods, reason = "a program with files of its own")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use weir_gateway::{Config, Gateway};

/// Messages of one piece of work.
const MESSAGES: u16 = 300;
const BODY: &[u8] =
    br#"{"topic":"hall/t","sensor":"urn:s","type":"temperature","unit":"Cel","value":21.5}"#;

fn main() {
    let work = std::env::args().nth(1).unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("weir-instructions-{}", std::process::id()));
    let mut config = Config::default();
    config
        .set(&format!("data.dir={}", folder.display()))
        .unwrap();
    for setting in [
        "mqtt.sys_seconds=0",
        "http.listen=127.0.0.1:0",
        "mqtt.listen=127.0.0.1:0",
        "amqp.listen=127.0.0.1:0",
    ] {
        config.set(setting).unwrap();
    }
    config.set("coap.listen=127.0.0.1:0").unwrap();
    let gateway = Gateway::start(&config, false).unwrap();
    let at = |listener| gateway.address(listener).unwrap();
    match work.as_str() {
        "mqtt-qos-0" => mqtt(at("mqtt"), 0),
        "mqtt-qos-1" => mqtt(at("mqtt"), 1),
        "http-sse" => http_sse(at("http")),
        "coap-get" => coap_get(at("http"), at("coap")),
        _ => panic!("no work of the name {work:?}"),
    }
    gateway.stop();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// From one client to another.
fn mqtt(address: SocketAddr, qos: u8) {
    let (mut reader, mut writer) = (mqtt_client(address, b'r'), mqtt_client(address, b'w'));
    let filter: &[u8] = &[
        0x82, 11, 0, 1, 0, 6, b'h', b'a', b'l', b'l', b'/', b't', qos,
    ];
    reader.write_all(filter).unwrap();
    take(&mut reader, 5);
    let numbered = if qos > 0 { 2 } else { 0 };
    let rest = 8 + numbered + BODY.len();
    for id in 1..=MESSAGES {
        let mut packet = vec![0x30 | qos << 1, rest as u8, 0, 6];
        packet.extend_from_slice(b"hall/t");
        packet.extend_from_slice(&id.to_be_bytes()[..numbered]);
        packet.extend_from_slice(BODY);
        writer.write_all(&packet).unwrap();
        let came = take(&mut reader, 2 + rest);
        if qos > 0 {
            take(&mut writer, 4);
            reader.write_all(&[0x40, 2, came[10], came[11]]).unwrap();
            // The answer to a ping says that the acknowledgement was read.
            reader.write_all(&[0xC0, 0]).unwrap();
            take(&mut reader, 2);
        }
    }
}

fn mqtt_client(address: SocketAddr, name: u8) -> TcpStream {
    let mut client = TcpStream::connect(address).unwrap();
    client.set_nodelay(true).unwrap();
    let connect = [
        0x10, 13, 0, 4, b'M', b'Q', b'T', b'T', 4, 2, 0, 0, 0, 1, name,
    ];
    client.write_all(&connect).unwrap();
    take(&mut client, 4);
    client
}

fn take(from: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    from.read_exact(&mut bytes).unwrap();
    bytes
}

/// From `POST` to server-sent events.
fn http_sse(address: SocketAddr) {
    let mut reader = TcpStream::connect(address).unwrap();
    let get = b"GET /live/hall/t HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n";
    reader.write_all(get).unwrap();
    until(&mut reader, b"\r\n\r\n");
    let mut writer = TcpStream::connect(address).unwrap();
    for _ in 0..MESSAGES {
        post(&mut writer);
        until(&mut reader, b"21.5");
        until(&mut reader, b"\n\n");
    }
}

fn post(writer: &mut TcpStream) {
    let length = BODY.len();
    let head = format!("POST /live/hall/t HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n");
    let mut request = head.into_bytes();
    request.extend_from_slice(b"Content-Type: application/json\r\n\r\n");
    request.extend_from_slice(BODY);
    writer.write_all(&request).unwrap();
    until(writer, b"\r\n\r\n");
}

/// Reads up to and with a mark, byte by byte.
fn until(from: &mut TcpStream, mark: &[u8]) {
    let mut last = Vec::new();
    while !last.ends_with(mark) {
        last.extend(take(from, 1));
    }
}

/// The last value, asked for and answered.
fn coap_get(http: SocketAddr, coap: SocketAddr) {
    post(&mut TcpStream::connect(http).unwrap());
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.connect(coap).unwrap();
    for id in 1..=MESSAGES {
        let mut request = vec![0x41, 1];
        request.extend_from_slice(&id.to_be_bytes());
        request.extend_from_slice(b"t\xb4live\x04hall\x01t");
        client.send(&request).unwrap();
        let mut answer = [0; 1500];
        let length = client.recv(&mut answer).unwrap();
        assert!(length > 8 && answer[1] == 0x45, "it is not 2.05");
    }
}
