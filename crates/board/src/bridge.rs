//! The bridge: the board's line on one side, this machine's clients on the other.

use crate::Nanos;
use crate::client::Client;
use crate::host::Host;
use crate::limits::{CLIENTS_MAX, MTU};
use crate::line::{Counts, Line, Way};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Notify;
use weir_comet::slip::Reader;

/// How often a line is looked at that is busy.
const BUSY: Duration = Duration::from_millis(1);
/// How often one that is not.
const IDLE: Duration = Duration::from_millis(100);

/// A line, what stands behind it, and who is connected.
pub struct Bridge {
    began: Instant,
    serial: UnixStream,
    line: Line,
    host: Host,
    clients: Vec<Client>,
    news: Arc<Notify>,
    reader: Reader,
    packet: Vec<u8>,
    /// What has arrived at the board and its port has no room for.
    unwritten: Vec<u8>,
}

impl Bridge {
    /// A bridge to the board at the other end of `serial`.
    pub fn new(serial: std::os::unix::net::UnixStream, line: Line, host: Host) -> io::Result<Self> {
        serial.set_nonblocking(true)?;
        Ok(Self {
            began: Instant::now(),
            serial: UnixStream::from_std(serial)?,
            line,
            host,
            clients: Vec::new(),
            news: Arc::new(Notify::new()),
            reader: Reader::new(),
            packet: vec![0; MTU],
            unwritten: Vec::new(),
        })
    }

    /// What has passed.
    pub fn counts(&self) -> Counts {
        self.line.counts()
    }

    fn now(&self) -> Nanos {
        self.began.elapsed().as_nanos() as Nanos
    }

    /// Carries whatever comes, until the board is gone.
    pub async fn run(&mut self, listener: &TcpListener) -> io::Result<()> {
        loop {
            let now = self.now();
            let is_busy = self.work(now)?;
            let wait = self.wait(now, is_busy);
            let has_room = self.clients.len() < CLIENTS_MAX;
            let news = self.news.clone();
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = news.notified() => {}
                accepted = listener.accept(), if has_room => self.accept(accepted?.0),
                ready = self.serial.readable(), if !is_busy => self.begin(ready)?,
            }
        }
    }

    /// The board says something on an idle line: the line's time begins.
    fn begin(&mut self, ready: io::Result<()>) -> io::Result<()> {
        ready?;
        let now = self.now();
        self.line.came(now, &[], true);
        Ok(())
    }

    fn accept(&mut self, stream: TcpStream) {
        let socket = self.host.connect();
        self.clients.push(Client::new(stream, socket, &self.news));
    }

    /// Does what can be done now; whether the board may have more to say.
    fn work(&mut self, now: Nanos) -> io::Result<bool> {
        let is_busy = self.read(now)?;
        self.carry();
        self.host.poll(now, None, &mut self.line);
        while let Some(bytes) = self.line.arrived(now) {
            self.unwritten.extend(bytes);
        }
        self.write()?;
        Ok(is_busy)
    }

    fn carry(&mut self) {
        let host = &mut self.host;
        self.clients.retain_mut(|client| client.carry(host));
    }

    /// Reads what the line could have carried by now.
    fn read(&mut self, now: Nanos) -> io::Result<bool> {
        let mut buffer = [0; MTU];
        loop {
            let allowed = self.line.allowance(now).min(buffer.len());
            let Some(buffer) = buffer.get_mut(..allowed).filter(|bytes| !bytes.is_empty()) else {
                return Ok(true);
            };
            match self.serial.try_read(buffer) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the board is gone",
                    ));
                }
                Ok(length) => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    self.line.came(now, bytes, false);
                    self.take(now, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.line.came(now, &[], true);
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, now: Nanos, bytes: &[u8]) {
        for &byte in bytes {
            let Some(length) = self.reader.push(byte, &mut self.packet) else {
                continue;
            };
            let packet = self.packet.get(..length).unwrap_or_default().to_vec();
            self.line.count(Way::Out, &packet);
            self.host.poll(now, Some(packet), &mut self.line);
            self.carry();
        }
    }

    fn write(&mut self) -> io::Result<()> {
        while !self.unwritten.is_empty() {
            match self.serial.try_write(&self.unwritten) {
                Ok(length) => {
                    self.unwritten.drain(..length);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wait(&mut self, now: Nanos, is_busy: bool) -> Duration {
        let longest = match is_busy || !self.unwritten.is_empty() {
            true => BUSY,
            false => IDLE,
        };
        let due = [self.line.deadline(), self.host.deadline(now)];
        let due = due.into_iter().flatten().min();
        // The timer of the runtime has milliseconds.
        let until = due.map(|due| Duration::from_nanos(due.saturating_sub(now)).max(BUSY));
        until.map_or(longest, |until| until.min(longest))
    }
}
