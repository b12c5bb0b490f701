//! One epoll and the sockets on it: non-blocking reads, buffered writes.
//!
//! Level-triggered on purpose: one big read a turn and socket is fair among thousands, and what
//! it leaves is announced again. No runtime stands between, so the load costs what its system
//! calls cost.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

const EVENTS_A_TURN: usize = 1024;

/// The epoll instance.
pub struct Reactor {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

/// What epoll said about one socket.
#[derive(Clone, Copy)]
pub struct Readiness {
    /// The number given at [`Reactor::add`].
    pub token: u64,
    /// Bytes, an end or an error wait to be read.
    pub readable: bool,
    /// There is room to write.
    pub writable: bool,
}

/// A non-blocking socket with its unsent bytes.
pub struct Socket {
    stream: TcpStream,
    token: u64,
    out: Vec<u8>,
    written: usize,
    awaits_room: bool,
}

/// What one read gave.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// So many bytes.
    Bytes(usize),
    /// Nothing now.
    Nothing,
    /// The peer has closed, orderly or not.
    Closed,
}

impl Reactor {
    /// A new epoll instance.
    pub fn new() -> Result<Self, String> {
        let epoll =
            epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|e| format!("epoll: {e}"))?;
        Ok(Self {
            epoll,
            events: Vec::with_capacity(EVENTS_A_TURN),
        })
    }

    /// Makes a connected stream non-blocking and watches it for reading.
    pub fn add(&self, stream: TcpStream, token: u64) -> Result<Socket, String> {
        stream
            .set_nonblocking(true)
            .map_err(|e| format!("set_nonblocking: {e}"))?;
        self.watch(&stream, token)?;
        Ok(Socket {
            stream,
            token,
            out: Vec::new(),
            written: 0,
            awaits_room: false,
        })
    }

    /// Watches something else, a listener, for reading.
    pub fn watch(&self, source: impl std::os::fd::AsFd, token: u64) -> Result<(), String> {
        let data = epoll::EventData::new_u64(token);
        epoll::add(&self.epoll, source, data, epoll::EventFlags::IN)
            .map_err(|e| format!("epoll_ctl: {e}"))
    }

    /// Waits at most `timeout_ns` (0: not at all; `None`: for ever) and lists what is ready.
    pub fn wait(&mut self, timeout_ns: Option<u64>, ready: &mut Vec<Readiness>) {
        self.collect();
        if self.events.is_empty() && timeout_ns != Some(0) {
            self.sleep(timeout_ns);
            self.collect();
        }
        ready.clear();
        ready.extend(self.events.iter().map(Readiness::of));
    }

    fn collect(&mut self) {
        self.events.clear();
        // An interrupted look is an empty one.
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let _ = epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&now));
    }

    /// Sleeps by ppoll, whose timeout is in nanoseconds where epoll_wait's is in milliseconds.
    fn sleep(&self, timeout_ns: Option<u64>) {
        let timeout = timeout_ns.map(|ns| Timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        });
        let _ = poll(
            &mut [PollFd::new(&self.epoll, PollFlags::IN)],
            timeout.as_ref(),
        );
    }

    fn want_room(&self, socket: &mut Socket, wanted: bool) {
        if socket.awaits_room == wanted {
            return;
        }
        socket.awaits_room = wanted;
        let room = if wanted {
            epoll::EventFlags::OUT
        } else {
            epoll::EventFlags::empty()
        };
        let data = epoll::EventData::new_u64(socket.token);
        // A socket that has just died is announced by its next read.
        let _ = epoll::modify(
            &self.epoll,
            &socket.stream,
            data,
            epoll::EventFlags::IN | room,
        );
    }
}

impl Readiness {
    fn of(event: &epoll::Event) -> Self {
        let flags = event.flags;
        let dead = epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        Self {
            token: event.data.u64(),
            readable: flags.intersects(epoll::EventFlags::IN | dead),
            writable: flags.contains(epoll::EventFlags::OUT),
        }
    }
}

impl Socket {
    /// Reads once into `buffer`.
    pub fn take(&mut self, buffer: &mut [u8]) -> Taken {
        match self.stream.read(buffer) {
            Ok(0) => Taken::Closed,
            Ok(len) => Taken::Bytes(len),
            Err(e) if e.kind() == ErrorKind::WouldBlock => Taken::Nothing,
            Err(e) if e.kind() == ErrorKind::Interrupted => Taken::Nothing,
            Err(_) => Taken::Closed,
        }
    }

    /// The buffer that [`Socket::flush`] sends; append to it.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Bytes that wait to be sent.
    pub fn unsent(&self) -> usize {
        self.out.len() - self.written
    }

    /// Sends what the kernel takes now and sees to the rest later.
    pub fn flush(&mut self, reactor: &Reactor) {
        while self.unsent() > 0 {
            match self.stream.write(&self.out[self.written..]) {
                Ok(len) => self.written += len,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if self.unsent() == 0 {
            self.out.clear();
            self.written = 0;
        }
        let wanted = self.unsent() > 0;
        reactor.want_room(self, wanted);
    }

    /// Writes bytes that are kept elsewhere; the number that the kernel took.
    pub fn write_through(&mut self, reactor: &Reactor, bytes: &[u8]) -> usize {
        let taken = self.stream.write(bytes).unwrap_or(0);
        reactor.want_room(self, taken < bytes.len());
        taken
    }

    /// Stops announcing room.
    pub fn quiet(&mut self, reactor: &Reactor) {
        let wanted = self.unsent() > 0;
        reactor.want_room(self, wanted);
    }
}
