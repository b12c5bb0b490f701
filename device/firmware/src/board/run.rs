//! The device on a board, without end.

use super::place::Place;
use super::{Board, stack};
use crate::{Device, SITE};

static DEVICE: Place<Device> = Place::new(Device::new());

/// Bytes that are sent before it is looked what came.
const TURN: u32 = 16;

/// Runs the device; once.
#[inline(always)]
pub fn run(board: &mut impl Board) {
    let Some(device) = DEVICE.take() else {
        return;
    };
    device.serve(&SITE);
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
