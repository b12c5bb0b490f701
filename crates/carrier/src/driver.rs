//! The loop that drives a connection: read, feed the machine, hear its events, make what is due, send, wait.
//!
//! A protocol says what an event means and what it sends unasked ([`Driven`]); who runs it counts what it holds and
//! says when it is to stop ([`Host`]). All else is here, once for all protocols: fairness, back-pressure, bounds, peers
//! that take nothing, and the end. What it deliberately does not do: no hub, no policy, no answers. The decision worth
//! arguing is in `docs/decisions`, one loop drives all byte streams.

use crate::Stream;
use crate::clock::{Timer, now};
use crate::limits::SCRATCH_BYTES;
use crate::linger::Linger;
use crate::outbox::{Outbox, poll_read_at_most};
use bytes::Bytes;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use weir_sansio::{Instant, Output, Session};

/// Reads of one turn, so that one peer does not hold up a thread.
const READS_MAX: usize = 8;

/// A protocol on a connection: its machine, and what only it knows.
pub trait Driven {
    /// Its machine.
    type Machine: Session<Transmit: Into<Bytes>> + ?Sized;
    /// Who runs it.
    type Host: Host;
    /// Why a connection is over.
    type End;

    /// Bytes that may wait for the socket before nothing more is read.
    const UNSENT_BYTES_MAX: usize;
    /// Bytes that may wait before the machine keeps what it has to send.
    const TAKEN_BYTES_MAX: usize = usize::MAX;
    /// Bytes read at once.
    const READ_BYTES_MAX: usize = SCRATCH_BYTES;
    /// Whether each piece to send is a message of its own on a WebSocket, and each message read a piece.
    const IN_MESSAGES: bool = false;

    /// Its machine.
    fn machine(&mut self) -> &mut Self::Machine;

    /// Who runs it.
    fn host(&mut self) -> &mut Self::Host;

