//! Asks a CoAP server as fast as it answers, or measures round trips; and a bare echo to compare with.
//!
//!     load ADDRESS PATH [SOCKETS [WINDOW [SECONDS]]]   requests a second, confirmable
//!     load rtt ADDRESS PATH [ROUND_TRIPS]              one request at a time, microseconds; several
//!                                                      addresses, parted by commas, are asked in turn
//!     load echo                                        an echo of datagrams on the gateway's runtime
//!
//! PATH may name several resources, parted by commas: they are asked in turn. NSTART is not kept: a load
//! is that of many devices, which these sockets and tokens stand for.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program for a developer's terminal"
)]

use bytes::Bytes;
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use weir_carrier::{Batch, Datagrams, Leaving};
use weir_coap::wire::{Code, Kind, Message, Number, Token, set_path, write_datagram};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let number = |at: usize, default: usize| {
        let given = arguments.get(at).map(|text| text.parse().unwrap());
        given.unwrap_or(default)
    };
    let local = tokio::task::LocalSet::new();
    match arguments[..] {
        ["echo"] => runtime.block_on(echo()),
        ["rtt", address, path, ..] => {
            let asked = address.split(',').map(|one| Asked::new(one, path));
            runtime.block_on(round_trips(asked.collect(), number(3, 20_000)));
        }
        [address, path, ..] => {
            let asked = Asked::new(address, path);
            let seconds = Duration::from_secs(number(4, 5) as u64);
            let load = load(asked, number(2, 8), number(3, 32), seconds);
            local.block_on(&runtime, load);
        }
        _ => eprintln!("load ADDRESS PATH [SOCKETS [WINDOW [SECONDS]]] | rtt ADDRESS PATH | echo"),
    }
}

/// What is asked of whom.
#[derive(Clone)]
struct Asked {
    server: SocketAddr,
    requests: Vec<Message>,
}

impl Asked {
    fn new(address: &str, paths: &str) -> Self {
        let request = |path: &str| {
            let mut message = Message::new(Code::GET);
            set_path(&mut message.options, Number::URI_PATH, path).unwrap();
            message
        };
        Self {
            server: address.parse().unwrap(),
            requests: paths.split(',').map(request).collect(),
        }
    }

    /// The request of this number.
    fn datagram(&self, number: u32) -> Bytes {
        let mut message = self.requests[number as usize % self.requests.len()].clone();
        message.token = Token::new(&number.to_be_bytes()).unwrap();
        let mut out = Vec::with_capacity(64);
        write_datagram(Kind::Confirmable, number as u16, &message, &mut out);
        out.into()
    }
}

async fn load(asked: Asked, sockets: usize, window: usize, time: Duration) {
    let answers = Rc::new(Cell::new(0));
    let began = Instant::now();
    for _ in 0..sockets {
        let socket = Datagrams::bind((Ipv4Addr::LOCALHOST, 0).into(), false).unwrap();
        let mut device = Devices {
            socket: Datagrams::new(socket).unwrap(),
            asked: asked.clone(),
            batch: Batch::default(),
            queue: VecDeque::new(),
            number: 0,
            answers: answers.clone(),
        };
        (0..window).for_each(|_| device.ask());
        tokio::task::spawn_local(poll_fn(move |cx| device.poll(cx)));
    }
    tokio::time::sleep(time).await;
    let rate = f64::from(answers.get()) / began.elapsed().as_secs_f64();
    println!("{} answers, {rate:.0} a second", answers.get());
}

/// Devices behind one socket.
struct Devices {
    socket: Datagrams,
    asked: Asked,
    batch: Batch,
    queue: VecDeque<Leaving>,
    number: u32,
    answers: Rc<Cell<u32>>,
}

impl Devices {
    fn ask(&mut self) {
        self.number = self.number.wrapping_add(1);
        self.queue.push_back(Leaving {
            bytes: self.asked.datagram(self.number),
            to: self.asked.server,
            from: None,
        });
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let sent = self.socket.poll_send_batch(cx, &mut self.queue);
            if sent.is_pending() {
                return Poll::Pending;
            }
            let came = self.socket.poll_receive_batch(cx, &mut self.batch);
            let Poll::Ready(came) = came else {
                return Poll::Pending;
            };
            came.unwrap();
            for index in 0..self.batch.len() {
                let answered = self.batch.get(index).map(|(_, bytes)| bytes[1]);
                assert_eq!(answered, Some(Code::CONTENT.0), "every answer is 2.05");
                self.answers.set(self.answers.get() + 1);
                self.ask();
            }
        }
    }
}

/// Asks each server in turn, so that what disturbs the machine disturbs them alike.
async fn round_trips(servers: Vec<Asked>, count: usize) {
    let mut sockets = Vec::new();
    for asked in servers {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        socket.connect(asked.server).await.unwrap();
        sockets.push((socket, asked, Vec::with_capacity(count)));
    }
    for number in 0..count as u32 {
        for (socket, asked, times) in &mut sockets {
            times.push(round_trip(socket, &asked.datagram(number)).await);
        }
    }
    for (_, asked, mut times) in sockets {
        times.sort();
        let at = |part: f64| times[(count as f64 * part) as usize].as_nanos() as f64 / 1000.0;
        let (half, most) = (at(0.5), at(0.99));
        println!("{}: p50 {half:.2} us, p99 {most:.2} us", asked.server);
    }
}

async fn round_trip(socket: &UdpSocket, request: &[u8]) -> Duration {
    let mut buffer = [0; 2048];
    let began = Instant::now();
    socket.send(request).await.unwrap();
    let length = socket.recv(&mut buffer).await.unwrap();
    let time = began.elapsed();
    assert_eq!(buffer[2..4], request[2..4], "{length} bytes came back");
    time
}

async fn echo() {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    println!("{}", socket.local_addr().unwrap());
    let mut buffer = [0; 2048];
    loop {
        let (length, peer) = socket.recv_from(&mut buffer).await.unwrap();
        socket.send_to(&buffer[..length], peer).await.unwrap();
    }
}
