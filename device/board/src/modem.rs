//! A modem at the end of the board's line, as paper 003 has one: told what to do by AT commands, it makes connections
//! and datagrams to servers, and the board needs neither TCP nor IP.
//!
//! Commands and answers are those of Espressif's AT firmware, as many as a client of one server needs: `AT`, `ATE0`,
//! `ATE1`, `AT+CIPMUX=1`, `AT+CIPSTART`, `AT+CIPSEND`, `AT+CIPCLOSE`. The address that the board gives is an address
//! of servers, port by port, whatever it says. What a modem itself spends is not added: the paper does not tell it.
//! Its TCP is this machine's.

mod command;
mod link;

use crate::bridge::Orderer;
use crate::limits::SEGMENT_BYTES;
use crate::line::{Line, Way};
use crate::outward::ORDERER_PORT;
use crate::port::Side;
use crate::time::Nanos;
use command::{Command, Kind, Reader, Said};
use link::Link;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Links that the firmware has.
const LINKS: usize = 5;

/// What one of them is.
enum Held {
    Free,
    /// It leads to who gives orders, which is this program.
    Orders,
    Link(Link),
}

/// The modem, its links, and what it was told and has not answered.
pub struct Modem {
    servers: Ipv4Addr,
    news: Arc<Notify>,
    reader: Reader,
    has_echo: bool,
    links: [Held; LINKS],
    /// The link that is being opened.
    opening: Option<usize>,
    opened: (Sender<Option<Link>>, Receiver<Option<Link>>),
    /// The link that has no room yet for what it is to send.
    stalled: Option<(usize, Vec<u8>)>,
    reports: VecDeque<String>,
}

impl Modem {
    /// A modem without links.
    pub(crate) fn new(servers: Ipv4Addr) -> Self {
        Self {
            servers,
            news: Arc::new(Notify::new()),
            reader: Reader::default(),
            has_echo: true,
            links: [const { Held::Free }; LINKS],
            opening: None,
            opened: channel(1),
            stalled: None,
            reports: VecDeque::new(),
        }
    }

    fn is_orders(&self, link: usize) -> bool {
        matches!(self.links.get(link), Some(Held::Orders))
    }

    /// Says something that counts unless it is about orders.
    fn say(&self, link: Option<usize>, text: &[u8], line: &mut Line) {
        if !link.is_some_and(|link| self.is_orders(link)) {
            line.count_bytes(Way::In, text.len() as u64);
        }
        line.enqueue_bytes(text);
    }

    fn answer(&self, text: &str, line: &mut Line) {
        self.say(None, format!("{text}\r\n").as_bytes(), line);
    }

    fn obey(&mut self, text: &str, line: &mut Line) {
        if self.has_echo {
            self.answer(&format!("{text}\r"), line);
        }
        let command = Command::read(text);
        let link = command.as_ref().and_then(Command::link);
        if !link.is_some_and(|link| self.is_orders(link)) {
            line.count_bytes(Way::Out, text.len() as u64 + 2);
        }
        if self.opening.is_some() || self.stalled.is_some() {
            return self.answer("busy p...", line);
        }
        match command {
            Some(Command::Nothing) => self.answer("\r\nOK", line),
            Some(Command::Echo(is_on)) => {
                self.has_echo = is_on;
                self.answer("\r\nOK", line);
            }
            Some(Command::Start(link, kind, port)) => self.start(link, kind, port, line),
            Some(Command::Send(link, bytes)) => self.prompt(link, bytes, line),
            Some(Command::Close(link)) => self.close(link, line),
            None => self.answer("\r\nERROR", line),
        }
    }

    fn start(&mut self, link: usize, kind: Kind, port: u16, line: &mut Line) {
        match self.links.get_mut(link) {
            Some(held @ Held::Free) if port == ORDERER_PORT => {
                *held = Held::Orders;
                self.answer(&format!("{link},CONNECT\r\n\r\nOK"), line);
            }
            Some(Held::Free) => {
                self.opening = Some(link);
                let server = SocketAddr::from((self.servers, port));
                let (opened, news) = (self.opened.0.clone(), self.news.clone());
                tokio::spawn(async move {
                    let link = Link::open(kind, server, &news).await;
                    // Where nobody waits any more, it is closed again.
                    let _told = opened.send(link.ok()).await;
                    news.notify_one();
                });
            }
            Some(_) => self.answer("ALREADY CONNECTED\r\n\r\nERROR", line),
            None => self.answer("\r\nERROR", line),
        }
    }

