//! Records a real link as a trace that `weir link --trace` takes: what arrives of a flood that is more than it
//! carries, a millisecond a line for each packet of 1,500 bytes.
//!
//! `record serve 0.0.0.0:9000` on a machine behind no such link, then on the one behind it
//! `record down HOST:9000 SECONDS MBITS FILE`. Who asks must have a connection of TCP and send its secret by UDP
//! from the same address, so that nobody is flooded on another's word.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for the command line, of sockets and clocks"
)]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// With the headers of IPv4 and UDP the 1,500 bytes of an opportunity.
const PAYLOAD_BYTES: usize = 1_472;
const SECONDS_MAX: u64 = 3_600;
const MBITS_MAX: u64 = 1_000;
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", address] => serve(&TcpListener::bind(address)?),
        ["down", server, seconds, mbits, file] => {
            let millis = down(server, seconds.parse()?, mbits.parse()?)?;
            let lines: String = millis.iter().map(|milli| format!("{milli}\n")).collect();
            std::fs::write(file, lines)?;
            println!("{} packets in {file}", millis.len());
            Ok(())
        }
        _ => Err("record serve ADDRESS:PORT | record down HOST:PORT SECONDS MBITS FILE".into()),
    }
}

fn serve(listener: &TcpListener) -> Outcome {
    for control in listener.incoming() {
        if let Err(error) = flood(control?) {
            println!("refused: {error}");
        }
    }
    Ok(())
}

/// One recording: read what is wanted, tell port and secret, wait for the secret by UDP, send.
fn flood(mut control: TcpStream) -> Outcome {
    control.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(control.try_clone()?).read_line(&mut line)?;
    let (seconds, mbits) = line
        .trim()
        .split_once(' ')
        .ok_or("two numbers are expected")?;
    let seconds = seconds.parse::<u64>()?.min(SECONDS_MAX);
    let mbits = mbits.parse::<u64>()?.clamp(1, MBITS_MAX);
    let socket = UdpSocket::bind((control.local_addr()?.ip(), 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let secret = format!("{:016x}", weir_random::number());
    writeln!(control, "{} {secret}", socket.local_addr()?.port())?;
    let mut told = [0; 16];
    let (length, peer) = socket.recv_from(&mut told)?;
    if told[..length] != *secret.as_bytes() || peer.ip() != control.peer_addr()?.ip() {
        return Err("another than who asked".into());
    }
    let gap = Duration::from_secs_f64((PAYLOAD_BYTES + 28) as f64 * 8.0 / (mbits as f64 * 1e6));
    let begin = Instant::now();
    let mut sent = 0;
    while begin.elapsed() < Duration::from_secs(seconds) {
        std::thread::sleep((gap * sent).saturating_sub(begin.elapsed()));
        // What finds no room here would have found none on the link.
        let _full = socket.send_to(&[0; PAYLOAD_BYTES], peer);
        sent += 1;
    }
    println!("{sent} packets to {peer}");
    Ok(())
}

/// Milliseconds of the arrivals since the first of them.
fn down(server: &str, seconds: u64, mbits: u64) -> Outcome<Vec<u128>> {
    let mut control = TcpStream::connect(server)?;
    writeln!(control, "{seconds} {mbits}")?;
    let mut line = String::new();
    BufReader::new(control.try_clone()?).read_line(&mut line)?;
    let (port, secret) = line.trim().split_once(' ').ok_or("the server refuses")?;
    let socket = UdpSocket::bind((control.local_addr()?.ip(), 0))?;
    socket.connect((control.peer_addr()?.ip(), port.parse()?))?;
    socket.send(secret.as_bytes())?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let (mut millis, mut first) = (Vec::new(), None);
    let mut buffer = [0; PAYLOAD_BYTES];
    while first.is_none_or(|first: Instant| first.elapsed() < Duration::from_secs(seconds))
        && socket.recv(&mut buffer).is_ok()
    {
        let first = *first.get_or_insert_with(Instant::now);
        millis.push(first.elapsed().as_millis());
    }
    Ok(millis)
}