    /// Begins a turn with what came from elsewhere: who a client is, what has come to the disk. Pending where nothing
    /// else goes on before; it wakes then.
    fn poll_begin(
        &mut self,
        outbox: &Outbox,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Self::End>>;

    /// Whether the rights that the peer was let in with are gone.
    fn is_revoked(&self) -> bool {
        false
    }

    /// Has the machine take leave, which may be said more than once.
    fn take_leave(&mut self, why: Leave) -> Result<(), Self::End>;

    /// Goes on with an event that could not be done with before.
    fn resume(&mut self) -> Result<Heard, Self::End> {
        Ok(Heard::Done)
    }

    /// Hears what happened.
    fn on_event(&mut self, event: <Self::Machine as Session>::Event) -> Result<Heard, Self::End>;

    /// Whether more is read where so many bytes wait for the socket.
    fn may_read(&self, waiting: usize) -> bool {
        waiting < Self::UNSENT_BYTES_MAX
    }

    /// Notes that so many bytes came.
    fn received(&mut self, _bytes: usize) {}

    /// The connection is lost.
    fn lost(&mut self, error: io::Error) -> Self::End;

    /// The peer broke a rule of the machine's that ends the connection.
    fn broken(&mut self, error: <Self::Machine as Session>::Error) -> Self::End;

    /// The peer sends nothing more; `Ok` where the machine says the rest.
    fn ended(&mut self, outbox: &mut Outbox) -> Result<(), Self::End>;

    /// Whether something was begun in this turn that wakes once it was asked for, in the next: asking may wake another
    /// thread, and whoever gets what came just now goes first.
    fn take_fresh(&mut self) -> bool {
        false
    }

    /// Whether more may be made, where what was made waits for more than its socket.
    fn poll_gate(&mut self, _cx: &mut Context<'_>) -> Gate {
        Gate::Open
    }

    /// Makes what is due.
    fn deliver(&mut self, outbox: &mut Outbox, cx: &mut Context<'_>) -> Result<Due, Self::End>;

    /// Whether what waits may be sent.
    fn may_send(&mut self, _cx: &mut Context<'_>) -> bool {
        true
    }

    /// Notes that the socket took so many bytes.
    fn sent(&mut self, _bytes: usize, _outbox: &Outbox) {}

    /// Whether there is more to make at once, as was said; what has nothing more wakes when it has.
    fn has_more(&mut self, _cx: &mut Context<'_>) -> bool {
        true
    }

    /// Has the next turn come, after those of all others that are told the same.
    fn wake(&mut self, cx: &mut Context<'_>) {
        cx.waker().wake_by_ref();
    }

    /// Bytes of memory that is taken by what came and is not whole.
    fn arriving_bytes(&self) -> usize {
        0
    }

    /// Bytes of memory that is taken by what waits to be sent and nobody shares.
    fn leaving_bytes(&self, outbox: &Outbox) -> usize {
        outbox.held()
    }

    /// When something of its own is due.
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    /// Does what is due by now.
    fn on_time(&mut self, _now: Instant) -> Result<(), Self::End> {
        Ok(())
    }

    /// The connection is over: lets go of what only an open one needs.
    fn close(&mut self, _outbox: &mut Outbox) {}
}

/// Who runs a connection.
pub trait Host {
    /// Whether everything is to stop; said once, and it wakes then.
    fn poll_stop(&mut self, cx: &mut Context<'_>) -> bool;

    /// Counts bytes that arrive and bytes that leave: `false` where there is no room for the first, an error where
    /// there is none for the second, or the peer takes nothing.
    fn count(&mut self, held: (usize, usize), outbox: &Outbox) -> io::Result<bool>;

    /// When it counts again though nothing moved.
    fn deadline(&self, outbox: &Outbox) -> Instant;

    /// Messages went out.
    fn delivered(&self);
}

/// Nobody: what is dropped when everything stops, and looked after by its machine.
impl Host for () {
    fn poll_stop(&mut self, _: &mut Context<'_>) -> bool {
        false
    }

    fn count(&mut self, _: (usize, usize), _: &Outbox) -> io::Result<bool> {
        Ok(true)
    }

    fn deadline(&self, _: &Outbox) -> Instant {
        Instant::NEVER
    }

    fn delivered(&self) {}
}

/// Why a machine is to take leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Everything stops.
    Stopping,
    /// The rights of the peer are gone.
    Revoked,
    /// There is no room for what it sends.
    Short,
}

impl fmt::Display for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Leave::Stopping => "the gateway is stopping",
            Leave::Revoked => "the rights of this login were withdrawn or have expired",
            Leave::Short => "memory is short: send it again later",
        })
    }
}

/// How it went with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The next may come.
    Done,
    /// It is kept, and no other comes before it.
    Kept,
    /// The turn begins again.
    Again,
}

/// Whether more may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It may.
    Open,
    /// It may again: what waited is sent first, or it would wait for what comes now, too.
    Opened,
    /// It may not.
    Shut,
}

/// How it went with what was due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Messages were made.
    pub sent: bool,
    /// There may be more at once.
    pub more: bool,
}

/// A connection and what drives it.
pub struct Driver<P> {
    /// What is driven.
    pub protocol: P,
    stream: Stream,
    outbox: Outbox,
    timer: Timer,
}

/// How it went with what the machine wants.
enum Pumped {
    /// Until this moment it wants nothing more.
    Idle(Instant),
    /// It has more, which is not taken now.
    Full,
    /// It has an event to be done with.
    Kept,
    /// The turn begins again.
    Again,
}

impl<P: Driven> Driver<P> {
    /// Drives a protocol over a stream.
    pub fn new(stream: Stream, protocol: P) -> Self {
        Self {
            protocol,
            stream,
            outbox: Outbox::default(),
            timer: Timer::default(),
        }
    }

