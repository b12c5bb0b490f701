//! One observer by CoAP (RFC 7641) on a socket of its own: finds the stamps in its notifications, and acknowledges
//! those that ask for it.
//!
//! Opening and leaving are blocking, in waves, and asked again where no answer comes: a datagram may be lost.
//! What it deliberately does not do: ask for the rest of a notification that is longer than one block.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use weir_coap::wire::{
    Code, Datagram, Kind, Message, Number, Token, parse_datagram, write_datagram, write_empty,
};

use super::connect::at;
use super::reactor::Reactor;
use super::stamp::Scanner;
use crate::datagrams::{challenge, datagrams_to, refusal};
use weir_bench_model::limits::CONNECT_WAVE;

/// Content-Format of JSON (RFC 7252 section 12.3).
pub(super) const JSON: u32 = 50;
/// How long an answer is waited for before it is asked again.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often a question is asked; over the slowest links an answer takes longer than one is waited for.
const TRIES: usize = 12;
/// The largest datagram.
const DATAGRAM_BYTES_MAX: usize = 65_535;

/// What Observe says in a request (RFC 7641 section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Register = 0,
    Deregister = 1,
}

/// One observer of a resource.
pub(super) struct Observer {
    socket: UdpSocket,
    path: String,
    token: Token,
    last_id: u16,
    /// The notification that was acknowledged last: the server sends it again where the word was lost.
    acknowledged: Option<u16>,
}

/// A request for a resource, without a token.
pub(super) fn request(code: Code, path: &str) -> Message {
    let mut message = Message::new(code);
    for segment in path.split('/') {
        message.options.push(Number::URI_PATH, segment.as_bytes());
    }
    message
}

/// Has so many observers register, and hands each on, watched under a number from `first` on.
pub(super) fn open_all(
    server: SocketAddr,
    path: &str,
    count: usize,
    (reactor, first): (&Reactor, usize),
) -> Result<Vec<Observer>, String> {
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let begin = all.len();
        for number in begin..count.min(begin + CONNECT_WAVE) {
            let observer = Observer::connect(server, path, number);
            all.push(observer.map_err(|e| at(number, &e.to_string()))?);
        }
        ask_all(&mut all[begin..], Wish::Register)?;
    }
    for (index, observer) in all.iter().enumerate() {
        let watched = observer.socket.set_nonblocking(true);
        watched.map_err(|e| format!("set_nonblocking: {e}"))?;
        reactor.watch(&observer.socket, (first + index) as u64)?;
    }
    Ok(all)
}

/// Has all leave, so that nothing is sent to those who are gone.
pub(super) fn leave_all(mut observers: Vec<Observer>) -> Result<(), String> {
    for wave in observers.chunks_mut(CONNECT_WAVE) {
        for observer in wave.iter() {
            let blocking = observer.socket.set_nonblocking(false);
            blocking.map_err(|e| format!("set_nonblocking: {e}"))?;
        }
        ask_all(wave, Wish::Deregister)?;
    }
    Ok(())
}

/// Asks until each has its answer.
fn ask_all(observers: &mut [Observer], wish: Wish) -> Result<(), String> {
    let mut waiting: Vec<&mut Observer> = observers.iter_mut().collect();
    for _ in 0..TRIES {
        for observer in &mut waiting {
            observer.ask(wish, None)?;
        }
        let mut unanswered = Vec::new();
        for observer in waiting {
            if !observer.hears(wish)? {
                unanswered.push(observer);
            }
        }
        if unanswered.is_empty() {
            return Ok(());
        }
        waiting = unanswered;
    }
    Err(format!("{} observers got no answer", waiting.len()))
}

/// Whether an answer was a success; an error is what the server says instead.
pub(super) fn check(response: &Message) -> Result<(), String> {
    refusal(response).map_or(Ok(()), |said| Err(format!("answered {said}")))
}

impl Observer {
    fn connect(server: SocketAddr, path: &str, number: usize) -> io::Result<Self> {
        Ok(Self {
            socket: datagrams_to(server, PATIENCE)?,
            path: path.into(),
            token: Token::new(&(number as u32).to_be_bytes()).unwrap_or_default(),
            last_id: 0,
            acknowledged: None,
        })
    }

    fn ask(&mut self, wish: Wish, echo: Option<&[u8]>) -> Result<(), String> {
        let mut message = request(Code::GET, &self.path);
        message.token = self.token;
        message.options.push_uint(Number::OBSERVE, wish as u32);
        message.options.push_uint(Number::ACCEPT, JSON);
        if let Some(echo) = echo {
            message.options.push(Number::ECHO, echo);
        }
        self.last_id = self.last_id.wrapping_add(1);
        let mut bytes = Vec::new();
        write_datagram(Kind::NonConfirmable, self.last_id, &message, &mut bytes);
        self.send(&bytes)
    }

