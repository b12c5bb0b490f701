//! The line as smoltcp sees it: a packet each way at a time.

use super::MTU;
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::time::Instant;
use weir_comet::slip::{Reader, Writer};

/// A packet that comes and one that goes.
pub(crate) struct Wire<'a> {
    reader: Reader,
    received: &'a mut [u8; MTU],
    /// Bytes of the packet that has come and is not taken.
    came: usize,
    writer: Writer,
    sent: &'a mut [u8; MTU],
    /// Bytes of the packet that goes.
    goes: usize,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(received: &'a mut [u8; MTU], sent: &'a mut [u8; MTU]) -> Self {
        Self {
            reader: Reader::new(),
            received,
            came: 0,
            writer: Writer::new(),
            sent,
            goes: 0,
        }
    }

    /// Whether it takes a byte now.
    pub(crate) fn takes(&self) -> bool {
        self.came == 0
    }

    pub(crate) fn receive(&mut self, byte: u8) {
        if let Some(length) = self.reader.push(byte, self.received) {
            self.came = length;
        }
    }

    pub(crate) fn is_sending(&self) -> bool {
        self.goes > 0
    }

    pub(crate) fn transmit(&mut self) -> Option<u8> {
        let packet = self.sent.get(..self.goes).filter(|it| !it.is_empty())?;
        let byte = self.writer.next(packet);
        if byte.is_none() {
            self.goes = 0;
        }
        byte
    }
}

pub(crate) struct Received<'a>(&'a [u8]);

pub(crate) struct Sending<'a> {
    packet: &'a mut [u8; MTU],
    goes: &'a mut usize,
    writer: &'a mut Writer,
}

impl Device for Wire<'_> {
    type RxToken<'a>
        = Received<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Sending<'a>
    where
        Self: 'a;

    fn receive(&mut self, _now: Instant) -> Option<(Received<'_>, Sending<'_>)> {
        // What comes may be answered at once, so there must be a place for that.
        if self.came == 0 || self.goes > 0 {
            return None;
        }
        let length = core::mem::take(&mut self.came);
        let received = Received(self.received.get(..length)?);
        let sending = Sending {
            packet: self.sent,
            goes: &mut self.goes,
            writer: &mut self.writer,
        };
        Some((received, sending))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Sending<'_>> {
        (self.goes == 0).then_some(Sending {
            packet: self.sent,
            goes: &mut self.goes,
            writer: &mut self.writer,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU;
        capabilities
    }
}

impl phy::RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

impl phy::TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        *self.writer = Writer::new();
        // No packet is longer than what it was told it may be.
        let length = length.min(MTU);
        *self.goes = length;
        write(self.packet.get_mut(..length).unwrap_or_default())
    }
}
