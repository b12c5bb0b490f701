//! The way to a server through a modem, as paper 003's board has it: TCP, UDP and IP run on the modem, which is told
//! what to do by AT commands over the serial line.
//!
//! The commands are those of Espressif's AT firmware. Link 0 is for orders and reports, link 1 goes to the server. A
//! command is given once the one before is answered, as that firmware asks; what comes from the network lies between
//! answers. Bytes that there is no room for stay in the serial port, which holds the modem back.

mod reader;

use super::Micros;
use super::buffer::Buffer;
use super::network::Network;
use super::order::Order;
use core::net::SocketAddrV4;
use reader::{Answer, Heard, Reader};

/// Who gives orders and hears reports: `10.9.0.1`, from this port to that.
const ORDERS: &[u8] = b"AT+CIPSTART=0,\"UDP\",\"10.9.0.1\",4002,4003,0";
const ECHO_OFF: &[u8] = b"ATE0";
const SEVERAL_LINKS: &[u8] = b"AT+CIPMUX=1";
const SETUP: [&[u8]; 3] = [ECHO_OFF, SEVERAL_LINKS, ORDERS];

/// Links of the modem.
const TO_ORDERER: usize = 0;
const TO_SERVER: usize = 1;

/// What lies in memory for good.
pub struct Memory {
    /// What goes to the modem, command or data.
    line: Buffer,
    reports: Buffer,
    said: Buffer,
    orders: Buffer,
    heard: Buffer,
}

impl Memory {
    /// Empty memory.
    pub const fn new() -> Self {
        Self {
            line: Buffer::new(),
            reports: Buffer::new(),
            said: Buffer::new(),
            orders: Buffer::new(),
            heard: Buffer::new(),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// What the modem has been told and not done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Nothing,
    /// To begin, by this command.
    Setup(usize),
    Opening,
    Closing,
    /// To take so many bytes for a link.
    Prompt(usize, usize),
    /// To have sent them.
    Sending,
}

/// The link to the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Closed,
    Open,
    /// The other side has closed it, or never opened it.
    Lost,
}

/// A modem at the other end of the line.
pub struct Modem<'a> {
    memory: &'a mut Memory,
    reader: Reader,
    /// Bytes of the line's buffer that are sent.
    sent: usize,
    /// Commands that it began with.
    begun: usize,
    waits: Waits,
    link: Link,
    /// Whether the link is to be closed, and where it is to lead then; whether it is for a stream.
    leaves: bool,
    wanted: Option<(SocketAddrV4, bool)>,
    is_stream: bool,
    /// Whether what is heard is a datagram, or an order, to its end.
    is_whole: [bool; 2],
}

impl<'a> Modem<'a> {
    /// A modem that has not said yet that it is ready.
    pub fn new(memory: &'a mut Memory) -> Self {
        Self {
            memory,
            reader: Reader::new(),
            sent: 0,
            begun: SETUP.len(),
            waits: Waits::Nothing,
            link: Link::Closed,
            leaves: false,
            wanted: None,
            is_stream: false,
            is_whole: [false; 2],
        }
    }

    fn answered(&mut self, answer: Answer) {
        let before = core::mem::replace(&mut self.waits, Waits::Nothing);
        match (answer, before) {
            // It is told again until it was heard.
            (Answer::Ready, Waits::Setup(0)) => self.waits = before,
            (Answer::Ready, _) => {
                self.begun = 0;
                self.link = Link::Closed;
            }
            (Answer::Ok, Waits::Setup(step)) => self.begun = step + 1,
            (Answer::Ok, Waits::Opening) => self.link = Link::Open,
            (Answer::Error, Waits::Opening) => self.link = Link::Lost,
            (Answer::Ok | Answer::Error, Waits::Closing) => {
                self.link = Link::Closed;
                self.leaves = false;
            }
            (Answer::Prompt, Waits::Prompt(link, bytes)) => self.hand_over(link, bytes),
            // Where the link is gone, so is what was to be sent.
            (Answer::Error, Waits::Prompt(link, bytes)) => self.waiting(link).drop_front(bytes),
            (Answer::Sent | Answer::Error, Waits::Sending) => {}
            (Answer::Closed(TO_SERVER), _) => {
                self.waits = before;
                self.link = Link::Lost;
            }
            _ => self.waits = before,
        }
    }

    /// What waits to be sent by a link.
    fn waiting(&mut self, link: usize) -> &mut Buffer {
        match link {
            TO_ORDERER => &mut self.memory.reports,
            _ => &mut self.memory.said,
        }
    }

    fn hand_over(&mut self, link: usize, bytes: usize) {
        let Memory {
            line,
            reports,
            said,
            ..
        } = &mut *self.memory;
        let waiting = if link == TO_ORDERER { reports } else { said };
        line.push(waiting.bytes().get(..bytes).unwrap_or_default());
        waiting.drop_front(bytes);
        self.waits = Waits::Sending;
    }

    /// Gives the next command that there is cause for.
    fn command(&mut self) {
        if self.waits != Waits::Nothing || self.is_sending() {
            return;
        }
        if let Some(command) = SETUP.get(self.begun) {
            self.memory.line.push(command);
            self.waits = Waits::Setup(self.begun);
        } else if self.leaves {
            self.memory.line.push(b"AT+CIPCLOSE=1");
            self.waits = Waits::Closing;
        } else if let Some((server, is_stream)) = self.wanted.take() {
            self.open(server, is_stream);
        } else if !self.memory.reports.bytes().is_empty() {
            self.announce(TO_ORDERER);
        } else if self.link == Link::Open && !self.memory.said.bytes().is_empty() {
            self.announce(TO_SERVER);
        } else {
            return;
        }
        self.memory.line.push(b"\r\n");
    }