    /// Waits for an answer; whether it came.
    fn hears(&mut self, wish: Wish) -> Result<bool, String> {
        let mut buffer = [0; 2048];
        loop {
            let Some(length) = self.receive(&mut buffer)? else {
                return Ok(false);
            };
            let Some(datagram) = self.taken(&buffer[..length])? else {
                continue;
            };
            let message = datagram.to_message();
            if let Some(echo) = challenge(&message) {
                self.ask(wish, Some(&echo))?;
                continue;
            }
            let is_notification = message.options.uint(Number::OBSERVE).is_some();
            match (wish, is_notification) {
                // One that was on its way when it was to end.
                (Wish::Deregister, true) => {}
                (Wish::Deregister, false) => return Ok(true),
                (Wish::Register, true) => return check(&message).map(|()| true),
                (Wish::Register, false) => {
                    check(&message)?;
                    return Err("the resource is not observed: the server has enough".into());
                }
            }
        }
    }

    /// Reads one notification, calls `told` with every stamp; the bytes read.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        scanner: &Scanner,
        mut told: impl FnMut(u64, bool),
    ) -> Result<usize, String> {
        let room = buffer.len().min(DATAGRAM_BYTES_MAX);
        let Some(length) = self.receive(&mut buffer[..room])? else {
            return Ok(0);
        };
        if let Some(datagram) = self.taken(&buffer[..length])? {
            if !datagram.code.is_success() {
                check(&datagram.to_message())?;
            }
            scanner.scan(datagram.payload, |stamp| told(stamp, false));
        }
        Ok(length)
    }

    /// What is for this observer and new; acknowledged where it asks for it.
    fn taken<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<Datagram<'a>>, String> {
        let Ok(datagram) = parse_datagram(bytes) else {
            return Ok(None);
        };
        if datagram.token != self.token || !datagram.code.is_response() {
            return Ok(None);
        }
        if datagram.kind != Kind::Confirmable {
            return Ok(Some(datagram));
        }
        let mut word = Vec::new();
        write_empty(Kind::Acknowledgement, datagram.id, &mut word);
        self.send(&word)?;
        let is_again = self.acknowledged.replace(datagram.id) == Some(datagram.id);
        Ok((!is_again).then_some(datagram))
    }

    /// A datagram that is there or comes in time.
    fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, String> {
        match self.socket.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(e) if is_nothing(&e) => Ok(None),
            Err(e) => Err(format!("receiving: {e}")),
        }
    }

    fn send(&self, bytes: &[u8]) -> Result<(), String> {
        match self.socket.send(bytes) {
            Ok(_) => Ok(()),
            // As if the way had lost it: what must arrive is sent again.
            Err(e) if is_nothing(&e) => Ok(()),
            Err(e) => Err(format!("sending: {e}")),
        }
    }
}

fn is_nothing(error: &io::Error) -> bool {
    let nothing = [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
    ];
    nothing.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::net::Ipv4Addr;
    use weir_bench_model::own::STAMP_BASE;

    /// An observer, and the socket that its server would have.
    fn pair() -> (Observer, UdpSocket) {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        server
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let observer = Observer::connect(server.local_addr().unwrap(), "live/bench/x", 7).unwrap();
        let port = observer.socket.local_addr().unwrap().port();
        server.connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        (observer, server)
    }

    fn notification(kind: Kind, id: u16, token: u32, stamp: u64) -> Vec<u8> {
        let mut message = Message::new(Code::CONTENT);
        message.token = Token::new(&token.to_be_bytes()).unwrap();
        message.options.push_uint(Number::OBSERVE, u32::from(id));
        let body = format!("{{\"value\":{}}}", STAMP_BASE + stamp);
        let mut bytes = Vec::new();
        write_datagram(
            kind,
            id,
            &message.with_payload(body.into_bytes()),
            &mut bytes,
        );
        bytes
    }

    fn heard(observer: &mut Observer) -> Vec<u64> {
        let mut stamps = Vec::new();
        let mut buffer = vec![0; 4096];
        let told = |stamp, _| stamps.push(stamp - STAMP_BASE);
        observer.read(&mut buffer, &Scanner::new(), told).unwrap();
        stamps
    }

    #[test]
    fn a_notification_that_asks_for_it_is_acknowledged_and_heard_once() {
        let (mut observer, server) = pair();
        for expected in [vec![1], Vec::new()] {
            server
                .send(&notification(Kind::Confirmable, 9, 7, 1))
                .unwrap();
            assert_eq!(heard(&mut observer), expected);
            let mut word = [0; 16];
            let length = server.recv(&mut word).unwrap();
            // RFC 7252 section 3: version 1, acknowledgement, no token, code 0.00, the message ID.
            assert_eq!(word[..length], [0x60, 0, 0, 9]);
        }
        server
            .send(&notification(Kind::NonConfirmable, 10, 7, 2))
            .unwrap();
        assert_eq!(heard(&mut observer), [2]);
    }

    #[test]
    fn what_is_for_another_is_not_heard_and_an_error_ends_the_observation() {
        let (mut observer, server) = pair();
        server
            .send(&notification(Kind::NonConfirmable, 9, 8, 1))
            .unwrap();
        assert!(heard(&mut observer).is_empty());
        let mut refusal = Message::new(Code::FORBIDDEN);
        refusal.token = observer.token;
        let mut bytes = Vec::new();
        write_datagram(Kind::NonConfirmable, 10, &refusal, &mut bytes);
        server.send(&bytes).unwrap();
        let read = observer.read(&mut vec![0; 4096], &Scanner::new(), |_, _| {});
        assert!(read.unwrap_err().contains("4.03"));
    }
}
