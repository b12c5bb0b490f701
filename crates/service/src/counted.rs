//! Answers under way, counted among what may be in memory ([`weir_hub::Hub::answers`]).
//!
//! What was read for an answer is dropped again where there is no room for it. What tells of something that was done
//! is counted whether or not there is room: it is short, and whoever is told "try again" would do it twice.

use crate::response::Response;
use std::sync::Arc;
use weir_hub::Memory;
use weir_hub::limits::UNCOUNTED_BYTES_MAX;

/// Answers up to here are given though answers have no more room, as long as there is some for other things, bytes:
/// who asks for little is not kept out by who asks for much.
pub const SHORT_BYTES_MAX: usize = 64 << 10;

/// What work comes to that may be a long answer.
pub trait Counted: Sized {
    /// The same, its bytes counted as long as anybody has them.
    fn counted(self, memory: &Arc<Memory>) -> Self;
}

impl Response {
    /// The same, counted; 503 in its place where it is long and there is no room for it.
    pub fn fitting(self, memory: &Arc<Memory>) -> Self {
        let length = self.body.len();
        let is_little = length <= SHORT_BYTES_MAX && memory.has_room_elsewhere();
        match length < UNCOUNTED_BYTES_MAX || is_little || memory.room(length).is_some() {
            true => self.counted(memory),
            false => short(),
        }
    }
}

/// What is answered where there is no room.
pub fn short() -> Response {
    let response = Response::text(503, "memory is short: try again later");
    response.header("retry-after", "1")
}

impl Counted for Response {
    fn counted(self, memory: &Arc<Memory>) -> Self {
        Response {
            body: memory.counted(self.body),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: usize) -> Response {
        Response::with_body(200, "text/plain", vec![b'x'; bytes])
    }

    #[test]
    fn a_long_answer_is_dropped_where_a_short_one_has_room() {
        let whole = Arc::new(Memory::bounded(3 << 20));
        let memory = whole.part();
        let long = answer(1 << 20).fitting(&memory);
        assert_eq!((long.status, memory.held()), (200, 1 << 20));
        assert_eq!(answer(100_000).fitting(&memory).status, 503);
        assert_eq!(answer(60_000).fitting(&memory).status, 200);
        let others = whole.hold(3 << 19);
        assert_eq!(answer(60_000).fitting(&memory).status, 503);
        assert_eq!(answer(4000).fitting(&memory).status, 200);
        drop(others);
        let taken = long.body.slice(..1);
        drop(long);
        assert_eq!(memory.held(), 1 << 20, "somebody has a part of it");
        drop(taken);
        assert_eq!(memory.held(), 0);
        assert_eq!(answer(100_000).fitting(&memory).status, 200);
    }
}
