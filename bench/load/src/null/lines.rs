//! An answer of so many lines that say nothing, made as the socket takes it: what reading a long answer costs a client
//! where making it costs next to nothing.

use crate::load::reactor::{Reactor, Socket};

/// Bytes that are offered to the socket at once.
const PIECE_BYTES: usize = 256 * 1024;
/// Bytes of a line, its end included, at most.
const WIDTH_MAX: usize = 64 * 1024;

/// The rest of such an answer.
pub(super) struct Lines {
    /// Whole lines.
    piece: Vec<u8>,
    width: usize,
    sent: u64,
    all: u64,
}

impl Lines {
    /// So many lines of so many bytes each, the line's end included.
    pub(super) fn new(count: u64, width: usize) -> Self {
        let width = width.clamp(1, WIDTH_MAX);
        let mut line = vec![b'x'; width];
        line[width - 1] = b'\n';
        Self {
            piece: line.repeat(PIECE_BYTES / width),
            width,
            sent: 0,
            all: count.saturating_mul(width as u64),
        }
    }

    /// The head of the answer.
    pub(super) fn head(&self) -> String {
        let length = self.all;
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n")
    }

    /// Sends what the kernel takes; whether that was all.
    pub(super) fn send(&mut self, socket: &mut Socket, reactor: &Reactor) -> bool {
        while self.sent < self.all {
            let at = (self.sent % self.width as u64) as usize;
            let left = usize::try_from(self.all - self.sent).unwrap_or(usize::MAX);
            let end = self.piece.len().min(at.saturating_add(left));
            let due = &self.piece[at..end];
            let taken = socket.write_through(reactor, due);
            self.sent += taken as u64;
            if taken < due.len() {
                return false;
            }
        }
        socket.quiet(reactor);
        true
    }
}
