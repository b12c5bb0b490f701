//! A small load on any MQTT broker: `load ADDRESS fanout SUBSCRIBERS SECONDS`, `load ADDRESS publish
//! PUBLISHERS SECONDS`, `load ADDRESS idle CONNECTIONS`.
//!
//! What it deliberately does not do: no statistics beyond a rate; the bench has them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for the terminal"
)]

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;
use weir_mqtt::wire::{
    Connect, Filters, Framed, Packet, PacketType, Properties, Publish, QoS, Subscribe,
    SubscriptionOptions, Version, frame,
};

const VERSION: Version = Version::V311;
const PAYLOAD: &[u8] = b"0123456789abcdef";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).map_or(10, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let address = arguments[0].clone();
        match arguments[1].as_str() {
            "fanout" => fanout(&address, number(2), number(3)).await,
            "publish" => publish(&address, number(2), number(3)).await,
            _ => idle(&address, number(2)).await,
        }
    });
}

fn encode(packet: Packet<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    packet.encode(VERSION, &mut out);
    out
}

fn message(qos: QoS, packet_id: u16) -> Vec<u8> {
    encode(Packet::Publish(Publish {
        qos,
        packet_id,
        topic: "load/a",
        payload: PAYLOAD,
        ..Publish::default()
    }))
}

async fn connect(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let packet = encode(Packet::Connect(Connect {
        version: VERSION,
        bridge: false,
        clean_start: true,
        keep_alive: 0,
        properties: Properties::NONE,
        client_id: "",
        will: None,
        user_name: None,
        password: None,
    }));
    stream.write_all(&packet).await.unwrap();
    let mut connack = [0; 4];
    stream.read_exact(&mut connack).await.unwrap();
    assert_eq!(connack[3], 0, "refused");
    stream
}

async fn subscribe(stream: &mut TcpStream) {
    let filters = Filters::write(&[("load/a", SubscriptionOptions::default())]);
    let packet = encode(Packet::Subscribe(Subscribe {
        packet_id: 1,
        properties: Properties::NONE,
        filters: Filters::of_bytes(&filters, true).unwrap(),
    }));
    stream.write_all(&packet).await.unwrap();
    let mut suback = [0; 5];
    stream.read_exact(&mut suback).await.unwrap();
}

/// One publisher as fast as the broker reads it, QoS 0; counts what all subscribers receive.
async fn fanout(address: &str, subscribers: usize, secs: usize) {
    let received = Rc::new(Cell::new(0_u64));
    for _ in 0..subscribers {
        let mut stream = connect(address).await;
        subscribe(&mut stream).await;
        let received = received.clone();
        tokio::task::spawn_local(async move {
            let mut buffer = vec![0; 64 << 10];
            loop {
                let length = stream.read(&mut buffer).await.unwrap_or(0);
                if length == 0 {
                    return;
                }
                received.set(received.get() + length as u64);
            }
        });
    }
    let one = message(QoS::AtMostOnce, 0);
    let batch = one.repeat(16);
    let mut publisher = connect(address).await;
    let start = Instant::now();
    let (mut sent, mut lagging) = (0_u64, 0_u64);
    while start.elapsed() < Duration::from_secs(secs as u64) {
        // Not ahead of the subscribers by more than a little: what they drop is no delivery.
        let behind = sent * subscribers as u64 * 16 - received.get() / one.len() as u64;
        if behind > subscribers as u64 * 512 && lagging < 2000 {
            lagging += 1;
            tokio::time::sleep(Duration::from_micros(100)).await;
            continue;
        }
        lagging = 0;
        publisher.write_all(&batch).await.unwrap();
        sent += 1;
        tokio::task::yield_now().await;
    }
    let secs = start.elapsed().as_secs_f64();
    let deliveries = received.get() / one.len() as u64;
    println!(
        "{:.0} deliveries/s, {:.0} messages/s",
        deliveries as f64 / secs,
        (sent * 16) as f64 / secs
    );
}

/// Publishers with QoS 1, each with up to 20 messages under way; counts acknowledgments.
async fn publish(address: &str, publishers: usize, secs: usize) {
    let acknowledged = Rc::new(Cell::new(0_u64));
    let end = Instant::now() + Duration::from_secs(secs as u64);
    let mut tasks = Vec::new();
    for _ in 0..publishers {
        let mut stream = connect(address).await;
        let acknowledged = acknowledged.clone();
        tasks.push(tokio::task::spawn_local(async move {
            let (mut held, mut buffer) = (Vec::new(), vec![0; 4096]);
            let (mut id, mut under_way) = (0_u16, 0);
            while Instant::now() < end {
                let mut out = Vec::new();
                while under_way < 20 {
                    id = id.checked_add(1).unwrap_or(1);
                    out.extend(message(QoS::AtLeastOnce, id));
                    under_way += 1;
                }
                stream.write_all(&out).await.unwrap();
                let length = stream.read(&mut buffer).await.unwrap();
                assert_ne!(length, 0, "the broker closed");
                held.extend_from_slice(&buffer[..length]);
                let mut at = 0;
                while let Framed::Whole(header) = frame(&held[at..], 1 << 20).unwrap() {
                    at += header.end;
                    if header.packet == PacketType::Puback {
                        under_way -= 1;
                        acknowledged.set(acknowledged.get() + 1);
                    }
                }
                held.drain(..at);
            }
        }));
    }
    let start = Instant::now();
    for task in tasks {
        task.await.unwrap();
    }
    let secs = start.elapsed().as_secs_f64();
    println!("{:.0} acknowledged/s", acknowledged.get() as f64 / secs);
}

/// Connections that subscribe and then say nothing, until Enter is pressed.
async fn idle(address: &str, connections: usize) {
    let mut held = Vec::new();
    for _ in 0..connections {
        let mut stream = connect(address).await;
        subscribe(&mut stream).await;
        held.push(stream);
    }
    println!("{connections} connections");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}
