//! Answers that are not held whole: a head, and a body in pieces, each made once the last was taken.
//!
//! What it deliberately does not do: keep more than the piece that is being sent and the one that is made
//! meanwhile. So an answer costs the same memory however long it is, a client that reads slowly holds up
//! nobody but itself, and no thread is held between two pieces. The decision worth arguing: how an answer
//! begins is found out before anything of it is sent, so that what is wrong with a request still has its
//! status; what goes wrong later can only break the answer off, which the binding shows its client.

use crate::counted::{Counted, short};
use crate::response::{Pending, Response};
use crate::work::{Outcome, Workers, hand_over_next};
use bytes::{Bytes, BytesMut};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_hub::{Memory, Room};

/// Bytes that are kept free for the pieces of an answer while it lasts.
pub(crate) const PIECES_BYTES: usize = 64 << 10;

/// An answer whose body comes in pieces.
pub trait Pieces: Send {
    /// How the answer begins, once that is known.
    fn poll_opening(&mut self, cx: &mut Context<'_>) -> Poll<Opening>;

    /// The next piece of a body that was begun, to be asked for when the last was taken; none at the end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BrokenOff>>;
}

/// How an answer begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It is whole already.
    Whole(Response),
    /// Pieces follow the body.
    Begun(Response),
}

/// Why a body that was begun will never be whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenOff(pub String);

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer broke off: {}", self.0)
    }
}

impl std::error::Error for BrokenOff {}

/// Makes the pieces of a body, which takes a while.
pub trait Source: Send {
    /// The next piece; none at the end.
    fn next(&mut self) -> Result<Option<Bytes>, BrokenOff>;
}

/// The pieces of a source, made by workers one ahead.
pub struct Made {
    workers: Arc<dyn Workers>,
    state: Making,
    /// Kept free for what it makes, however slowly that is taken.
    _room: Room,
}

type Step = (Box<dyn Source>, Result<Option<Bytes>, BrokenOff>);

enum Making {
    Idle(Box<dyn Source>),
    Busy(Outcome<Step>),
    Over,
}

impl Made {
    /// Pieces of a source; none is made before it is asked for.
    pub fn new(workers: Arc<dyn Workers>, source: Box<dyn Source>) -> Self {
        Self {
            _room: workers.memory().hold(PIECES_BYTES),
            workers,
            state: Making::Idle(source),
        }
    }

    /// The next piece; meanwhile the one after it is made.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BrokenOff>> {
        loop {
            match std::mem::replace(&mut self.state, Making::Over) {
                Making::Over => return Poll::Ready(Ok(None)),
                Making::Idle(source) => self.begin(source)?,
                Making::Busy(mut outcome) => match outcome.poll(cx) {
                    Poll::Pending => {
                        self.state = Making::Busy(outcome);
                        return Poll::Pending;
                    }
                    Poll::Ready(None) => {
                        let sentence = "the gateway's log says why";
                        return Poll::Ready(Err(BrokenOff(sentence.into())));
                    }
                    Poll::Ready(Some((source, Ok(Some(piece))))) => {
                        self.begin(source)?;
                        return Poll::Ready(Ok(Some(piece)));
                    }
                    Poll::Ready(Some((_, ended))) => return Poll::Ready(ended),
                },
            }
        }
    }

    fn begin(&mut self, mut source: Box<dyn Source>) -> Result<(), BrokenOff> {
        let memory = self.workers.memory().clone();
        let work = move || {
            let piece = source.next();
            let piece = piece.map(|piece| piece.map(|bytes| memory.counted(bytes)));
            (source, piece)
        };
        let busy = |_| BrokenOff("too many questions wait".into());
        self.state = Making::Busy(hand_over_next(&*self.workers, work).map_err(busy)?);
        Ok(())
    }
}

/// What work comes to that may be the beginning of a long answer.
pub enum Opened {
    /// A whole answer.
    Whole(Response),
    /// The beginning of an answer, and what makes the rest.
    Begun(Response, Box<dyn Source>),
}

impl Opened {
    /// The same of what begins.
    pub fn fitting(self, memory: &Arc<Memory>) -> Self {
        match self {
            Opened::Whole(response) => Opened::Whole(response.fitting(memory)),
            Opened::Begun(..) if memory.room(PIECES_BYTES).is_none() => Opened::Whole(short()),
            begun => begun.counted(memory),
        }
    }
}

impl Counted for Opened {
    fn counted(self, memory: &Arc<Memory>) -> Self {
        match self {
            Opened::Whole(response) => Opened::Whole(response.counted(memory)),
            Opened::Begun(response, source) => Opened::Begun(response.counted(memory), source),
        }
    }
}

/// A long answer gathered whole, up to a limit: for protocols that carry no other.
pub struct Gathered {
    pieces: Box<dyn Pieces>,
    bytes_max: usize,
    memory: Arc<Memory>,
    room: Room,
    begun: Option<(Response, BytesMut)>,
}

