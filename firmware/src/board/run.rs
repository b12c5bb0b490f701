//! The device on a board, without end.

use super::place::Place;
use super::{Board, stack};
use crate::{Device, RESOURCES};
use weir_comet::Site;

static DEVICE: Place<Device> = Place::new(Device::new());
static SITE: Place<Option<Site>> = Place::new(None);

/// Bytes that are sent before it is looked what came.
const TURN: u32 = 16;

/// Runs the device; once.
pub fn run(board: &mut impl Board) {
    let (Some(device), Some(site)) = (DEVICE.take(), SITE.take()) else {
        return;
    };
    *site = Site::new(&RESOURCES).ok();
    let site: &'static Option<Site> = site;
    if let Some(site) = site {
        device.serve(site);
    }
    loop {
        turn(board, device);
    }
}

fn turn(board: &mut impl Board, device: &mut Device) {
    let now = board.now();
    while device.takes()
        && let Some(byte) = board.receive()
    {
        let noise = board.noise();
        device.receive(now, byte, noise);
    }
    device.work(now, stack::memory);
    for _ in 0..TURN {
        if !board.can_send() {
            return board.sleep(true);
        }
        match device.transmit(now) {
            Some(byte) => board.send(byte),
            None if device.takes() => return board.sleep(false),
            None => return,
        }
    }
}
