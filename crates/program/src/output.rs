//! What a command prints: the only way to standard output.
//!
//! Whoever reads it may stop at any time (`weir ... | head`), which is no failure: what comes after is
//! dropped, and what goes on for long asks [`Standard::is_closed`]. A disk that is full is one.

use crate::failure::Failure;
use std::io::{self, ErrorKind, Write, stdout};

/// Standard output, for as long as it is read.
#[derive(Default)]
pub struct Standard {
    closed: bool,
}

impl Standard {
    /// Whether nobody reads any more.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// What a call to the system came to, where a closed pipe takes `dropped`.
    fn unless_closed<T>(&mut self, done: io::Result<T>, dropped: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(dropped)
            }
            done => done,
        }
    }
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = stdout().write(bytes);
        self.unless_closed(done, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = stdout().flush();
        self.unless_closed(done, ())
    }
}

/// Prints all of this, at once.
pub fn print(bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut out = Standard::default();
    let printed = out.write_all(bytes.as_ref()).and_then(|()| out.flush());
    printed.map_err(|error| Failure::no(format!("standard output: {error}")))
}
