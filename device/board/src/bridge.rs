//! The bridge: the board's line on one side; on the other this machine's clients, who want to reach the board,
//! and its servers, which the board wants to reach.

use crate::client::Client;
use crate::datagram::opening;
use crate::host::Host;
use crate::limits::CLIENTS_MAX;
use crate::line::{Counts, Line};
use crate::modem::Modem;
use crate::outward::{Outward, Wanted};
use crate::port::{Port, Side};
use crate::time::Nanos;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A line, what stands behind it, and who is connected.
pub struct Bridge<M> {
    port: Port,
    machine: M,
}

/// A side that tells a board what to do which is a client, and hears what it reports.
pub trait Orderer: Side {
    /// Tells it; lost where it is not up yet.
    fn order(&mut self, text: &str, line: &mut Line);
    /// Its next report.
    fn report(&mut self) -> Option<String>;
    /// Whether there is one.
    fn has_report(&self) -> bool;
    /// What is woken where something is to be carried.
    fn news(&self) -> &Arc<Notify>;
}

/// This machine, to which the board speaks TCP and UDP.
pub struct Machine {
    host: Host,
    clients: Vec<Client>,
    outward: Outward,
    news: Arc<Notify>,
}

impl Bridge<Machine> {
    /// A bridge to the board at the other end of `serial`; what the board takes for this side's address is
    /// `servers`.
    pub fn new(
        serial: std::os::unix::net::UnixStream,
        line: Line,
        host: Host,
        servers: Ipv4Addr,
    ) -> io::Result<Self> {
        let news = Arc::new(Notify::new());
        Ok(Self {
            port: Port::new(serial, line, host.mtu())?,
            machine: Machine {
                host,
                clients: Vec::new(),
                outward: Outward::new(servers, &news),
                news,
            },
        })
    }

    /// Carries whatever comes, until the board is gone.
    pub async fn run(&mut self, listener: &TcpListener) -> io::Result<()> {
        loop {
            let has_room = self.machine.clients.len() < CLIENTS_MAX;
            tokio::select! {
                accepted = listener.accept(), if has_room => self.machine.accept(accepted?.0),
                turned = turn(&mut self.port, &mut self.machine, None) => turned?,
            }
        }
    }
}

impl Bridge<Modem> {
    /// A modem at the other end of `serial`, for which all servers are at one address.
    pub fn behind_modem(
        serial: std::os::unix::net::UnixStream,
        line: Line,
        servers: Ipv4Addr,
    ) -> io::Result<Self> {
        Ok(Self {
            port: Port::of_bytes(serial, line)?,
            machine: Modem::new(servers),
        })
    }
}

impl<M: Orderer> Bridge<M> {
    /// What has passed, but orders and reports.
    pub fn counts(&self) -> Counts {
        self.port.counts()
    }

    /// Tells a board that is a client what to do; lost where it is not up yet.
    pub fn order(&mut self, text: &str) {
        self.machine.order(text, self.port.line());
    }

    /// Carries whatever comes until such a board reports something, or so long.
    pub async fn report(&mut self, patience: Duration) -> io::Result<Option<String>> {
        let until = self.port.now() + patience.as_nanos() as Nanos;
        loop {
            let report = self.machine.report();
            if report.is_some() || self.port.now() >= until {
                return Ok(report);
            }
            turn(&mut self.port, &mut self.machine, Some(until)).await?;
        }
    }
}

/// Does what is due, and waits for something to happen.
async fn turn(port: &mut Port, machine: &mut impl Orderer, until: Option<Nanos>) -> io::Result<()> {
    let now = port.now();
    let is_busy = port.work(now, machine)?;
    if machine.has_report() {
        return Ok(());
    }
    let due = [machine.deadline(now), until].into_iter().flatten().min();
    let wait = port.wait(now, is_busy, due);
    let news = machine.news().clone();
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        () = news.notified() => {}
        ready = port.ready(), if !is_busy => port.begin(ready)?,
    }
    Ok(())
}

impl Machine {
    fn accept(&mut self, stream: TcpStream) {
        let socket = self.host.connect();
        self.clients.push(Client::new(stream, socket, &self.news));
    }

    fn carry(&mut self) {
        let host = &mut self.host;
        self.clients.retain_mut(|client| client.carry(host));
    }

    /// A server has taken the board's connection, or has not: only then is the board answered.
    fn answer(&mut self, now: Nanos, wanted: Wanted, line: &mut Line) {
        if let Some(stream) = wanted.stream {
            let socket = self.host.listen(wanted.port);
            self.clients.push(Client::new(stream, socket, &self.news));
        }
        // Where nobody listens, this resets the connection.
        self.host.poll(now, Some(wanted.packet), line);
    }
}

impl Side for Machine {
    fn take(&mut self, now: Nanos, packet: Vec<u8>, line: &mut Line) {
        let is_known = opening(&packet).is_some_and(|ports| self.host.knows(ports));
        let packet = match is_known {
            // Asked for again, since the answer took long.
            true => Some(packet),
            false => self.outward.take(packet),
        };
        if let Some(packet) = packet {
            self.host.poll(now, Some(packet), line);
            self.carry();
        }
    }

    fn poll(&mut self, now: Nanos, line: &mut Line) {
        self.outward.carry(line);
        while let Some(wanted) = self.outward.wanted() {
            self.answer(now, wanted, line);
        }
        self.carry();
        self.host.poll(now, None, line);
    }

    fn deadline(&mut self, now: Nanos) -> Option<Nanos> {
        self.host.deadline(now)
    }

    fn counts(&self, packet: &[u8]) -> bool {
        !Outward::is_report(packet)
    }
}

impl Orderer for Machine {
    fn order(&mut self, text: &str, line: &mut Line) {
        self.outward.order(text, line);
    }

    fn report(&mut self) -> Option<String> {
        self.outward.report()
    }

    fn has_report(&self) -> bool {
        self.outward.has_report()
    }

    fn news(&self) -> &Arc<Notify> {
        &self.news
    }
}
