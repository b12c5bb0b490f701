//! The phase in which requests are answered, in their order.

use super::answer;
use super::body::Body;
use super::connection::Phase;
use super::date::Date;
use super::http2::is_preface;
use super::over::Handover;
use super::route::{self, Check, Meta, Shared, Step, dispatch, upgrade_required};
use super::socket::Sockets;
use super::streaming::Streaming;
use crate::limits::{
    ASKED_IN_TURN_MAX, HEADS_BYTES_MAX, LOOK_TIME, OUTSTANDING_MAX, PIECE_BYTES_MIN, READING_MAX,
    UNSENT_BYTES_MAX,
};
use crate::session::{Event, Session};
use crate::wire::response::LAST_CHUNK;
use crate::wire::{Refusal, Request, Version};
use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, ready};
use weir_binding::{Answer, Counted, Held, Opening, Pending, Pieces};
use weir_binding::{Response, Short, Socket, Stream};
use weir_carrier::Stream as Bytes;
use weir_carrier::clock::{Timer, now};
use weir_carrier::limits::SCRATCH_BYTES;
use weir_carrier::linger::Linger;
use weir_carrier::outbox::{Outbox, poll_read_at_most};
use weir_hub::Room;
use weir_hub::limits::UNCOUNTED_BYTES_MAX;
use weir_sansio::{Instant, Output, Session as _};

/// Requests in, answers out.
pub(super) struct Requests {
    session: Session,
    slots: VecDeque<Slot>,
    outbox: Outbox,
    /// The peer sends nothing more.
    eof: bool,
    /// Something was published in this turn: who reads it live goes first, then the disk is waited for.
    published: bool,
    /// When the first bytes of the request were there that is read, or was read last.
    began: Instant,
    /// What it holds of requests and answers, counted.
    held: Held,
    /// Requests that were asked in this turn.
    asked: usize,
    /// Nothing was read yet: HTTP/2 may still begin.
    fresh: bool,
    /// What was read of an HTTP/2 connection.
    preface: bytes::Bytes,
}

/// An answer at its place among the others.
enum Slot {
    /// `100 Continue`.
    Interim(&'static [u8]),
    Whole(Response, Meta),
    Later(Box<dyn Pending>, Meta, Instant),
    /// How it begins is awaited.
    Opening(Box<dyn Pieces>, Meta),
    /// What follows a head that was written, in chunks or not.
    Body(Box<Body>, bool),
    Stream(Box<Stream>, Meta),
    Socket(Box<Socket>, Meta),
    /// Another binding takes the connection.
    Over(Box<Handover>, Meta),
    /// Who asks is being found out.
    Checking(Check, Box<Request>),
    /// Waits: who asked the one before is still being found out, since publications keep their order, or what was
    /// answered before is to be sent first.
    Asked(Box<Request>),
}

impl Slot {
    /// Says whether its service was not asked yet.
    fn is_unasked(&self) -> bool {
        matches!(self, Slot::Checking(..) | Slot::Asked(_))
    }

    /// Says whether it waits to be asked.
    fn is_asked(&self) -> bool {
        matches!(self, Slot::Asked(_))
    }

    /// Bytes of an answer that is whole.
    fn bytes(&self) -> usize {
        match self {
            Slot::Whole(response, _) => response.body.len(),
            _ => 0,
        }
    }

    /// Bytes of a request that waits or is being answered.
    fn asked_bytes(&self) -> usize {
        match self {
            Slot::Asked(request) | Slot::Checking(_, request) => request.held(),
            Slot::Later(_, meta, _) | Slot::Opening(_, meta) => meta.body_bytes,
            _ => 0,
        }
    }

    /// Says whether it is being read for somebody and may come to any length.
    fn is_reading(&self) -> bool {
        matches!(self, Slot::Later(_, meta, _) | Slot::Opening(_, meta) if !meta.publishes)
    }

    /// Says whether it comes in pieces.
    fn is_long(&self) -> bool {
        matches!(self, Slot::Opening(..) | Slot::Body(..))
    }

