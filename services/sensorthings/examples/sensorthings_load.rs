//! A load on the SensorThings service of a running gateway, over HTTP as its clients speak it.
//!
//! `cargo run --release -p weir-sensorthings --example sensorthings_load -- 127.0.0.1:8080`
//!
//! It says observations a second by `CreateObservations`, single `POST`s a second over 64 connections, and how
//! long the latest observations of 400 datastreams take in one request. Server and client share the machine.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "it is a program that measures"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const DATASTREAMS: usize = 400;
const ROWS: usize = 10_000;
const CONNECTIONS: usize = 64;
const SPAN: Duration = Duration::from_secs(5);

/// A connection that stays.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let buffer = Vec::new();
        Self { stream, buffer }
    }

    fn send(&mut self, method: &str, path: &str, body: &str) {
        let length = body.len();
        let request = format!(
            "{method} /sta/v1.1/{path} HTTP/1.1\r\nhost: weir\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).unwrap();
    }

    /// Status, head and body.
    fn receive(&mut self) -> (u16, String, Vec<u8>) {
        let end = loop {
            let found = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            match found {
                Some(end) => break end + 4,
                None => self.more(),
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_lowercase();
        let length = head.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
        let whole = end + length.unwrap_or(0);
        while self.buffer.len() < whole {
            self.more();
        }
        let body = self.buffer[end..whole].to_vec();
        self.buffer.drain(..whole);
        (head[9..12].parse().unwrap(), head, body)
    }

    fn more(&mut self) {
        let mut piece = [0; 64 << 10];
        let count = self.stream.read(&mut piece).unwrap();
        assert!(count > 0, "the gateway closed the connection");
        self.buffer.extend_from_slice(&piece[..count]);
    }

    fn ask(&mut self, method: &str, path: &str, body: &str) -> (u16, String, Vec<u8>) {
        self.send(method, path, body);
        self.receive()
    }
}

/// A thing with all its datastreams; their numbers.
fn furnish(client: &mut Client) -> Vec<u64> {
    let unit = r#"{"name":"Celsius","symbol":"Cel","definition":"ucum:Cel"}"#;
    let place = r#"{"name":"L","description":"l","encodingType":"application/geo+json",
        "location":{"type":"Point","coordinates":[20.5,44.8]}}"#;
    let body = format!(r#"{{"name":"load","description":"l","Locations":[{place}]}}"#);
    let (status, head, _) = client.ask("POST", "Things", &body);
    assert_eq!(status, 201);
    let thing = head.split("things(").nth(1).unwrap();
    let thing = thing.split(')').next().unwrap().to_owned();
    let mut numbers = Vec::new();
    for number in 0..DATASTREAMS {
        let body = format!(
            r#"{{"name":"d{number}","description":"d","observationType":"OM_Measurement",
            "unitOfMeasurement":{unit},"Thing":{{"@iot.id":{thing}}},
            "Sensor":{{"name":"s","description":"s","encodingType":"text/html","metadata":"m"}},
            "ObservedProperty":{{"name":"t","definition":"urn:t","description":"t"}},
            "Observations":[{{"result":{number}}}]}}"#
        );
        let (status, head, body) = client.ask("POST", "Datastreams", &body);
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
        let id = head.split("datastreams(").nth(1).unwrap();
        numbers.push(id.split(')').next().unwrap().parse().unwrap());
    }
    numbers
}

/// Rows of one datastream, a millisecond apart.
fn rows(datastream: u64, begin: usize) -> String {
    let mut body = format!(
        r#"[{{"Datastream":{{"@iot.id":{datastream}}},"components":["phenomenonTime","result"],"dataArray":["#
    );
    for row in begin..begin + ROWS {
        let (seconds, millis) = (row / 1000, row % 1000);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let comma = if row == begin { "" } else { "," };
        let value = row as f64 * 0.25;
        body += &format!(
            r#"{comma}["2027-01-01T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z",{value}]"#
        );
    }
    body + "]}]"
}

fn bulk(address: &str, numbers: &[u64]) {
    // What is sent is written before the time counts.
    let bodies: Vec<String> = (0..40).map(|part| rows(numbers[0], part * ROWS)).collect();
    let mut clients = [Client::connect(address), Client::connect(address)];
    let begin = Instant::now();
    let mut count = 0;
    for pair in bodies.chunks(2) {
        for (client, body) in clients.iter_mut().zip(pair) {
            client.send("POST", "CreateObservations", body);
        }
        for (client, _) in clients.iter_mut().zip(pair) {
            let (status, _, _) = client.receive();
            assert_eq!(status, 201);
            count += ROWS;
        }
    }
    report("CreateObservations", count, begin.elapsed());
}

fn single(address: &str, numbers: &[u64]) {
    let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| Client::connect(address)).collect();
    let (begin, mut count) = (Instant::now(), 0);
    while begin.elapsed() < SPAN {
        for (client, number) in clients.iter_mut().zip(numbers) {
            let path = format!("Datastreams({number})/Observations");
            client.send("POST", &path, r#"{"result":21.5}"#);
        }
        for client in &mut clients {
            assert_eq!(client.receive().0, 201);
            count += 1;
        }
    }
    report("single POSTs", count, begin.elapsed());
}

fn latest(client: &mut Client, what: &str, path: &str) {
    let mut times = Vec::new();
    for _ in 0..200 {
        let begin = Instant::now();
        let (status, _, body) = client.ask("GET", path, "");
        times.push(begin.elapsed());
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    }
    times.sort();
    println!("{what}: {:?} median, {:?} p95", times[100], times[190]);
}

fn report(what: &str, count: usize, time: Duration) {
    let rate = count as f64 / time.as_secs_f64();
    println!("{what}: {rate:.0} a second ({count} in {time:?})");
}

fn main() {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let mut client = Client::connect(&address);
    let numbers = furnish(&mut client);
    single(&address, &numbers);
    let latest_of = "$expand=Observations($top=1;$orderby=phenomenonTime%20desc)";
    let path = format!("Datastreams?$top=400&{latest_of}");
    latest(&mut client, "latest of 400 datastreams", &path);
    let path = format!(
        "Datastreams?$top=400&$select=id&{}",
        latest_of.replace(")", ";$select=result,phenomenonTime)")
    );
    latest(&mut client, "the same, results and times only", &path);
    latest(
        &mut client,
        "one datastream",
        &format!("Datastreams({})", numbers[0]),
    );
    bulk(&address, &numbers);
}