    /// Goes on until the connection is over; says why it is.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<P::End> {
        loop {
            match self.turn(cx) {
                Ok(true) => {}
                Ok(false) => return Poll::Pending,
                Err(end) => return Poll::Ready(end),
            }
        }
    }

    /// One turn; says whether another follows at once.
    fn turn(&mut self, cx: &mut Context<'_>) -> Result<bool, P::End> {
        let (outbox, timer) = (&self.outbox, &mut self.timer);
        match self.protocol.poll_begin(outbox, timer, cx) {
            Poll::Pending => return Ok(false),
            Poll::Ready(begun) => begun?,
        }
        if self.protocol.host().poll_stop(cx) {
            self.protocol.take_leave(Leave::Stopping)?;
        }
        if self.protocol.is_revoked() {
            self.protocol.take_leave(Leave::Revoked)?;
        }
        let Some(mut pumped) = self.take(cx)? else {
            return Ok(true);
        };
        if !self.give(&mut pumped, cx)? {
            return Ok(true);
        }
        if self.protocol.take_fresh() {
            cx.waker().wake_by_ref();
        }
        if !self.count()? {
            self.protocol.take_leave(Leave::Short)?;
            return Ok(true);
        }
        self.poll_time(&pumped, cx)
    }

    /// Takes what comes, up to a limit, and does what the machine wants; `None` where the turn begins again.
    fn take(&mut self, cx: &mut Context<'_>) -> Result<Option<Pumped>, P::End> {
        let mut reads = 0;
        loop {
            let pumped = match self.protocol.resume()? {
                Heard::Done => self.pump()?,
                Heard::Kept => Pumped::Kept,
                Heard::Again => Pumped::Again,
            };
            if matches!(pumped, Pumped::Again) {
                return Ok(None);
            }
            if !self.protocol.may_read(self.waiting()) {
                return Ok(Some(pumped));
            }
            if reads == READS_MAX {
                cx.waker().wake_by_ref();
                return Ok(Some(pumped));
            }
            match self.read(cx)? {
                Poll::Pending => return Ok(Some(pumped)),
                Poll::Ready(true) => reads += 1,
                Poll::Ready(false) => {
                    self.protocol.ended(&mut self.outbox)?;
                    return Ok(None);
                }
            }
        }
    }

    /// Bytes that wait for the socket.
    fn waiting(&self) -> usize {
        match &self.stream {
            Stream::WebSocket(socket) if P::IN_MESSAGES => socket.unsent(),
            _ => self.outbox.waiting(),
        }
    }

    /// Does what the machine wants.
    fn pump(&mut self) -> Result<Pumped, P::End> {
        loop {
            if P::TAKEN_BYTES_MAX < usize::MAX && self.waiting() >= P::TAKEN_BYTES_MAX {
                return Ok(Pumped::Full);
            }
            match self.protocol.machine().poll_output() {
                Output::Transmit(bytes) => self.transmit(bytes.into()),
                Output::Timeout(deadline) => return Ok(Pumped::Idle(deadline)),
                Output::Event(event) => match self.protocol.on_event(event)? {
                    Heard::Done => {}
                    Heard::Kept => return Ok(Pumped::Kept),
                    Heard::Again => return Ok(Pumped::Again),
                },
            }
        }
    }

    fn transmit(&mut self, bytes: Bytes) {
        match &mut self.stream {
            Stream::WebSocket(socket) if P::IN_MESSAGES => socket.send_message(&bytes),
            _ => self.outbox.push(bytes),
        }
    }

    /// Reads once; `false` at the end of the stream.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<Poll<bool>, P::End> {
        let machine = self.protocol.machine();
        let mut feed = |bytes: &[u8]| (bytes.len(), machine.handle_input(now(), bytes));
        let read = match &mut self.stream {
            Stream::WebSocket(socket) if P::IN_MESSAGES => {
                let message = socket.poll_message(cx);
                message.map_ok(|message| message.as_deref().map(feed))
            }
            stream => poll_read_at_most(stream, cx, P::READ_BYTES_MAX, |bytes| {
                (!bytes.is_empty()).then(|| feed(bytes))
            }),
        };
        let (bytes, fed) = match read {
            Poll::Pending => return Ok(Poll::Pending),
            Poll::Ready(Err(error)) => return Err(self.protocol.lost(error)),
            Poll::Ready(Ok(None)) => return Ok(Poll::Ready(false)),
            Poll::Ready(Ok(Some(read))) => read,
        };
        self.protocol.received(bytes);
        match fed {
            Ok(()) => Ok(Poll::Ready(true)),
            Err(error) => Err(self.protocol.broken(error)),
        }
    }

    /// Makes what is due and sends; a turn of all others comes before the next, so that what came meanwhile goes out
    /// as one. `false` where the turn begins again.
    fn give(&mut self, pumped: &mut Pumped, cx: &mut Context<'_>) -> Result<bool, P::End> {
        match self.protocol.poll_gate(cx) {
            Gate::Open => {}
            Gate::Opened => drop(self.flush(cx)?),
            Gate::Shut => return Ok(true),
        }
        let due = self.protocol.deliver(&mut self.outbox, cx)?;
        // What the machine has to say of it; no event comes before one that is kept.
        if !matches!(pumped, Pumped::Kept) {
            *pumped = self.pump()?;
            if matches!(pumped, Pumped::Again) {
                return Ok(false);
            }
        }
        let (mut more, mut full) = (due.more, false);
        if self.protocol.may_send(cx) {
            let before = self.waiting();
            let is_flushed = self.flush(cx)?.is_ready();
            more &= is_flushed;
            full = is_flushed && before >= P::UNSENT_BYTES_MAX;
        }
        if due.sent {
            self.protocol.host().delivered();
        }
        if full || (more && self.protocol.has_more(cx)) {
            self.protocol.wake(cx);
        }
        Ok(true)
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Result<Poll<()>, P::End> {
        let before = self.outbox.waiting();
        let flushed = self.outbox.poll_flush(&mut self.stream, cx);
        let taken = before - self.outbox.waiting();
        self.protocol.sent(taken, &self.outbox);
        match flushed {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(Ok(())) => Ok(Poll::Ready(())),
            Poll::Ready(Err(error)) => Err(self.protocol.lost(error)),
        }
    }

    /// Counts what is held; says whether there is room for what arrives.
    fn count(&mut self) -> Result<bool, P::End> {
        let arriving = self.protocol.arriving_bytes() + self.stream.held();
        let leaving = self.protocol.leaving_bytes(&self.outbox) + self.stream.unsent();
        let counted = self
            .protocol
            .host()
            .count((arriving, leaving), &self.outbox);
        counted.map_err(|error| self.protocol.lost(error))
    }

    /// Says whether something was due.
    fn poll_time(&mut self, pumped: &Pumped, cx: &mut Context<'_>) -> Result<bool, P::End> {
        let of_machine = match pumped {
            Pumped::Idle(deadline) => *deadline,
            Pumped::Full | Pumped::Kept | Pumped::Again => Instant::NEVER,
        };
        let own = self.protocol.deadline();
        let look = self.protocol.host().deadline(&self.outbox);
        if !self.timer.poll_due(cx, of_machine.min(own).min(look)) {
            return Ok(false);
        }
        let now = now();
        self.protocol.on_time(now)?;
        self.protocol.machine().handle_timeout(now);
        Ok(true)
    }
}