    /// Says whether the connection becomes something else behind it.
    fn is_last(&self) -> bool {
        matches!(self, Slot::Stream(..) | Slot::Socket(..) | Slot::Over(..))
    }
}

/// Whether anything moved.
type Moved = bool;

impl Requests {
    pub(super) fn new(shared: &Shared) -> Self {
        Self {
            session: Session::new(now(), shared.body_bytes_max()),
            slots: VecDeque::new(),
            outbox: Outbox::default(),
            eof: false,
            published: false,
            began: now(),
            held: Held::default(),
            asked: 0,
            fresh: true,
            preface: bytes::Bytes::new(),
        }
    }

    /// Goes on until something is awaited; ready with what the connection turns into.
    pub(super) fn poll(
        &mut self,
        stream: &mut Bytes,
        shared: &Shared,
        draining: bool,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Phase>> {
        self.asked = 0;
        loop {
            if draining && self.session.is_between() {
                self.session.end();
            }
            if let Some(phase) = self.answer(shared, draining, cx)? {
                return Poll::Ready(Ok(phase));
            }
            self.ask_waiting(shared);
            let sent = self.send(stream, cx)?;
            self.count_slots(shared)?;
            if self.is_finished() {
                return Poll::Ready(Ok(self.finished()));
            }
            let read = self.receive(stream, shared, cx)?;
            if !self.preface.is_empty() {
                return Poll::Ready(Ok(Phase::Begin2(std::mem::take(&mut self.preface))));
            }
            if std::mem::take(&mut self.published) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if sent || read {
                continue;
            }
            if self.asked >= ASKED_IN_TURN_MAX && self.slots.iter().any(Slot::is_asked) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if self.outbox.waiting() > 0 || self.outbox.is_stuck() {
                let stalls_at = self.outbox.stalls_at(shared.context.patience());
                if now() >= stalls_at {
                    shared.context.hub().stalled();
                    return Poll::Ready(Err(Short::Stalled.into()));
                }
                // Patience may become less meanwhile.
                if timer.poll_due(cx, stalls_at.min(now() + LOOK_TIME)) {
                    continue;
                }
                return Poll::Pending;
            }
            // What is not whole behind an answer that is awaited does not wait for that.
            self.count(shared);
            let deadline = self.deadline();
            if !timer.poll_due(cx, deadline.min(self.held.deadline(&self.outbox))) {
                return Poll::Pending;
            }
            if now() < deadline {
                continue;
            }
            self.late();
            self.collect(shared);
        }
    }

    /// Writes the answers that are ready, in order, as long as the peer takes them.
    fn answer(
        &mut self,
        shared: &Shared,
        draining: bool,
        cx: &mut Context<'_>,
    ) -> io::Result<Option<Phase>> {
        while self.outbox.waiting() < UNSENT_BYTES_MAX {
            let Some(slot) = self.slots.pop_front() else {
                self.slots = VecDeque::new();
                return Ok(None);
            };
            match slot {
                Slot::Interim(bytes) => self.outbox.tail().extend_from_slice(bytes),
                Slot::Whole(response, meta) => self.write(shared, &meta, response, draining),
                Slot::Later(mut pending, meta, until) => match pending.poll(cx) {
                    Poll::Ready(response) => {
                        self.write(shared, &meta, response, draining);
                        self.session.touch(now());
                    }
                    Poll::Pending => {
                        self.slots.push_front(Slot::Later(pending, meta, until));
                        return Ok(None);
                    }
                },
                Slot::Opening(mut pieces, meta) => match pieces.poll_opening(cx) {
                    Poll::Ready(opening) => self.open(shared, opening, pieces, &meta, draining),
                    Poll::Pending => {
                        self.slots.push_front(Slot::Opening(pieces, meta));
                        return Ok(None);
                    }
                },
                Slot::Body(mut body, chunked) => {
                    if self.poll_body(&mut body, chunked, cx)?.is_pending() {
                        self.slots.push_front(Slot::Body(body, chunked));
                        return Ok(None);
                    }
                }
                Slot::Stream(stream, meta) => return Ok(Some(self.stream(shared, *stream, &meta))),
                Slot::Socket(socket, meta) => return Ok(Some(self.socket(shared, *socket, &meta))),
                Slot::Over(handover, meta) => return Ok(Some(self.over(shared, handover, &meta))),
                Slot::Asked(request) if self.asked >= ASKED_IN_TURN_MAX => {
                    self.slots.push_front(Slot::Asked(request));
                    return Ok(None);
                }
                Slot::Asked(request) => {
                    let slot = self.dispatched(shared, *request);
                    self.slots.push_front(slot);
                }
                Slot::Checking(mut check, request) => match check.poll(cx) {
                    Poll::Ready(who) => {
                        let (answer, meta) = route::answer(shared, *request, who, Some(self.began));
                        let slot = self.slot(shared, answer, meta);
                        self.slots.push_front(slot);
                    }
                    Poll::Pending => {
                        self.slots.push_front(Slot::Checking(check, request));
                        return Ok(None);
                    }
                },
            }
        }
        Ok(None)
    }

    /// Writes a whole answer, or the head of one in pieces, whose rest comes next.
    fn open(
        &mut self,
        shared: &Shared,
        opening: Opening,
        pieces: Box<dyn Pieces>,
        meta: &Meta,
        draining: bool,
    ) {
        self.session.touch(now());
        let mut head = match opening {
            Opening::Whole(response) => return self.write(shared, meta, response, draining),
            Opening::Begun(head) => head,
        };
        shared.answered(meta, head.status);
        let first = std::mem::take(&mut head.body);
        let gzip = answer::prepare_pieces(meta, &mut head);
        let closing = self.is_closing(draining);
        let date = Date::of(shared.context.now());
        answer::write_begun(meta, &head, closing, date, &mut self.outbox);
        let chunked = meta.version == Version::Http11;
        if !chunked {
            self.slots.clear();
            self.session.end();
        }
        if !meta.head_only {
            let body = Body::new(pieces, first, gzip);
            self.slots.push_front(Slot::Body(Box::new(body), chunked));
        }
    }

    /// Takes the next piece of a body once the socket has taken the last; ready at the end. Where it
    /// breaks off the connection ends: without the last chunk the client knows.
    fn poll_body(
        &mut self,
        body: &mut Body,
        chunked: bool,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.outbox.waiting() < PIECE_BYTES_MIN {
            let Some(piece) = ready!(body.poll(cx))? else {
                if chunked {
                    self.outbox.tail().extend_from_slice(LAST_CHUNK);
                }
                self.session.touch(now());
                return Poll::Ready(Ok(()));
            };
            answer::write_piece(chunked, piece, &mut self.outbox);
        }
        Poll::Pending
    }

    fn is_closing(&self, draining: bool) -> bool {
        draining && self.slots.is_empty() && self.session.is_over()
    }

    fn write(&mut self, shared: &Shared, meta: &Meta, response: Response, draining: bool) {
        shared.answered(meta, response.status);
        let closing = self.is_closing(draining);
        let memory = shared.context.hub().answers();
        let date = Date::of(shared.context.now());
        answer::write_whole(meta, response, closing, memory, date, &mut self.outbox);
    }

    fn stream(&mut self, shared: &Shared, mut stream: Stream, meta: &Meta) -> Phase {
        shared.answered(meta, stream.head.status);
        stream.delivery.tally = Some(shared.tallies[0].clone());
        let mut outbox = std::mem::take(&mut self.outbox);
        let date = Date::of(shared.context.now());
        answer::write_stream(meta, &mut stream.head, date, &mut outbox);
        if meta.head_only {
            Phase::Linger(Box::new(Linger::begin(outbox)))
        } else {
            let chunked = meta.version == Version::Http11;
            let first = outbox.into_bytes();
            Phase::Streaming(Box::new(Streaming::new(stream.delivery, first, chunked)))
        }
    }

    fn socket(&mut self, shared: &Shared, socket: Socket, meta: &Meta) -> Phase {
        shared.answered(meta, 101);
        let mut outbox = std::mem::take(&mut self.outbox);
        answer::write_upgrade(meta, socket.subprotocol.as_deref(), &mut outbox);
        let deflate = meta.upgrade.as_ref().is_some_and(|upgrade| upgrade.deflate);
        let limit = shared.context.hub().limits().message_bytes;
        let first = outbox.into_bytes();
        let tally = shared.tallies[1].clone();
        Phase::Socket(Box::new(Sockets::new(socket, first, deflate, limit, tally)))
    }

    fn over(&mut self, shared: &Shared, handover: Box<Handover>, meta: &Meta) -> Phase {
        shared.context.answered(handover.binding.name(), 101);
        let mut outbox = std::mem::take(&mut self.outbox);
        answer::write_upgrade(meta, Some(handover.subprotocol), &mut outbox);
        Phase::Over(handover, outbox.into_bytes())
    }

    fn send(&mut self, stream: &mut Bytes, cx: &mut Context<'_>) -> io::Result<Moved> {
        if self.outbox.waiting() == 0 && !self.outbox.is_stuck() {
            return Ok(false);
        }
        match self.outbox.poll_flush(stream, cx) {
            Poll::Ready(result) => result.map(|()| true),
            Poll::Pending => Ok(false),
        }
    }

    fn is_finished(&self) -> bool {
        let sent = self.outbox.waiting() == 0 && !self.outbox.is_stuck();
        let answered = self.slots.is_empty() && sent;
        let given_up = match self.slots.front() {
            Some(Slot::Later(pending, ..)) => pending.patience().is_some(),
            _ => false,
        };
        (answered && (self.session.is_over() || self.eof)) || (self.eof && given_up)
    }

    fn finished(&self) -> Phase {
        if self.eof {
            Phase::Done
        } else {
            Phase::Linger(Box::new(Linger::begin(Outbox::default())))
        }
    }

    fn receive(
        &mut self,
        stream: &mut Bytes,
        shared: &Shared,
        cx: &mut Context<'_>,
    ) -> io::Result<Moved> {
        // The bodies of those that wait are held by nobody else.
        let full = self.slots.len() >= OUTSTANDING_MAX
            || self.outbox.waiting() >= UNSENT_BYTES_MAX
            || self.slots.iter().any(Slot::is_asked);
        if self.eof || full {
            return Ok(false);
        }
        let (session, preface) = (&mut self.session, &mut self.preface);
        let began = &mut self.began;
        let fresh = std::mem::replace(&mut self.fresh, false);
        // A little of heads is many requests.
        let most = if session.is_in_body() {
            SCRATCH_BYTES
        } else {
            HEADS_BYTES_MAX
        };
        let read = poll_read_at_most(stream, cx, most, |bytes| {
            if fresh && is_preface(bytes) {
                *preface = bytes::Bytes::copy_from_slice(bytes);
            } else {
                let now = now();
                if session.is_between() {
                    *began = now;
                }
                let Ok(()) = session.handle_input(now, bytes);
            }
            bytes.len()
        });
        self.fresh = fresh && matches!(read, Poll::Pending);
        match read? {
            Poll::Pending => return Ok(false),
            Poll::Ready(0) => {
                self.eof = true;
                self.session.end();
            }
            Poll::Ready(_) => {
                self.count(shared);
                self.collect(shared);
            }
        }
        Ok(true)
    }

    /// Counts what is held of requests, and refuses the rest of one where memory is short.
    fn count(&mut self, shared: &Shared) {
        let (hub, held) = (shared.context.hub(), self.session.held());
        if let Err(short) = self.held.arrives(hub, held) {
            self.session.refuse(Refusal::new(503, short.to_string()));
        }
    }

    /// Counts what is held of requests that are whole, and of answers that nobody shares and nobody else counts.
    fn count_slots(&mut self, shared: &Shared) -> io::Result<()> {
        let (mut asked, mut leaving) = (0, self.outbox.held());
        for slot in &self.slots {
            asked += slot.asked_bytes();
            let bytes = slot.bytes();
            leaving += bytes * usize::from(bytes < UNCOUNTED_BYTES_MAX);
        }
        let hub = shared.context.hub();
        self.held.asked(hub, asked);
        Ok(self.held.leaves(hub, leaving)?)
    }

    /// Takes what the session found.
    fn collect(&mut self, shared: &Shared) {
        loop {
            match self.session.poll_output() {
                Output::Transmit(bytes) => self.slots.push_back(Slot::Interim(bytes)),
                Output::Event(Event::Request(request)) => self.ask(shared, *request),
                Output::Event(Event::Refused(why)) => self.slots.push_back(refused(why)),
                Output::Event(Event::Idle) => self.eof = true,
                Output::Timeout(_) => return,
            }
        }
    }

    fn ask(&mut self, shared: &Shared, request: Request) {
        if self.slots.back().is_some_and(Slot::is_last) {
            return;
        }
        let slot = if self.must_wait() {
            Slot::Asked(Box::new(request))
        } else {
            self.dispatched(shared, request)
        };
        self.slots.push_back(slot);
    }

    /// Asks those that waited, as far as there is room now; who asked is known of all before them.
    fn ask_waiting(&mut self, shared: &Shared) {
        while let Some(at) = self.slots.iter().position(Slot::is_unasked) {
            if !self.slots[at].is_asked() || !self.has_room() {
                return;
            }
            let Some(Slot::Asked(request)) = self.slots.remove(at) else {
                return;
            };
            let slot = self.dispatched(shared, *request);
            if slot.is_last() {
                self.slots.truncate(at);
            }
            self.slots.insert(at, slot);
        }
    }

    /// Says whether a request is to be asked later: all that one read of the socket brings would else be answered at
    /// once, whatever that comes to.
    fn must_wait(&self) -> bool {
        !self.has_room() || self.slots.iter().any(Slot::is_unasked)
    }

    fn has_room(&self) -> bool {
        let bytes: usize = self.slots.iter().map(Slot::bytes).sum();
        let reading = self.slots.iter().filter(|slot| slot.is_reading());
        self.asked < ASKED_IN_TURN_MAX
            && self.outbox.waiting() + bytes < UNSENT_BYTES_MAX
            && reading.count() < READING_MAX
    }

    fn dispatched(&mut self, shared: &Shared, request: Request) -> Slot {
        self.asked += 1;
        match dispatch(shared, request, Some(self.began)) {
            Step::Answered(answer, meta) => self.slot(shared, answer, meta),
            Step::Checking(check, request) => Slot::Checking(check, request),
        }
    }

    fn slot(&mut self, shared: &Shared, answer: Answer, mut meta: Meta) -> Slot {
        let over = meta
            .upgrade
            .as_mut()
            .and_then(|upgrade| upgrade.over.take());
        if let Some(handover) = over {
            self.session.end();
            return Slot::Over(handover, meta);
        }
        let slot = match answer {
            Answer::Now(response) => {
                Slot::Whole(response.counted(shared.context.hub().answers()), meta)
            }
            Answer::Later(pending) => {
                let until = pending
                    .patience()
                    .map_or(Instant::NEVER, |span| now() + span);
                self.published = true;
                Slot::Later(pending, meta, until)
            }
            Answer::Pieces(pieces) => {
                self.published = true;
                Slot::Opening(pieces, meta)
            }
            Answer::Stream(stream) => Slot::Stream(Box::new(stream), meta),
            Answer::Socket(socket) if meta.upgrade.is_some() => {
                Slot::Socket(Box::new(socket), meta)
            }
            Answer::Socket(_) => {
                Slot::Whole(upgrade_required("only a WebSocket is served here"), meta)
            }
        };
        if slot.is_last() {
            self.session.end();
        }
        slot
    }

    fn deadline(&self) -> Instant {
        match self.slots.front() {
            Some(slot) if slot.is_unasked() || slot.is_long() => Instant::NEVER,
            Some(Slot::Later(_, _, until)) => *until,
            _ => self.session.deadline(),
        }
    }

    /// Patience ends, or the peer was too slow.
    fn late(&mut self) {
        match self.slots.pop_front() {
            Some(Slot::Later(mut pending, meta, _)) => {
                let expired = Slot::Whole(pending.expire(), meta);
                self.slots.push_front(expired);
                self.session.touch(now());
            }
            Some(slot) => self.slots.push_front(slot),
            None => self.session.handle_timeout(now()),
        }
    }
}

fn refused(refusal: Refusal) -> Slot {
    let meta = Meta {
        service: "",
        publishes: false,
        version: Version::Http11,
        keep_alive: false,
        head_only: false,
        gzip: false,
        allow_origin: None,
        upgrade: None,
        body_bytes: 0,
        inflated: Room::default(),
    };
    Slot::Whole(Response::text(refusal.status, refusal.reason), meta)
}
