//! The device as a machine: bytes of a serial line and the time go in, bytes come out.
//!
//! There is a buffer for what is read and one for what is written. An answer that needs no record is made
//! where its request lies; until it is on the line nothing more is read ([`Device::takes`]), and who drives
//! the device leaves the bytes where they are.

use crate::report::{self, TEXT_BYTES_MAX};
use crate::sensor::Sensor;
use crate::site::{SYSTEM, TEMPERATURE};
use crate::{CONNECTIONS, INTERVAL_MS, SMALLEST};
use weir_comet::limits::{PACKET_BYTES_MAX, RECEIVED_PACKET_BYTES_MAX};
use weir_comet::slip::{Reader, Writer};
use weir_comet::{Milliseconds, Server, Site};

/// The device's address on its line.
const ADDRESS: [u8; 4] = [10, 9, 0, 2];
const PORT: u16 = 80;
/// Addresses that may be connected at a time.
const HOSTS: usize = if SMALLEST { 1 } else { 16 };
/// Notifications that are kept.
const ITEMS: usize = if SMALLEST { 2 } else { 16 };
/// Of the smallest there is one buffer for both ways: while it sends it reads nothing.
const IS_HALF_DUPLEX: bool = SMALLEST;
const SENT_BYTES: usize = if IS_HALF_DUPLEX { 0 } else { PACKET_BYTES_MAX };
const _: () = assert!(!IS_HALF_DUPLEX || RECEIVED_PACKET_BYTES_MAX >= PACKET_BYTES_MAX);
/// Between two looks at timers; theirs are in units of 512 ms and more.
const TICK_MS: u32 = 64;
/// Between two reports of the counters: no longer than the ring keeps the last one, whatever the interval of the
/// other notifications is. The smallest has none.
const SYSTEM_MS: u32 = {
    let kept_ms = (ITEMS as u32).saturating_sub(4).saturating_mul(INTERVAL_MS);
    if kept_ms < 5_000 { kept_ms } else { 5_000 }
};
const _: () = assert!(SMALLEST || SYSTEM_MS / INTERVAL_MS + 2 < ITEMS as u32);

/// Memory as the board finds it, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// What is taken for good.
    pub statics: u32,
    /// The most that the stack ever was.
    pub stack: u32,
    /// What is kept for the stack.
    pub stack_reserved: u32,
}

/// A sensor with its Web server.
///
/// It begins as zeros, as memory does that is cleared and not copied from flash. It serves from the first
/// packet on: the key of its sequence numbers is drawn from when that one's bytes arrived.
#[repr(C)]
pub struct Device {
    site: Option<&'static Site>,
    /// What was gathered until it starts.
    noise: [u32; 2],
    ticked: Milliseconds,
    published: Milliseconds,
    reported: Milliseconds,
    sensor: Sensor,
    /// Bytes of an answer that lies where its request was.
    reply: u16,
    /// Bytes of the packet that is being written.
    length: u16,
    reader: Reader,
    writer: Writer,
    is_started: bool,
    is_replying: bool,
    server: Server<CONNECTIONS, HOSTS, ITEMS, TEXT_BYTES_MAX>,
    sent: [u8; SENT_BYTES],
    received: [u8; RECEIVED_PACKET_BYTES_MAX],
}

impl Device {
    /// Bytes of a connection's record.
    pub const CONNECTION_BYTES: usize =
        Server::<CONNECTIONS, HOSTS, ITEMS, TEXT_BYTES_MAX>::CONNECTION_BYTES;

    /// A device that does nothing yet.
    pub const fn new() -> Self {
        Self {
            server: Server::new(),
            sensor: Sensor::new(),
            site: None,
            is_started: false,
            noise: [0; 2],
            reader: Reader::new(),
            received: [0; RECEIVED_PACKET_BYTES_MAX],
            reply: 0,
            writer: Writer::new(),
            sent: [0; SENT_BYTES],
            length: 0,
            is_replying: false,
            ticked: 0,
            published: 0,
            reported: 0,
        }
    }

    /// Serves this site.
    pub fn serve(&mut self, site: &'static Site) {
        self.site = Some(site);
    }

    /// Whether it takes a byte now.
    pub fn takes(&self) -> bool {
        self.reply == 0 && !(IS_HALF_DUPLEX && self.length > 0)
    }

    /// Takes the line's next byte; `noise` is a fast counter when it came.
    pub fn receive(&mut self, now: Milliseconds, byte: u8, noise: u32) {
        if !self.is_started {
            // An odd factor keeps what was gathered; the shift spreads what is new.
            let [low, high] = self.noise;
            let mixed = (low ^ noise).wrapping_mul(0x9e37_79b9);
            self.noise = [high, mixed.rotate_left(13) ^ high];
        }
        let Some(length) = self.reader.push(byte, &mut self.received) else {
            return;
        };
        if !self.is_started {
            self.start(now);
        }
        let packet = self.received.get_mut(..length).unwrap_or_default();
        self.reply = self.server.receive(now, packet) as u16;
    }

    fn start(&mut self, now: Milliseconds) {
        if let Some(site) = self.site {
            let [low, high] = self.noise;
            let key = u64::from(high) << 32 | u64::from(low);
            self.server.start(site, ADDRESS, PORT, key);
            self.published = now.wrapping_sub(INTERVAL_MS);
            self.reported = now.wrapping_sub(SYSTEM_MS);
            self.is_started = true;
        }
    }

