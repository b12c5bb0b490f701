//! A tiny binding, to see that what a binding may declare is opened, served and counted.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::config::Config;
use crate::fault::RunFault;
use crate::run::{Gateway, bindings};
use crate::sockets::Named;
use crate::testing::Folder;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use weir_binding::{
    Connect, Context, Describe, LocalFuture, Publisher, Server, Subscriber, Target, Transport,
};
use weir_carrier::websocket::{Opening, WebSocketStream, open};
use weir_carrier::{Datagrams, Link, Stream};
use weir_model::{Cursor, Filter};

/// Sends back what it receives.
struct Echo {
    listen: &'static str,
    background: Arc<AtomicUsize>,
}

type Served<T> = LocalFuture<'static, io::Result<T>>;

fn refused<T: 'static>() -> Served<T> {
    let refused: io::Result<T> = Err(io::ErrorKind::Unsupported.into());
    Box::pin(std::future::ready(refused))
}

async fn echo_stream(mut stream: Stream, context: Arc<dyn Context>) -> io::Result<()> {
    let tally = context.tally("echo", "echo+ws");
    let mut bytes = [0; 64];
    loop {
        match stream.read(&mut bytes).await? {
            0 => return stream.shutdown().await,
            read => {
                tally.receive(1);
                // Counted before it can be seen, so that who sees it finds it counted.
                tally.send(1);
                stream.write_all(&bytes[..read]).await?;
                stream.flush().await?;
            }
        }
    }
}

async fn echo_datagrams(socket: Datagrams, context: Arc<dyn Context>) -> io::Result<()> {
    let mut buffer = [0; 64];
    let draining = context.draining();
    let echo = async {
        loop {
            let (length, peer) = poll_fn(|cx| socket.poll_receive(cx, &mut buffer)).await?;
            poll_fn(|cx| socket.poll_send(cx, &buffer[..length], peer)).await?;
        }
    };
    tokio::select! {
        ended = echo => ended,
        () = draining => Ok(()),
    }
}

impl Server for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn transports(&self) -> Vec<Transport> {
        let datagrams = Transport::Datagram {
            name: "udp",
            key: "listen",
            listen: self.listen.into(),
        };
        let socket = Transport::WebSocket {
            path: "/echo",
            subprotocol: "echo",
        };
        vec![datagrams, socket]
    }

    fn serve(&self, link: Link, context: Arc<dyn Context>) -> Served<()> {
        assert_eq!(link.credential.as_deref(), Some("Bearer t"));
        Box::pin(echo_stream(link.stream, context))
    }

    fn serve_datagrams(&self, socket: Datagrams, context: Arc<dyn Context>) -> Served<()> {
        Box::pin(echo_datagrams(socket, context))
    }

    fn background(&self, _: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        self.background.fetch_add(1, Ordering::SeqCst);
        Some(Box::pin(std::future::pending()))
    }
}

impl Describe for Echo {
    fn deliveries(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

impl Connect for Echo {
    fn schemes(&self) -> &'static [&'static str] {
        &[]
    }

    fn publisher(&self, _: Target) -> Served<Box<dyn Publisher>> {
        refused()
    }

    fn subscriber(
        &self,
        _: Target,
        _: Vec<Filter>,
        _: Option<Cursor>,
    ) -> Served<Box<dyn Subscriber>> {
        refused()
    }
}

/// A configuration with every listener at a port that is free.
fn config(folder: &Folder) -> Config {
    let mut config = folder.config("127.0.0.1:0");
    config.set("gateway.threads=2").unwrap();
    config
}

/// A gateway of HTTP and the echo, and how often the echo was asked for what runs beside it.
fn start(config: &Config, listen: &'static str) -> (Result<Gateway, RunFault>, Arc<AtomicUsize>) {
    let background = Arc::new(AtomicUsize::new(0));
    let echo: Named = (
        "echo",
        Arc::new(Echo {
            listen,
            background: background.clone(),
        }),
    );
    let mut all = bindings(config).unwrap();
    all.push(echo);
    (Gateway::start_with(config, all, false), background)
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(test)
}

#[test]
fn datagrams_are_served_on_every_thread_and_the_background_runs_once() {
    let folder = Folder::new("echo-datagrams");
    let (gateway, background) = start(&config(&folder), "127.0.0.1:0");
    let gateway = gateway.unwrap();
    let address = gateway.address("udp").unwrap();
    assert!(
        gateway
            .ready_line()
            .contains(&format!("\"udp\":\"{address}\""))
    );
    // The kernel spreads peers over the threads' sockets.
    for number in 0..16u8 {
        let client = UdpSocket::bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)).unwrap();
        client.send_to(&[number], address).unwrap();
        let mut echoed = [0; 8];
        assert_eq!(client.recv_from(&mut echoed).unwrap(), (1, address));
        assert_eq!(echoed[0], number);
    }
    gateway.stop();
    assert_eq!(background.load(Ordering::SeqCst), 1);
}