    fn prompt(&mut self, link: usize, bytes: usize, line: &mut Line) {
        match self.links.get(link) {
            Some(Held::Orders | Held::Link(_)) => {
                self.reader.expect(link, bytes);
                self.say(Some(link), b"\r\nOK\r\n\r\n>", line);
            }
            Some(Held::Free) | None => self.answer("link is not valid\r\n\r\nERROR", line),
        }
    }

    fn close(&mut self, link: usize, line: &mut Line) {
        match self.links.get_mut(link) {
            Some(held @ Held::Link(_)) => {
                *held = Held::Free;
                self.answer(&format!("{link},CLOSED\r\n\r\nOK"), line);
            }
            _ => self.answer("link is not valid\r\n\r\nERROR", line),
        }
    }

    /// Takes what the board sends by a link.
    fn send(&mut self, link: usize, data: Vec<u8>, line: &mut Line) {
        let received = format!("\r\nRecv {} bytes\r\n", data.len());
        self.say(Some(link), received.as_bytes(), line);
        if self.is_orders(link) {
            let text = String::from_utf8_lossy(&data);
            self.reports.extend(text.lines().map(str::to_owned));
            return self.say(Some(link), b"\r\nSEND OK\r\n", line);
        }
        line.count_bytes(Way::Out, data.len() as u64);
        self.hand_over(link, data, line);
    }

    fn hand_over(&mut self, link: usize, data: Vec<u8>, line: &mut Line) {
        let given = match self.links.get_mut(link) {
            Some(Held::Link(it)) => it.give(data),
            _ => return self.answer("\r\nSEND FAIL", line),
        };
        match given {
            Ok(()) => self.say(Some(link), b"\r\nSEND OK\r\n", line),
            Err(data) => self.stalled = Some((link, data)),
        }
    }

    /// Answers what could not be answered at once.
    fn go_on(&mut self, line: &mut Line) {
        if let Ok(opened) = self.opened.1.try_recv()
            && let Some(link) = self.opening.take()
        {
            match (opened, self.links.get_mut(link)) {
                (Some(it), Some(held)) => {
                    *held = Held::Link(it);
                    self.answer(&format!("{link},CONNECT\r\n\r\nOK"), line);
                }
                _ => self.answer("\r\nERROR", line),
            }
        }
        if let Some((link, data)) = self.stalled.take() {
            self.hand_over(link, data, line);
        }
    }

    /// Tells the board what has come by a link, and whether it is over.
    fn carry(&mut self, link: usize, line: &mut Line) {
        while line.has_room() {
            let Some(Held::Link(it)) = self.links.get_mut(link) else {
                return;
            };
            match it.take() {
                Some(data) => data
                    .chunks(SEGMENT_BYTES)
                    .for_each(|piece| self.notice(link, piece, line)),
                None if it.is_over() => {
                    self.links[link] = Held::Free;
                    self.answer(&format!("{link},CLOSED"), line);
                }
                None => return,
            }
        }
    }

    fn notice(&self, link: usize, data: &[u8], line: &mut Line) {
        let mut text = format!("\r\n+IPD,{link},{}:", data.len()).into_bytes();
        text.extend(data);
        self.say(Some(link), &text, line);
    }
}

impl Side for Modem {
    fn take(&mut self, _now: Nanos, bytes: Vec<u8>, line: &mut Line) {
        for byte in bytes {
            match self.reader.push(byte) {
                Some(Said::Command(text)) => self.obey(&text, line),
                Some(Said::Data(link, data)) => self.send(link, data, line),
                None => {}
            }
        }
    }

    fn poll(&mut self, _now: Nanos, line: &mut Line) {
        self.go_on(line);
        for link in 0..LINKS {
            self.carry(link, line);
        }
    }

    fn deadline(&mut self, _now: Nanos) -> Option<Nanos> {
        None
    }
}

impl Orderer for Modem {
    fn order(&mut self, text: &str, line: &mut Line) {
        match self.links.iter().position(|it| matches!(it, Held::Orders)) {
            Some(link) => self.notice(link, text.as_bytes(), line),
            // The board waits for this, if it is up.
            None => line.enqueue_bytes(b"\r\nready\r\n"),
        }
    }

    fn report(&mut self) -> Option<String> {
        self.reports.pop_front()
    }

    fn has_report(&self) -> bool {
        !self.reports.is_empty()
    }

    fn news(&self) -> &Arc<Notify> {
        &self.news
    }
}