    /// Does what is due.
    pub fn work(&mut self, now: Milliseconds, memory: impl FnOnce() -> Memory) {
        if !self.is_started {
            return;
        }
        if is_due(&mut self.ticked, now, TICK_MS) {
            self.server.tick(now);
        }
        if is_due(&mut self.published, now, INTERVAL_MS) {
            self.publish(now);
        }
        if !SMALLEST && is_due(&mut self.reported, now, SYSTEM_MS) {
            self.report(now, memory());
        }
    }

    fn publish(&mut self, now: Milliseconds) {
        #[cfg(feature = "clock")]
        let text = report::clock(now);
        #[cfg(not(feature = "clock"))]
        let text = report::temperature(self.sensor.next());
        // Fits a slot: that is what a report is.
        let _number = self.server.publish(now, TEMPERATURE, text.bytes());
    }

    fn report(&mut self, now: Milliseconds, memory: Memory) {
        let text = report::numbers(&[
            memory.statics,
            memory.stack,
            memory.stack_reserved,
            self.server.connections() as u32,
            self.server.listeners() as u32,
        ]);
        let _number = self.server.publish(now, SYSTEM, text.bytes());
    }

    /// The line's next byte, where there is one.
    #[inline(never)]
    pub fn transmit(&mut self, now: Milliseconds) -> Option<u8> {
        if self.length == 0 {
            self.begin(now);
        }
        let buffer: &[u8] = match self.is_replying || IS_HALF_DUPLEX {
            true => &self.received,
            false => &self.sent,
        };
        let packet = buffer
            .get(..usize::from(self.length))
            .filter(|packet| !packet.is_empty())?;
        let byte = self.writer.next(packet);
        if byte.is_none() {
            self.length = 0;
            if self.is_replying {
                self.reply = 0;
            }
        }
        byte
    }

    /// Takes up the next packet.
    fn begin(&mut self, now: Milliseconds) {
        self.writer = Writer::new();
        self.is_replying = self.reply > 0;
        self.length = match self.is_replying {
            true => self.reply,
            false if IS_HALF_DUPLEX && !self.reader.is_empty() => 0,
            false if IS_HALF_DUPLEX => self.server.transmit(now, &mut self.received) as u16,
            false => self.server.transmit(now, &mut self.sent) as u16,
        };
    }
}

impl Default for Device {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether so long has passed since `last`, which then is when it had. Times that were missed are left out.
#[inline(never)]
fn is_due(last: &mut Milliseconds, now: Milliseconds, interval: u32) -> bool {
    let passed = now.wrapping_sub(*last);
    if passed < interval {
        return false;
    }
    *last = last.wrapping_add(passed - passed % interval);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RESOURCES;
    use weir_comet::slip::END;

    const MEMORY: Memory = Memory {
        statics: 5_000,
        stack: 300,
        stack_reserved: 1_024,
    };

    fn device() -> Box<Device> {
        let mut device = Box::new(Device::new());
        device.serve(Box::leak(Box::new(Site::new(&RESOURCES).unwrap())));
        device
    }

    /// What the device answers to bytes that arrive at a time.
    fn answer(device: &mut Device, now: Milliseconds, bytes: &[u8]) -> Vec<u8> {
        let mut said = Vec::new();
        for (place, &byte) in bytes.iter().enumerate() {
            assert!(device.takes());
            device.receive(now, byte, place as u32);
        }
        device.work(now, || MEMORY);
        while let Some(byte) = device.transmit(now) {
            said.push(byte);
        }
        said
    }

    /// A SYN (RFC 9293 section 3.1) from 10.9.0.1, port 4000, of sequence number 1.
    const SYN: [u8; 42] = [
        END, 0x45, 0, 0, 0x28, 0, 0, 0, 0, 0x40, 6, 0x66, 0xbc, 0x0a, 9, 0, 1, 0x0a, 9, 0, 2, 0x0f,
        0xa0, 0, 0x50, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0x10, 0, 0x7b, 0xdd, 0, 0, END,
    ];

    #[test]
    fn a_handshake_is_answered_over_the_line_and_reading_goes_on() {
        let mut device = device();
        for now in [5, 10_000] {
            let said = answer(&mut device, now, &SYN);
            // What it is answered with is drawn, and may have a byte that is written as two.
            assert!(said.len() >= SYN.len(), "{said:?}");
            assert_eq!(said[13..21], [10, 9, 0, 2, 10, 9, 0, 1]);
            assert_eq!(said[21..25], [0, 80, 0x0f, 0xa0]);
        }
    }

    #[test]
    fn what_was_missed_is_left_out() {
        let mut last = u32::MAX - 500;
        assert!(!is_due(&mut last, u32::MAX, 1_000));
        assert!(is_due(&mut last, 2_600, 1_000));
        assert_eq!(last, 2_499);
        assert!(!is_due(&mut last, 3_000, 1_000));
    }

    #[test]
    fn a_device_for_256_takes_less_than_six_kilobytes() {
        assert_eq!(Device::CONNECTION_BYTES, 16);
        assert!(size_of::<Device>() < 6_000, "{}", size_of::<Device>());
    }
}
