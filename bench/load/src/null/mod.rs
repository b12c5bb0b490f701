//! The null server: what the machine itself can do, with no server in between.
//!
//! One thread and one epoll that answer each POST at once and copy its body to every subscriber,
//! framed, without looking into it. Two ways: a write per message and subscriber, and coalescing
//! (one write sends all that is due). It speaks just enough of the gateway's own protocol that the very
//! same load runs against it; it keeps nothing on disk, checks nothing, and is no gateway.

mod conversation;
mod lines;
mod log;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::load::reactor::{Reactor, Readiness, Socket, Taken};
pub use conversation::LINES;
use conversation::{Request, Role, Scheme, cut_request};
use lines::Lines;
use log::Log;
use weir_bench_model::limits::{NULL_REQUEST_BYTES_MAX, READ_BYTES_MAX};

/// The hidden subcommand that turns a process into a null server.
pub const SUBCOMMAND: &str = "__null";
/// Its argument for one write a turn.
pub const COALESCE: &str = "--coalesce";

const LISTENER: u64 = u64::MAX;

/// Serves until killed; prints `{"ready":true,"http":"address"}` once it listens.
pub fn main(args: &[String]) -> i32 {
    weir_bench_model::process::die_with_parent();
    crate::load::raise_open_files();
    let coalesce = args.iter().any(|arg| arg == COALESCE);
    let host = args.iter().find_map(|arg| arg.parse().ok());
    match Null::listen(host.unwrap_or(Ipv4Addr::LOCALHOST), coalesce) {
        Ok((null, address)) => {
            crate::load::tell(&format!("{{\"ready\":true,\"http\":\"{address}\"}}"));
            null.serve()
        }
        Err(error) => {
            eprintln!("the null server: {error}");
            1
        }
    }
}

/// The server.
pub struct Null {
    reactor: Reactor,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    logs: [Log; 3],
    /// Connections that follow a log, by index.
    followers: BTreeSet<usize>,
    coalesce: bool,
    buffer: Vec<u8>,
}

struct Connection {
    socket: Socket,
    request: Vec<u8>,
    role: Role,
}

impl Null {
    /// A null server on a free port of an address of this machine, and where it listens.
    pub fn listen(host: Ipv4Addr, coalesce: bool) -> Result<(Self, SocketAddr), String> {
        let listener = TcpListener::bind((host, 0)).map_err(|e| format!("bind: {e}"))?;
        listener.set_nonblocking(true).map_err(|e| e.to_string())?;
        let reactor = Reactor::new()?;
        reactor.watch(&listener, LISTENER)?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        let null = Self {
            reactor,
            listener,
            connections: Vec::new(),
            free: Vec::new(),
            logs: Scheme::ALL.map(|_| Log::default()),
            followers: BTreeSet::new(),
            coalesce,
            buffer: vec![0; READ_BYTES_MAX],
        };
        Ok((null, address))
    }

    /// Serves for ever.
    pub fn serve(mut self) -> i32 {
        let mut ready: Vec<Readiness> = Vec::new();
        loop {
            self.reactor.wait(None, &mut ready);
            for readiness in &ready {
                if readiness.token == LISTENER {
                    self.accept();
                } else {
                    self.serve_connection(readiness.token as usize, *readiness);
                }
            }
            if self.coalesce {
                self.deliver_all();
            }
            self.trim();
        }
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let index = self.free.pop().unwrap_or(self.connections.len());
            let _ = stream.set_nodelay(true);
            let Ok(socket) = self.reactor.add(stream, index as u64) else {
                continue;
            };
            let connection = Connection {
                socket,
                request: Vec::new(),
                role: Role::Asking,
            };
            if index == self.connections.len() {
                self.connections.push(Some(connection));
            } else {
                self.connections[index] = Some(connection);
            }
        }
    }

    fn serve_connection(&mut self, index: usize, readiness: Readiness) {
        if readiness.readable && !self.read(index) {
            self.close(index);
            return;
        }
        if readiness.writable {
            if let Some(Some(connection)) = self.connections.get_mut(index) {
                connection.socket.flush(&self.reactor);
            }
            self.deliver(index);
        }
    }

    fn close(&mut self, index: usize) {
        self.connections[index] = None;
        self.followers.remove(&index);
        self.free.push(index);
    }

    /// Reads once and acts on every whole request; false once the connection is to be closed.
    fn read(&mut self, index: usize) -> bool {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return true;
        };
        let len = match connection.socket.take(&mut self.buffer) {
            Taken::Bytes(len) => len,
            Taken::Nothing => return true,
            Taken::Closed => return false,
        };
        if connection.role.is_stream() {
            return true;
        }
        let mut request = std::mem::take(&mut connection.request);
        request.extend_from_slice(&self.buffer[..len]);
        let mut at = 0;
        while let Some((parsed, taken)) = cut_request(&request[at..]) {
            at += taken;
            self.act(index, &parsed);
        }
        request.drain(..at);
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return true;
        };
        connection.request = request;
        connection.socket.flush(&self.reactor);
        let is_sound = connection.request.len() <= NULL_REQUEST_BYTES_MAX;
        if matches!(connection.role, Role::Sending(_)) {
            self.deliver(index);
        }
        is_sound
    }

    fn act(&mut self, index: usize, request: &Request<'_>) {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return;
        };
        match request {
            Request::Publish { body, kept } => {
                connection
                    .socket
                    .out()
                    .extend_from_slice(b"HTTP/1.1 204 No Content\r\n\r\n");
                self.publish(body, *kept);
            }
            Request::Subscribe {
                scheme,
                since,
                once,
            } => {
                let log = &mut self.logs[*scheme as usize];
                let position = since.unwrap_or(log.end()).max(log.start());
                log.is_followed = true;
                connection.role = Role::following(*scheme, position, *once);
                if !once {
                    connection.socket.out().extend_from_slice(scheme.head());
                }
                self.followers.insert(index);
                self.deliver(index);
            }
            Request::Lines { count, width } => {
                let lines = Lines::new(*count, *width);
                connection
                    .socket
                    .out()
                    .extend_from_slice(lines.head().as_bytes());
                connection.role = Role::Sending(lines);
            }
            Request::Unknown => {
                let refusal = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
                connection.socket.out().extend_from_slice(refusal);
            }
        }
    }

    fn publish(&mut self, body: &[u8], kept: bool) {
        for scheme in Scheme::ALL {
            let log = &mut self.logs[scheme as usize];
            if log.is_followed || (kept && scheme == Scheme::Lines) {
                log.append(|bytes| scheme.frame(body, bytes));
            }
        }
        if !self.coalesce {
            self.deliver_all();
        }
    }

    fn deliver_all(&mut self) {
        let followers = std::mem::take(&mut self.followers);
        for &index in &followers {
            self.deliver(index);
        }
        self.followers = followers;
    }

    fn deliver(&mut self, index: usize) {
        let Some(Some(connection)) = self.connections.get_mut(index) else {
            return;
        };
        let Connection { socket, role, .. } = connection;
        if socket.unsent() > 0 {
            socket.flush(&self.reactor);
        }
        if socket.unsent() == 0 {
            role.deliver(socket, &self.reactor, &self.logs, self.coalesce);
        }
    }

    fn trim(&mut self) {
        for scheme in Scheme::ALL {
            let log = &mut self.logs[scheme as usize];
            if log.is_long() {
                let connections = self.connections.iter().flatten();
                let slowest = connections.filter_map(|c| c.role.position_in(scheme)).min();
                log.trim(slowest.unwrap_or(u64::MAX));
            }
        }
    }
}
