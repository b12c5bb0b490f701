//! One connection to whichever of the servers answers, made again when it ends.
//!
//! What it deliberately does not do: nothing is sent again. Who sent something and had no answer does.

use crate::limits::{CONNECT, CONNECT_PAUSE, OUT_BYTES_MAX, PING_EVERY, SILENCE};
use crate::link::Link;
use crate::url::Servers;
use crate::wire::{self, Message, Op};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufReader};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Who takes what comes to an inbox.
pub(crate) type Handler = Arc<dyn Fn(Message) + Send + Sync>;

/// The connection, shared by all who use it.
pub(crate) struct Connection {
    servers: Servers,
    /// Beginning of the subjects of its inboxes.
    pub(crate) nonce: String,
    state: Mutex<State>,
    due: Condvar,
    next: AtomicU64,
}

#[derive(Default)]
struct State {
    out: Vec<u8>,
    link: Option<Link>,
    /// Counts connections made.
    round: u64,
    handlers: HashMap<u64, Handler>,
    closed: bool,
    payload_max: usize,
    /// Why there is none.
    problem: String,
}

impl Connection {
    /// Begins to connect; the thread ends after [`Connection::close`].
    pub(crate) fn start(servers: Servers) -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let connection = Arc::new(Self {
            servers,
            nonce: nonce(),
            state: Mutex::default(),
            due: Condvar::new(),
            next: AtomicU64::new(0),
        });
        let own = connection.clone();
        let thread = thread::Builder::new().name("nats".into());
        let thread = thread.spawn(move || own.run())?;
        Ok((connection, thread))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many connections were made, or why there is none now.
    pub(crate) fn round(&self) -> Result<u64, String> {
        let state = self.state();
        match state.link {
            Some(_) => Ok(state.round),
            None => Err(state.problem.clone()),
        }
    }

    /// The most bytes of a message that the server takes.
    pub(crate) fn payload_max(&self) -> usize {
        self.state().payload_max
    }