impl Gathered {
    /// Gathers at most so many bytes of a body, which count; what is longer is answered with an error.
    pub fn new(pieces: Box<dyn Pieces>, bytes_max: usize, memory: Arc<Memory>) -> Self {
        Self {
            pieces,
            bytes_max,
            memory,
            room: Room::default(),
            begun: None,
        }
    }

    fn too_long(&self) -> Response {
        let sentence = format!(
            "the answer is longer than {} bytes, the most that is sent so: ask for less",
            self.bytes_max
        );
        Response::text(500, sentence)
    }
}

impl Pending for Gathered {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        loop {
            let Some((head, body)) = &mut self.begun else {
                match ready!(self.pieces.poll_opening(cx)) {
                    Opening::Whole(response) => return Poll::Ready(response),
                    Opening::Begun(mut head) => {
                        let body = BytesMut::from(std::mem::take(&mut head.body));
                        self.begun = Some((head, body));
                    }
                }
                continue;
            };
            match ready!(self.pieces.poll_piece(cx)) {
                Err(broken) => return Poll::Ready(Response::text(500, broken.to_string())),
                Ok(Some(piece)) if body.len() + piece.len() > self.bytes_max => {
                    return Poll::Ready(self.too_long());
                }
                Ok(Some(piece)) => {
                    let bytes = body.len() + piece.len();
                    if !self.room.grow_in_steps(&self.memory, bytes) {
                        return Poll::Ready(short());
                    }
                    body.extend_from_slice(&piece);
                }
                Ok(None) => {
                    let body = std::mem::take(body).freeze();
                    let head = std::mem::take(head);
                    let whole = Response { body, ..head }.counted(&self.memory);
                    self.room = Room::default();
                    return Poll::Ready(whole);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Drawer;
    use crate::answer::Answer;
    use crate::answering::pieces_of;
    use std::task::Waker;

    struct Letters(Vec<&'static str>);

    impl Source for Letters {
        fn next(&mut self) -> Result<Option<Bytes>, BrokenOff> {
            match self.0.pop() {
                Some("!") => Err(BrokenOff("no more".into())),
                letter => Ok(letter.map(Bytes::from)),
            }
        }
    }

    fn begun(drawer: &Arc<Drawer>, letters: &[&'static str]) -> Box<dyn Pieces> {
        let letters = letters.iter().rev().copied().collect();
        let answer = pieces_of(drawer.clone(), move || {
            let head = Response::with_body(200, "text/plain", "a");
            Opened::Begun(head, Box::new(Letters(letters)))
        });
        let Answer::Pieces(pieces) = answer else {
            panic!("no pieces");
        };
        pieces
    }

    fn cx() -> Context<'static> {
        Context::from_waker(Waker::noop())
    }

    #[test]
    fn one_piece_is_made_ahead_once_the_first_is_asked_for() {
        let drawer = Arc::new(Drawer::default());
        let mut pieces = begun(&drawer, &["b", "c"]);
        assert!(pieces.poll_opening(&mut cx()).is_pending());
        assert_eq!(drawer.work_off(), 1);
        let opened = pieces.poll_opening(&mut cx());
        assert!(matches!(opened, Poll::Ready(Opening::Begun(head)) if head.body == "a"));
        assert_eq!(drawer.work_off(), 0);
        assert!(pieces.poll_piece(&mut cx()).is_pending());
        for expected in [Some("b"), Some("c"), None] {
            assert_eq!(drawer.work_off(), 1);
            let expected = expected.map(Bytes::from);
            assert_eq!(pieces.poll_piece(&mut cx()), Poll::Ready(Ok(expected)));
        }
        assert_eq!(drawer.work_off(), 0);
        assert_eq!(pieces.poll_piece(&mut cx()), Poll::Ready(Ok(None)));
    }

    #[test]
    fn a_source_that_fails_and_work_that_ends_break_the_answer_off() {
        let drawer = Arc::new(Drawer::default());
        for lost in [false, true] {
            let mut pieces = begun(&drawer, &["!"]);
            drawer.work_off();
            let _opened = pieces.poll_opening(&mut cx());
            assert!(pieces.poll_piece(&mut cx()).is_pending());
            match lost {
                true => drawer.lose(),
                false => assert_eq!(drawer.work_off(), 1),
            }
            assert!(matches!(pieces.poll_piece(&mut cx()), Poll::Ready(Err(_))));
        }
    }

    #[test]
    fn what_is_gathered_is_whole_or_an_error() {
        for (limit, letters, expected) in [
            (3, ["b", "c"], Some("abc")),
            (2, ["b", "c"], None),
            (3, ["b", "!"], None),
        ] {
            let drawer = Arc::new(Drawer::default());
            let memory = Arc::default();
            let mut gathered = Gathered::new(begun(&drawer, &letters), limit, memory);
            let response = loop {
                match gathered.poll(&mut cx()) {
                    Poll::Ready(response) => break response,
                    Poll::Pending => assert_eq!(drawer.work_off(), 1),
                }
            };
            assert_eq!(response.status == 200, expected.is_some());
            assert!(expected.is_none_or(|body| response.body == body));
        }
    }
}
