//! A machine of a protocol on a connection.

use std::convert::Infallible;

use weir_sansio::{Instant, Output, Session};

use super::{Peer, Tcp};
use crate::error::{Cause, Error};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::READ_BYTES_MAX;

/// Why an event is the end of the conversation, if it is.
pub(crate) type Over<E> = fn(&E) -> Option<Cause>;

/// A machine, the connection that it drives, and what it says of the end.
pub(crate) struct Driven<S: Session + ?Sized> {
    pub(crate) tcp: Tcp,
    pub(crate) machine: Box<S>,
    over: Over<S::Event>,
    buffer: Vec<u8>,
}

/// As the machines have it.
pub(crate) fn now() -> Instant {
    Instant::from_nanos(now_ns())
}

impl<S> Driven<S>
where
    S: Session<Error = Infallible> + ?Sized,
    S::Transmit: AsRef<[u8]>,
{
    /// Connects.
    pub(crate) fn open(peer: &Peer, machine: Box<S>, over: Over<S::Event>) -> Result<Self, Error> {
        Ok(Self {
            tcp: Tcp::connect(peer, None)?,
            machine,
            over,
            buffer: vec![0; READ_BYTES_MAX],
        })
    }

    /// Sends what is due; the next event, if there is one.
    pub(crate) fn next_event(&mut self) -> Result<Option<S::Event>, Error> {
        loop {
            match self.machine.poll_output() {
                Output::Transmit(bytes) => self.tcp.send(bytes.as_ref())?,
                Output::Event(event) => {
                    return match (self.over)(&event) {
                        Some(cause) => Err(self.tcp.failed(cause, "listening")),
                        None => Ok(Some(event)),
                    };
                }
                Output::Timeout(_) => return Ok(None),
            }
        }
    }

    /// Waits for bytes; silence is an error.
    pub(crate) fn receive(&mut self) -> Result<(), Error> {
        let length = self.tcp.receive(&mut self.buffer)?;
        let Ok(()) = self.machine.handle_input(now(), &self.buffer[..length]);
        Ok(())
    }

    /// Sends what is due, and waits for the next event.
    pub(crate) fn wait(&mut self) -> Result<S::Event, Error> {
        loop {
            match self.next_event()? {
                Some(event) => return Ok(event),
                None => self.receive()?,
            }
        }
    }

    /// Waits for what is wanted, and passes over what comes before.
    pub(crate) fn wait_for<T>(
        &mut self,
        mut wanted: impl FnMut(S::Event) -> Option<T>,
    ) -> Result<T, Error> {
        loop {
            if let Some(found) = wanted(self.wait()?) {
                return Ok(found);
            }
        }
    }
}
