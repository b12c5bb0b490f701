//! The server against Linux's own TCP, over a TUN device. What a system does not allow is skipped, loudly.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod support;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::{PAGE, Small, TEMPERATURE, site};
use weir_comet::limits::PACKET_BYTES_MAX;
use weir_link::{Edge, LabFault};

const PAGE_REQUEST: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
/// In the subnet of every end.
const BOARD: Ipv4Addr = Ipv4Addr::new(10, 77, 200, 2);
/// Fewer than the ring has slots, so that nobody is reset however often something is lost.
const PUBLICATIONS: u32 = 12;

fn skip(test: &str, reason: &str) {
    let line = format!("comet: {test}: {reason}\n");
    eprint!("SKIPPED {line}");
    if let Ok(path) = std::env::var("WEIR_SKIPS") {
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path);
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}

/// A namespace, or a note that the kernel gives no right to one.
fn edge(test: &str) -> Option<Edge> {
    match Edge::start(1, 1_500) {
        Ok(edge) => Some(edge),
        Err(LabFault::Refused(what, error)) => {
            skip(test, &format!("kernel right: {what}: {error}"));
            None
        }
        Err(fault) => panic!("{fault}"),
    }
}

/// Drives the board until it is told to stop: publishes every 50 ms once `listeners` listen, and loses
/// every so many packets, either way.
fn drive(edge: &Edge, listeners: usize, lost_one_in: Option<u32>, stop: &AtomicBool) -> Box<Small> {
    let mut server = Box::new(Small::new());
    server.start(site(), BOARD.octets(), 80, 42);
    let begin = Instant::now();
    let (mut packets, mut published, mut next) = (0u32, 0, Duration::ZERO);
    let mut is_lost = || {
        packets += 1;
        lost_one_in.is_some_and(|one_in| packets.is_multiple_of(one_in))
    };
    while !stop.load(Ordering::Relaxed) {
        let arrived = edge.receive(Duration::from_millis(5)).unwrap();
        let now = begin.elapsed();
        let clock = now.as_millis() as u32;
        if let Some(mut packet) = arrived
            && !is_lost()
        {
            let reply = server.receive(clock, &mut packet);
            if reply > 0 {
                edge.send(&packet[..reply]).unwrap();
            }
        }
        if published < PUBLICATIONS && server.listeners() >= listeners && now >= next {
            published += 1;
            next = now + Duration::from_millis(50);
            let text = format!("value {published}");
            server.publish(clock, TEMPERATURE, text.as_bytes()).unwrap();
        }
        server.tick(clock);
        let mut packet = [0; PACKET_BYTES_MAX];
        while let length @ 1.. = server.transmit(clock, &mut packet) {
            if !is_lost() {
                edge.send(&packet[..length]).unwrap();
            }
        }
    }
    server
}

/// Lets the board stop whatever happens.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asks on a connection, and reads until the text is whole.
fn ask(edge: &Edge, request: &str, is_whole: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let request = request.to_owned();
    let connect = move || TcpStream::connect((BOARD, 80));
    let mut stream = edge.station.within(connect).unwrap().unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let (mut text, mut piece) = (Vec::new(), [0; 4_096]);
    while !is_whole(&text) {
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "closed after {} bytes", text.len());
        text.extend_from_slice(&piece[..length]);
    }
    text
}

#[test]
fn linux_reads_pages_and_streams_over_a_good_and_a_bad_line() {
    let Some(edge) = edge("linux_reads_pages_and_streams_over_a_good_and_a_bad_line") else {
        return;
    };
    let dots = ".".repeat(1_200);
    let request =
        format!("GET /live/temperature?stream HTTP/1.1\r\nHost: x\r\nUser-Agent: {dots}\r\n\r\n");
    for lost_one_in in [None, Some(9)] {
        let stop = AtomicBool::new(false);
        let server = std::thread::scope(|scope| {
            let _stop = Stop(&stop);
            let board = scope.spawn(|| drive(&edge, 8, lost_one_in, &stop));
            let page = ask(&edge, PAGE_REQUEST, |text| text.ends_with(PAGE));
            assert!(page.starts_with(b"HTTP/1.1 200 OK"));
            let streams: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| ask(&edge, &request, |text| text.ends_with(b"value 12\r\n")))
                })
                .collect();
            for stream in streams {
                let text = String::from_utf8(stream.join().unwrap()).unwrap();
                let (_, body) = text.split_once("\r\n\r\n").unwrap();
                let values = (1..=PUBLICATIONS).map(|number| format!("value {number}"));
                let chunks: String = values
                    .map(|v| format!("{:x}\r\n{v}\r\n", v.len()))
                    .collect();
                assert_eq!(body, chunks);
            }
            stop.store(true, Ordering::Relaxed);
            board.join().unwrap()
        });
        let repeated = server.counters().repeated;
        assert_eq!(repeated > 0, lost_one_in.is_some(), "{repeated} went twice");
    }
}

/// Observes what its argument names until the last value comes, and prints each.
#[cfg(feature = "coap")]
const AIOCOAP: &str = r"
import asyncio, sys, aiocoap
async def main():
    context = await aiocoap.Context.create_client_context()
    request = context.request(aiocoap.Message(code=aiocoap.GET, uri=sys.argv[1], observe=0))
    first = await request.response
    print(first.code, first.opt.content_format, first.payload.decode())
    async for notification in request.observation:
        print(notification.payload.decode())
        if notification.payload == b'value 12':
            break
asyncio.run(asyncio.wait_for(main(), 60))
";

#[cfg(feature = "coap")]
#[test]
fn aiocoap_observes_over_a_good_and_a_bad_line() {
    let test = "aiocoap_observes_over_a_good_and_a_bad_line";
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/venv/bin/python");
    if !python.exists() {
        return skip(test, "no Python peers: make peers");
    }
    let Some(edge) = edge(test) else {
        return;
    };
    for lost_one_in in [None, Some(9)] {
        let stop = AtomicBool::new(false);
        let output = std::thread::scope(|scope| {
            let _stop = Stop(&stop);
            scope.spawn(|| drive(&edge, 1, lost_one_in, &stop));
            let mut client = Command::new(&python);
            client
                .args(["-c", AIOCOAP, &format!("coap://{BOARD}/live/temperature")])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let client = edge.station.spawn(client).unwrap();
            client.wait_with_output().unwrap()
        });
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8(output.stdout).unwrap();
        let values: Vec<&str> = text.lines().collect();
        assert!(values[0].starts_with("2.05 Content"), "{text}{errors}");
        assert_eq!(values.last(), Some(&"value 12"), "{text}{errors}");
        let numbers = values[1..].iter().map(|value| value[6..].parse().unwrap());
        let numbers: Vec<u32> = numbers.collect();
        assert!(numbers.is_sorted() && numbers.len() <= 12, "{text}");
    }
}
