//! Bodies in pieces of a kilobyte each: `/pieces/1000`, or `/pieces/1000-` for one that breaks off there.

use bytes::Bytes;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use weir_binding::{Answer, BrokenOff, Opened, Response, Source, Workers, pieces_of};

/// Bytes of a piece.
pub(crate) const PIECE: usize = 1024;

/// Pieces made so far by this test's process.
pub(crate) fn made() -> &'static AtomicUsize {
    static MADE: OnceLock<AtomicUsize> = OnceLock::new();
    MADE.get_or_init(AtomicUsize::default)
}

struct Countdown {
    left: usize,
    breaks: bool,
}

impl Source for Countdown {
    fn next(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        if self.left == 0 {
            let whole = Err(BrokenOff("the disk is gone".into()));
            return if self.breaks { whole } else { Ok(None) };
        }
        self.left -= 1;
        made().fetch_add(1, Ordering::Relaxed);
        Ok(Some(vec![b'a' + (self.left % 26) as u8; PIECE].into()))
    }
}

/// Answers with so many pieces.
pub(super) fn answer(workers: Arc<dyn Workers>, asked: &str) -> Answer {
    let breaks = asked.ends_with('-');
    let left: usize = asked.trim_end_matches('-').parse().unwrap();
    pieces_of(workers, move || match left {
        0 => Opened::Whole(Response::text(200, "nothing")),
        _ => {
            let head = Response::with_body(200, "text/plain", "begin\n");
            Opened::Begun(head, Box::new(Countdown { left, breaks }))
        }
    })
}