/// Why a connection that is served is over.
#[derive(Debug)]
pub enum Over {
    /// All is said; what is left goes out.
    Closed,
    /// It is lost.
    Lost(io::Error),
}

impl From<io::Error> for Over {
    fn from(error: io::Error) -> Self {
        Over::Lost(error)
    }
}

/// A peer that is served, to its end: the last words go out, and it has a moment to read them.
pub struct Serving<P> {
    driver: Driver<P>,
    linger: Option<Box<Linger>>,
}

impl<P: Driven<End = Over>> Serving<P> {
    /// Serves a peer by a stream.
    pub fn new(stream: Stream, protocol: P) -> Self {
        Self {
            driver: Driver::new(stream, protocol),
            linger: None,
        }
    }
}

impl<P: Driven> Driver<P> {
    /// All that the machine has still to say, and the end.
    fn last_words(&mut self) -> Linger {
        self.protocol.close(&mut self.outbox);
        loop {
            match self.protocol.machine().poll_output() {
                Output::Transmit(bytes) => self.transmit(bytes.into()),
                Output::Event(_) => {}
                Output::Timeout(_) => return Linger::begin(std::mem::take(&mut self.outbox)),
            }
        }
    }
}

impl<P: Driven<End = Over> + Unpin> Future for Serving<P> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { driver, linger } = self.get_mut();
        let linger = match linger {
            Some(linger) => linger,
            None => match driver.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Over::Lost(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Over::Closed) => linger.insert(Box::new(driver.last_words())),
            },
        };
        linger.poll(&mut driver.stream, &mut driver.timer, cx)
    }
}