    /// A beginning of subjects of its own for answers, and its number.
    pub(crate) fn inbox(&self, handler: Handler) -> (u64, String) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state();
        state.handlers.insert(number, handler);
        if state.link.is_some() {
            let line = self.subscription(number);
            state.out.extend_from_slice(line.as_bytes());
        }
        drop(state);
        (number, format!("_INBOX.{}.{number}", self.nonce))
    }

    fn subscription(&self, number: u64) -> String {
        format!("SUB _INBOX.{}.{number}.> {number}\r\n", self.nonce)
    }

    /// Takes nothing more there.
    pub(crate) fn close_inbox(&self, number: u64) {
        let mut state = self.state();
        let handler = state.handlers.remove(&number);
        if state.link.is_some() {
            let line = format!("UNSUB {number}\r\n");
            state.out.extend_from_slice(line.as_bytes());
        }
        drop(state);
        drop(handler);
    }

    /// Sends a message; where there is no connection, or it takes nothing, the message is dropped.
    pub(crate) fn send(&self, to: (&str, &str), headers: &[(&str, &str)], payload: &[u8]) {
        let mut state = self.state();
        if state.link.is_none() || state.out.len() > OUT_BYTES_MAX {
            return;
        }
        wire::publish(&mut state.out, to, headers, payload);
        drop(state);
        self.due.notify_all();
    }

    /// Asks and waits for the answer, sending the request again each second.
    pub(crate) fn request(
        &self,
        subject: &str,
        payload: &[u8],
        within: Duration,
    ) -> Result<Value, String> {
        let (told, answers) = mpsc::channel();
        // Nobody listens any more once an answer was taken.
        let (number, reply) = self.inbox(Arc::new(move |message| drop(told.send(message))));
        let until = Instant::now() + within;
        let mut problem = String::new();
        let answer = loop {
            if Instant::now() >= until {
                break Err(match self.round() {
                    Err(why) => why,
                    Ok(_) if problem.is_empty() => format!("no answer to {subject}"),
                    Ok(_) => problem,
                });
            }
            self.send((subject, &format!("{reply}.a")), &[], payload);
            match answers.recv_timeout(Duration::from_secs(1)) {
                Ok(message) if message.status == 503 => {
                    problem = "JetStream is off, or has no leader".into();
                    thread::sleep(CONNECT_PAUSE);
                }
                Ok(message) => match serde_json::from_slice(&message.payload) {
                    Ok(answer) => break Ok(answer),
                    Err(error) => break Err(format!("the answer to {subject}: {error}")),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Err("closed".into()),
            }
        };
        self.close_inbox(number);
        answer
    }

    /// Ends the connection and its thread.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        if let Some(link) = state.link.take() {
            link.end();
        }
        state.handlers.clear();
        drop(state);
        self.due.notify_all();
    }

    fn run(self: Arc<Self>) {
        let mut turn = 0;
        while !self.state().closed {
            let address = &self.servers.addresses[turn % self.servers.addresses.len()];
            turn += 1;
            let ended = self.serve(address);
            let mut state = self.state();
            state.link = None;
            state.out.clear();
            state.problem = format!("{address}: {ended}");
            if turn % self.servers.addresses.len() == 0 && !state.closed {
                let _woken = self
                    .due
                    .wait_timeout(state, CONNECT_PAUSE)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Connects and reads until the connection ends; says why it did.
    fn serve(self: &Arc<Self>, address: &str) -> String {
        let mut input = match self.connect(address) {
            Ok(input) => input,
            Err(error) => return error.to_string(),
        };
        let writer = {
            let own = self.clone();
            let round = self.state().round;
            let thread = thread::Builder::new().name("nats-out".into());
            match thread.spawn(move || own.write(round)) {
                Ok(writer) => writer,
                Err(error) => return error.to_string(),
            }
        };
        let ended = loop {
            match wire::read(&mut input) {
                Ok(op) => self.take(op),
                Err(error) => break error.to_string(),
            }
        };
        let link = self.state().link.take();
        if let Some(link) = link {
            link.end();
        }
        self.due.notify_all();
        if writer.join().is_err() {
            return "the writing thread ended early".into();
        }
        ended
    }

    fn connect(&self, address: &str) -> io::Result<BufReader<Link>> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for socket in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&socket, CONNECT) {
                Ok(stream) => return self.greet(stream, address),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// `INFO`, TLS where it is wanted, `CONNECT`, `PING`, `PONG`.
    fn greet(&self, stream: TcpStream, address: &str) -> io::Result<BufReader<Link>> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        let mut link = Link::plain(stream);
        // The server says nothing more before it is answered: no byte behind the greeting is read.
        let Op::Info(info) = wire::read(&mut BufReader::new(link.clone()))? else {
            return Err(refused("it does not greet as NATS does".into()));
        };
        let info: Value = serde_json::from_slice(&info)?;
        self.encrypt(&mut link, &info, address)?;
        let mut input = BufReader::with_capacity(64 << 10, link.clone());
        let hello = self.hello(&info).map_err(refused)?;
        link.send(format!("CONNECT {hello}\r\nPING\r\n").as_bytes())?;
        loop {
            // In TLS 1.3 a server that misses a certificate says so behind the handshake.
            let read = wire::read(&mut input).map_err(|error| self.explained(address, error));
            match read? {
                Op::Pong => break,
                Op::Err(why) => return Err(refused(self.told(&why))),
                _ => {}
            }
        }
        let mut state = self.state();
        if state.closed {
            return Err(refused("it is no longer wanted".into()));
        }
        state.payload_max = info["max_payload"].as_u64().unwrap_or(1 << 20) as usize;
        let known: String = state
            .handlers
            .keys()
            .map(|&number| self.subscription(number))
            .collect();
        state.out = known.into_bytes();
        state.round += 1;
        state.link = Some(link);
        Ok(input)
    }

    /// TLS, where the owner wants it; a server that wants it otherwise, or cannot, is refused.
    fn encrypt(&self, link: &mut Link, info: &Value, address: &str) -> io::Result<()> {
        let can = info["tls_required"] == true || info["tls_available"] == true;
        match &self.servers.tls {
            None if info["tls_required"] == true => Err(refused(
                "it wants TLS: say tls:// in bus.url, and bus.ca_file where its certificate is not one \
                 of the Web's"
                    .into(),
            )),
            None => Ok(()),
            Some(_) if !can => Err(refused(
                "bus.url or bus.ca_file asks for TLS, and it has none \
                 (`tls` in its configuration)"
                    .into(),
            )),
            Some(tls) => link.encrypt(tls, host_of(address)),
        }
    }

    /// What befell a connection, with what the owner can do about it where TLS says what that is.
    fn explained(&self, address: &str, error: io::Error) -> io::Error {
        match &self.servers.tls {
            Some(tls) if error.get_ref().is_some() => tls.told(host_of(address), &error),
            _ => error,
        }
    }

    /// What a server said that does not let us in, with what the owner can do about it.
    fn told(&self, why: &str) -> String {
        if !why.contains("Authorization Violation") {
            return why.to_owned();
        }
        let with = match (&self.servers.nkey, &self.servers.login) {
            (Some(_), _) => "the key of bus.credentials",
            (None, Some((_, Some(_)))) => "the name and the password in bus.url",
            (None, Some((_, None))) => "the token in bus.url",
            (None, None) => {
                "a client without a login, and bus.url has none (nor is bus.credentials set)"
            }
        };
        format!("it does not take {with} ({})", why.trim_matches('\''))
    }

    fn hello(&self, info: &Value) -> Result<Value, String> {
        let mut hello = json!({
            "verbose": false, "pedantic": false, "lang": "rust",
            "version": env!("CARGO_PKG_VERSION"),
            "name": "weir", "protocol": 1, "headers": true, "no_responders": true, "echo": true,
        });
        match &self.servers.login {
            Some((user, Some(word))) => {
                hello["user"] = json!(user);
                hello["pass"] = json!(word);
            }
            Some((token, None)) => hello["auth_token"] = json!(token),
            None => {}
        }
        if let Some(nkey) = &self.servers.nkey {
            let nonce = info["nonce"].as_str().unwrap_or_default();
            let signed = nkey.sign(nonce)?;
            hello[signed.name.0] = json!(signed.name.1);
            hello["sig"] = json!(signed.signature);
        }
        Ok(hello)
    }

    fn take(&self, op: Op) {
        match op {
            Op::Message(message) => {
                let handler = self.state().handlers.get(&message.sid).cloned();
                if let Some(handler) = handler {
                    handler(message);
                }
            }
            Op::Ping => self.push(b"PONG\r\n"),
            Op::Info(_) | Op::Pong | Op::Ok | Op::Err(_) => {}
        }
    }

    fn push(&self, line: &[u8]) {
        self.state().out.extend_from_slice(line);
        self.due.notify_all();
    }

    /// Writes what is due, and asks now and then whether the peer is there.
    fn write(&self, round: u64) {
        let mut asked = Instant::now();
        loop {
            let mut state = self.state();
            if state.out.is_empty() {
                let waited = self.due.wait_timeout(state, PING_EVERY);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.round != round || state.link.is_none() {
                return;
            }
            if asked.elapsed() >= PING_EVERY {
                asked = Instant::now();
                state.out.extend_from_slice(b"PING\r\n");
            }
            let out = std::mem::take(&mut state.out);
            let link = state.link.clone();
            drop(state);
            let written = link.map(|link| link.send(&out));
            if !matches!(written, Some(Ok(()))) {
                let state = self.state();
                if let Some(link) = &state.link {
                    // The reader sees the end.
                    link.end();
                }
                return;
            }
        }
    }
}

fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, why)
}

/// What tells this run's inboxes and submissions from all others'.
fn nonce() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_nanos());
    format!("{:016x}{:08x}", weir_random::number(), now as u32)
}
