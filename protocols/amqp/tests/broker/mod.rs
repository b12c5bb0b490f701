//! A RabbitMQ of one's own, and a blocking client of it.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant as Clock};
use weir_amqp::client::{ClientEvent, Machine, Options, Outgoing, Sent};
use weir_amqp::client::{v10, v091};
use weir_sansio::{Instant, Output};

/// Where Debian's package puts what starts it.
const SCRIPT: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
/// How long it may take until it listens; nothing is asserted of it.
const START: Duration = Duration::from_secs(180);
const SILENCE: Duration = Duration::from_secs(30);

/// RabbitMQ with AMQP 0.9.1 and 1.0, ended when dropped.
pub(crate) struct Broker {
    pub(crate) address: SocketAddr,
    folder: PathBuf,
    mapper: (Child, u16),
    distribution: u16,
    node: Option<Child>,
}

fn port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// A fresh one, or a loud note that it is absent.
pub(crate) fn broker(test: &str) -> Option<Broker> {
    let epmd = "/usr/bin/epmd";
    if !Path::new(SCRIPT).is_file() || !Path::new(epmd).is_file() {
        skip(
            test,
            "no RabbitMQ here; `apt-get install rabbitmq-server` brings it",
        );
        return None;
    }
    let (mapper, amqp, distribution) = (port(), port(), port());
    let folder = std::env::temp_dir().join(format!("weir-rabbitmq-{amqp}"));
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(epmd);
    command.args(["-port", &mapper.to_string(), "-address", "127.0.0.1"]);
    let mapper = (command.spawn().unwrap(), mapper);
    let configuration = format!(
        "listeners.tcp.1 = 127.0.0.1:{amqp}\ntcp_listen_options.nodelay = true\n\
         distribution.listener.interface = 127.0.0.1\nloopback_users = none\n\
         log.console = false\nlog.file.level = error\n"
    );
    std::fs::write(folder.join("rabbitmq.conf"), configuration).unwrap();
    std::fs::write(folder.join("plugins"), "[rabbitmq_amqp1_0].\n").unwrap();
    let mut broker = Broker {
        address: (Ipv4Addr::LOCALHOST, amqp).into(),
        folder,
        mapper,
        distribution,
        node: None,
    };
    broker.start();
    Some(broker)
}

impl Broker {
    /// Starts the node on what it kept.
    pub(crate) fn start(&mut self) {
        let folder = &self.folder;
        let mut command = Command::new(SCRIPT);
        command
            .env("HOME", folder)
            .env("RABBITMQ_CONFIG_FILE", folder.join("rabbitmq.conf"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
            .env("RABBITMQ_MNESIA_BASE", folder.join("mnesia"))
            .env("RABBITMQ_LOG_BASE", folder.join("log"))
            .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
            .env(
                "RABBITMQ_NODENAME",
                format!("t{}@localhost", self.address.port()),
            )
            .env("RABBITMQ_DIST_PORT", self.distribution.to_string())
            .env("ERL_EPMD_PORT", self.mapper.1.to_string())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("ERL_CRASH_DUMP_SECONDS", "0")
            .env("RUNNING_UNDER_SYSTEMD", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut node = command.spawn().unwrap();
        let begun = Clock::now();
        while TcpStream::connect(self.address).is_err() {
            assert!(node.try_wait().unwrap().is_none(), "RabbitMQ ended");
            assert!(begun.elapsed() < START, "RabbitMQ does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        self.node = Some(node);
    }

    /// Ends the node as a crash does.
    pub(crate) fn stop(&mut self) {
        if let Some(mut node) = self.node.take() {
            let _ = node.kill();
            let _ = node.wait();
        }
    }

    /// A client that is ready.
    pub(crate) fn client(&self, version: &str, options: Options) -> Client {
        let mut client = self.connect(version, options);
        match client.next() {
            Some(ClientEvent::Ready(product)) => assert!(product.contains("RabbitMQ"), "{product}"),
            other => panic!("{version}: not ready but {other:?}"),
        }
        client
    }

    /// A client of which nothing is known yet.
    pub(crate) fn connect(&self, version: &str, options: Options) -> Client {
        let tcp = TcpStream::connect(self.address).unwrap();
        tcp.set_nodelay(true).unwrap();
        tcp.set_read_timeout(Some(SILENCE)).unwrap();
        let begun = Clock::now();
        let machine: Box<dyn Machine> = match version {
            "0.9.1" => Box::new(v091::Client::new(Instant::START, options)),
            _ => {
                let name = format!("test-{}", tcp.local_addr().unwrap().port());
                Box::new(v10::Client::new(Instant::START, options, name))
            }
        };
        Client {
            machine,
            tcp,
            begun,
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop();
        let _ = self.mapper.0.kill();
        let _ = self.mapper.0.wait();
        if std::thread::panicking() {
            let files = std::fs::read_dir(self.folder.join("log"))
                .into_iter()
                .flatten();
            let texts = files
                .flatten()
                .map(|file| std::fs::read_to_string(file.path()));
            texts.flatten().for_each(|text| println!("{text}"));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A machine on a socket.
pub(crate) struct Client {
    pub(crate) machine: Box<dyn Machine>,
    tcp: TcpStream,
    begun: Clock,
}

impl Client {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }

    /// The next event; `None` where the connection ends without one.
    pub(crate) fn next(&mut self) -> Option<ClientEvent> {
        loop {
            let now = self.now();
            match self.machine.poll_output() {
                Output::Transmit(bytes) => self.tcp.write_all(&bytes).ok()?,
                Output::Event(event) => return Some(event),
                Output::Timeout(_) => {
                    let mut buffer = [0; 65_536];
                    match self.tcp.read(&mut buffer) {
                        Ok(0) => return None,
                        Ok(length) => {
                            let Ok(()) = self.machine.handle_input(now, &buffer[..length]);
                        }
                        Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
    }

    /// Publishes once there is credit.
    pub(crate) fn publish(&mut self, topic: &str, payload: &[u8], token: u64) {
        let headers = [("weir-via".to_owned(), "here".to_owned())];
        let message = Outgoing {
            topic,
            content_type: Some("text/plain"),
            headers: &headers,
            payload,
            token,
        };
        let mut bytes = Vec::new();
        while self.machine.publish(self.now(), &message, &mut bytes) == Sent::Full {
            let event = self.turn();
            assert!(event.is_none(), "{event:?}");
        }
        self.tcp.write_all(&bytes).unwrap();
    }

    /// Hears what comes once; an event, if that is one.
    fn turn(&mut self) -> Option<ClientEvent> {
        loop {
            let now = self.now();
            match self.machine.poll_output() {
                Output::Transmit(bytes) => self.tcp.write_all(&bytes).unwrap(),
                Output::Event(event) => return Some(event),
                Output::Timeout(_) => {
                    let mut buffer = [0; 65_536];
                    let length = self.tcp.read(&mut buffer).unwrap();
                    let Ok(()) = self.machine.handle_input(now, &buffer[..length]);
                    return None;
                }
            }
        }
    }
}

fn skip(test: &str, reason: &str) {
    eprintln!("SKIP {test}: {reason}");
    if let Some(path) = std::env::var_os("WEIR_SKIPS") {
        let line = format!("rust: {test}: {reason}\n");
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
