//! The client on a board, without end.

use super::Board;
use super::place::Place;
use super::stopwatch::Stopwatch;
use crate::client::{Buffers, Client, Host, Memory, Modem, ModemMemory, Network, Storage};

static MEMORY: Place<Memory> = Place::new(Memory::new());
static BUFFERS: Place<Buffers> = Place::new(Buffers::new());
static MODEM: Place<ModemMemory> = Place::new(ModemMemory::new());

/// Bytes that are sent before it is looked what came.
const TURN: u32 = 16;

/// Runs the client with a TCP of its own; once.
pub fn run_client(board: &mut impl Board, cycles_per_us: u64) {
    let Some(buffers) = BUFFERS.take() else {
        return;
    };
    let mut storage = Storage::new();
    run(board, cycles_per_us, |seed| {
        Host::new(buffers, &mut storage, seed)
    });
}

/// Runs the client behind a modem; once.
pub fn run_behind_modem(board: &mut impl Board, cycles_per_us: u64) {
    let Some(memory) = MODEM.take() else {
        return;
    };
    run(board, cycles_per_us, |_| Modem::new(memory));
}

/// The seed is drawn from when the line's first byte comes.
fn run<N: Network>(board: &mut impl Board, cycles_per_us: u64, network: impl FnOnce(u64) -> N) {
    let Some(memory) = MEMORY.take() else {
        return;
    };
    let mut stopwatch = Stopwatch::new(cycles_per_us);
    let first = loop {
        stopwatch.now();
        match board.receive() {
            Some(byte) => break byte,
            None => board.sleep(false),
        }
    };
    let seed = u64::from(board.noise()) << 32 | stopwatch.now() & 0xffff_ffff;
    let mut client = Client::new(memory, network(seed), seed);
    client.receive(first);
    loop {
        turn(board, &mut stopwatch, &mut client);
    }
}

fn turn<N: Network>(board: &mut impl Board, stopwatch: &mut Stopwatch, client: &mut Client<'_, N>) {
    while client.takes()
        && let Some(byte) = board.receive()
    {
        client.receive(byte);
    }
    client.work(stopwatch.now());
    let was_sending = client.is_sending();
    for _ in 0..TURN {
        if !board.can_send() {
            return board.sleep(true);
        }
        match client.transmit() {
            Some(byte) => board.send(byte),
            // There may be another packet.
            None if was_sending => return,
            None => return board.sleep(false),
        }
    }
}