async fn ask(address: SocketAddr, subprotocol: &str) -> io::Result<WebSocketStream> {
    let tcp = TcpStream::connect(address).await?;
    let opening = Opening {
        host: "weir",
        path: "/echo",
        subprotocol,
        credential: Some("Bearer t"),
        message_bytes_max: 1 << 20,
    };
    open(Stream::Tcp(tcp), opening).await
}

async fn metrics(address: SocketAddr) -> String {
    let mut tcp = TcpStream::connect(address).await.unwrap();
    let request = b"GET /metrics HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n";
    tcp.write_all(request).await.unwrap();
    let mut page = String::new();
    tcp.read_to_string(&mut page).await.unwrap();
    page
}

#[test]
fn a_websocket_is_handed_to_the_binding_of_its_path_and_counted() {
    let folder = Folder::new("echo-websocket");
    let (gateway, _) = start(&config(&folder), "");
    let gateway = gateway.unwrap();
    assert_eq!(gateway.address("udp"), None);
    let address = gateway.address("http").unwrap();
    run(async {
        let mut socket = ask(address, "echo").await.unwrap();
        for text in [&b"hello"[..], b"again"] {
            socket.write_all(text).await.unwrap();
            socket.flush().await.unwrap();
            let mut echoed = [0; 5];
            socket.read_exact(&mut echoed).await.unwrap();
            assert_eq!(echoed, text);
        }
        let page = metrics(address).await;
        for direction in ["in", "out"] {
            let labels = format!("binding=\"echo\",scheme=\"echo+ws\",direction=\"{direction}\"");
            let line = format!("weir_binding_messages_total{{{labels}}} 2");
            assert!(page.contains(&line), "{line} in {page}");
        }
        let line = "weir_listener_connections{listener=\"http\"} 2";
        assert!(page.contains(line), "{page}");
        socket.shutdown().await.unwrap();
        assert_eq!(socket.read(&mut [0; 8]).await.unwrap(), 0);
        let refused = ask(address, "other").await.unwrap_err();
        assert!(refused.to_string().contains("400"), "{refused}");
    });
    gateway.stop();
}

#[test]
fn what_others_can_reach_needs_rules_or_the_word_whatever_it_is() {
    let folder = Folder::new("echo-exposed");
    let mut config = config(&folder);
    let refused = |config: &Config, listen| match start(config, listen).0 {
        Err(RunFault::Exposed(address)) => address.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("started"),
    };
    assert_eq!(refused(&config, "0.0.0.0:0"), "0.0.0.0:0");
    config.set("http.listen=0.0.0.0:0").unwrap();
    assert_eq!(refused(&config, ""), "0.0.0.0:0");
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    config.set("http.listen=127.0.0.1:0").unwrap();
    let address: &'static str = taken.local_addr().unwrap().to_string().leak();
    match start(&config, address).0 {
        Err(RunFault::Config(problem)) => {
            let said = problem.to_string();
            assert!(
                said.contains("in use") && said.contains("echo.listen"),
                "{said}"
            );
        }
        _ => panic!("started"),
    }
}
