//! The board's end of the bridge: its serial port, read and written no faster than the line.

use crate::line::{Counts, Line, Way};
use crate::time::Nanos;
use std::io;
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use weir_comet::slip::Reader;

/// How often a line is looked at that is busy.
const BUSY: Duration = Duration::from_millis(1);
/// How often one that is not.
const IDLE: Duration = Duration::from_millis(100);

/// What stands on this side of the line.
pub trait Side {
    /// Takes a packet of the board; what it sends waits for the line.
    fn take(&mut self, now: Nanos, packet: Vec<u8>, line: &mut Line);
    /// Does what is due.
    fn poll(&mut self, now: Nanos, line: &mut Line);
    /// When it wants to be polled.
    fn deadline(&mut self, now: Nanos) -> Option<Nanos>;
    /// Whether there is nothing more to do.
    fn is_done(&self, _now: Nanos) -> bool {
        false
    }
    /// Whether a packet of the board counts.
    fn counts(&self, _packet: &[u8]) -> bool {
        true
    }
}

/// A serial port and its line.
pub struct Port {
    began: Instant,
    serial: UnixStream,
    line: Line,
    /// None where what passes is bytes.
    reader: Option<Reader>,
    packet: Vec<u8>,
    /// What has arrived at the board and its port has no room for.
    unwritten: Vec<u8>,
}

impl Port {
    /// The port at the other end of `serial`, on a line whose packets have at most `mtu` bytes.
    pub fn new(serial: std::os::unix::net::UnixStream, line: Line, mtu: usize) -> io::Result<Self> {
        Self::framed(serial, line, Some(Reader::new()), mtu)
    }

    /// The port on a line without packets: that side takes bytes as they come, and counts them itself.
    pub fn of_bytes(serial: std::os::unix::net::UnixStream, line: Line) -> io::Result<Self> {
        Self::framed(serial, line, None, 0)
    }

    fn framed(
        serial: std::os::unix::net::UnixStream,
        line: Line,
        reader: Option<Reader>,
        mtu: usize,
    ) -> io::Result<Self> {
        serial.set_nonblocking(true)?;
        Ok(Self {
            began: Instant::now(),
            serial: UnixStream::from_std(serial)?,
            line,
            reader,
            packet: vec![0; mtu],
            unwritten: Vec::new(),
        })
    }

    /// What has passed.
    pub fn counts(&self) -> Counts {
        self.line.counts()
    }

    /// The line.
    pub fn line(&mut self) -> &mut Line {
        &mut self.line
    }

    /// The time since it was opened.
    pub fn now(&self) -> Nanos {
        self.began.elapsed().as_nanos() as Nanos
    }

    /// Carries whatever comes until that side is done, or then, or the board is gone.
    pub async fn run(&mut self, side: &mut impl Side, until: Nanos) -> io::Result<()> {
        loop {
            let now = self.now();
            if side.is_done(now) || now >= until {
                return Ok(());
            }
            let is_busy = self.work(now, side)?;
            let wait = self.wait(now, is_busy, side.deadline(now));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                ready = self.ready(), if !is_busy => self.begin(ready)?,
            }
        }
    }

    /// The board says something.
    pub(crate) async fn ready(&self) -> io::Result<()> {
        self.serial.readable().await
    }

    /// The board says something on an idle line: the line's time begins.
    pub(crate) fn begin(&mut self, ready: io::Result<()>) -> io::Result<()> {
        ready?;
        let now = self.now();
        self.line.came(now, &[], true);
        Ok(())
    }

    /// Does what can be done now; whether the board may have more to say.
    pub(crate) fn work(&mut self, now: Nanos, side: &mut impl Side) -> io::Result<bool> {
        self.line.look(now);
        let is_busy = self.read(now, side)?;
        side.poll(now, &mut self.line);
        while let Some(bytes) = self.line.arrived(now) {
            self.unwritten.extend(bytes);
        }
        self.write()?;
        Ok(is_busy)
    }

    /// Reads what the line could have carried by now.
    fn read(&mut self, now: Nanos, side: &mut impl Side) -> io::Result<bool> {
        let mut buffer = [0; 576];
        loop {
            let allowed = self.line.allowance(now).min(buffer.len());
            let Some(buffer) = buffer.get_mut(..allowed).filter(|bytes| !bytes.is_empty()) else {
                return Ok(true);
            };
            match self.serial.try_read(buffer) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the board is gone",
                    ));
                }
                Ok(length) => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    self.line.came(now, bytes, false);
                    self.take(now, bytes, side);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.line.came(now, &[], true);
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, now: Nanos, bytes: &[u8], side: &mut impl Side) {
        let Some(reader) = &mut self.reader else {
            return side.take(now, bytes.to_vec(), &mut self.line);
        };
        for &byte in bytes {
            let Some(length) = reader.push(byte, &mut self.packet) else {
                continue;
            };
            let packet = self.packet.get(..length).unwrap_or_default().to_vec();
            if side.counts(&packet) {
                self.line.count(Way::Out, &packet);
            }
            side.take(now, packet, &mut self.line);
        }
    }

    fn write(&mut self) -> io::Result<()> {
        while !self.unwritten.is_empty() {
            match self.serial.try_write(&self.unwritten) {
                Ok(length) => {
                    self.unwritten.drain(..length);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// How long nothing is to be done unless the board says something.
    pub(crate) fn wait(&self, now: Nanos, is_busy: bool, due: Option<Nanos>) -> Duration {
        let longest = match is_busy || !self.unwritten.is_empty() {
            true => BUSY,
            false => IDLE,
        };
        let due = [self.line.deadline(), due].into_iter().flatten().min();
        // The timer of the runtime has milliseconds.
        let until = due.map(|due| Duration::from_nanos(due.saturating_sub(now)).max(BUSY));
        until.map_or(longest, |until| until.min(longest))
    }
}
