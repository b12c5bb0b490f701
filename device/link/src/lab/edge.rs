//! A namespace whose link the caller is: every packet passes through its hands.

use super::fault::LabFault;
use super::offload::HEADER_BYTES;
use super::station::Station;
use super::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::time::Duration;

/// An end without a link. What its programs send to its subnet comes out here, and what is put in here
/// arrives at them.
pub struct Edge {
    /// The namespace.
    pub station: Station,
    device: sys::Tun,
}

impl Edge {
    /// Makes the end of this number, for packets of at most `mtu` bytes.
    pub fn start(number: u16, mtu: u32) -> Result<Self, LabFault> {
        let (station, device) = Station::start(number, mtu, None)?;
        let whole = device.take_cut();
        whole.map_err(|error| LabFault::Io("packets as a wire has them", error))?;
        Ok(Self { station, device })
    }

    /// The next packet that leaves, waited for so long at most.
    pub fn receive(&self, wait: Duration) -> io::Result<Option<Vec<u8>>> {
        let mut waiting = [PollFd::new(&self.device, PollFlags::IN)];
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        poll(&mut waiting, Some(&wait))?;
        let mut frame = vec![0; HEADER_BYTES + crate::limits::PACKET_BYTES_MAX];
        let length = self.device.read(&mut frame)?;
        Ok(length.map(|length| frame.get(HEADER_BYTES..length).unwrap_or(&[]).to_vec()))
    }

    /// Lets a packet arrive.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        let mut frame = vec![0; HEADER_BYTES];
        frame.extend_from_slice(packet);
        self.device.write(&frame)
    }
}