    fn open(&mut self, server: SocketAddrV4, is_stream: bool) {
        let line = &mut self.memory.line;
        line.push(if is_stream {
            b"AT+CIPSTART=1,\"TCP\",\""
        } else {
            b"AT+CIPSTART=1,\"UDP\",\""
        });
        for (place, octet) in server.ip().octets().into_iter().enumerate() {
            line.push(if place > 0 { b"." } else { b"" });
            line.push_number(octet.into());
        }
        line.push(b"\",");
        line.push_number(server.port().into());
        self.is_stream = is_stream;
        self.waits = Waits::Opening;
    }

    fn announce(&mut self, link: usize) {
        let bytes = self.waiting(link).len();
        let line = &mut self.memory.line;
        line.push(b"AT+CIPSEND=");
        line.push_number(link);
        line.push(b",");
        line.push_number(bytes);
        self.waits = Waits::Prompt(link, bytes);
    }

    /// Whether what comes by a link is for somebody.
    fn is_heard(&self, link: usize) -> bool {
        link == TO_ORDERER || self.link == Link::Open && !self.leaves
    }

    fn heard(&mut self, link: usize) -> &mut Buffer {
        match link {
            TO_ORDERER => &mut self.memory.orders,
            _ => &mut self.memory.heard,
        }
    }
}

impl Network for Modem<'_> {
    fn takes(&self) -> bool {
        match self.reader.link() {
            Some(TO_SERVER) if !self.is_heard(TO_SERVER) => true,
            Some(TO_SERVER) if self.is_stream => self.memory.heard.has_space(),
            Some(link) => !self.is_whole.get(link).is_some_and(|&it| it),
            None => true,
        }
    }

    fn receive(&mut self, byte: u8) {
        match self.reader.push(byte) {
            Some(Heard::Answer(answer)) => self.answered(answer),
            Some(Heard::Byte { link, is_last }) if self.is_heard(link) => {
                self.heard(link).push(&[byte]);
                if let Some(whole) = self.is_whole.get_mut(link) {
                    *whole = is_last;
                }
            }
            Some(Heard::Byte { .. }) | None => {}
        }
    }

    fn is_sending(&self) -> bool {
        !self.memory.line.bytes().is_empty()
    }

    fn transmit(&mut self) -> Option<u8> {
        let byte = self.memory.line.bytes().get(self.sent).copied();
        self.sent += 1;
        if byte.is_none() {
            self.sent = 0;
            self.memory.line.clear();
        }
        byte
    }

    fn poll(&mut self, _now: Micros) {
        self.command();
    }

    fn order(&mut self) -> Option<Option<Order>> {
        let [is_whole, _] = &mut self.is_whole;
        if !core::mem::take(is_whole) {
            return None;
        }
        let order = Order::read(self.memory.orders.bytes());
        self.memory.orders.clear();
        Some(order)
    }

    fn report(&mut self, report: &[u8]) {
        self.memory.reports.push(report);
        // Several in one datagram are lines.
        self.memory.reports.push(b"\n");
    }

    fn connect(&mut self, server: SocketAddrV4, is_stream: bool) {
        self.wanted = Some((server, is_stream));
    }

    fn is_connected(&mut self, _is_stream: bool) -> bool {
        self.link == Link::Open && !self.leaves && self.wanted.is_none()
    }

    fn is_over(&mut self, is_stream: bool) -> bool {
        let is_lost = self.link == Link::Lost && self.wanted.is_none();
        is_stream && is_lost && self.memory.heard.bytes().is_empty()
    }

    fn close(&mut self) {
        self.wanted = None;
        self.leaves = self.link == Link::Open || self.waits == Waits::Opening;
        self.link = if self.leaves { self.link } else { Link::Closed };
        self.memory.heard.clear();
        self.is_whole[TO_SERVER] = false;
        // What was announced must be handed over.
        let announced = match self.waits {
            Waits::Prompt(TO_SERVER, bytes) => bytes,
            _ => 0,
        };
        self.memory.said.cut(announced);
    }

    fn send(&mut self, out: &mut Buffer, is_stream: bool) {
        let is_idle = self.memory.said.bytes().is_empty();
        if is_idle && !out.bytes().is_empty() {
            self.memory.said.push(out.bytes());
            out.clear();
        } else if !is_stream {
            // One for which there is no room is lost, as datagrams are.
            out.clear();
        }
    }

    fn hear_stream(&mut self, heard: &mut Buffer) -> bool {
        let bytes = heard.space().len().min(self.memory.heard.len());
        heard.push(self.memory.heard.bytes().get(..bytes).unwrap_or_default());
        self.memory.heard.drop_front(bytes);
        bytes > 0
    }

    fn hear_datagram(&mut self, heard: &mut Buffer) -> bool {
        heard.clear();
        let whole = core::mem::take(&mut self.is_whole[TO_SERVER]);
        if whole {
            heard.push(self.memory.heard.bytes());
            self.memory.heard.clear();
        }
        whole
    }
}

#[cfg(test)]
mod tests;
