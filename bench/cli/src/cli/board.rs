//! `weir board`: the device's image on an emulated board, and its page on this machine.

mod client;
mod command;

use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::net::TcpListener;
use weir_board::limits::MTU;
use weir_board::{BOARDS, Bridge, Counts, Duplex, Emulated, Emulator, Host, Line, by_name};
use weir_program::{Failure, Standard, StopSignals};

#[derive(Args)]
#[command(after_help = after_help())]
pub(super) struct Board {
    /// Which board
    #[arg(default_value = "lm3s811", value_parser = board, conflicts_with = "client")]
    board: &'static Emulated,
    /// Its image; that of `make firmware` unless said
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Where clients connect to reach the board
    #[arg(long, default_value = "127.0.0.1:8081", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Bytes a second on the line: 14400 as the paper says, 11520 as 115200 baud with 8N1 carry
    #[arg(
        long,
        default_value_t = 14_400,
        value_parser = clap::value_parser!(u64).range(100..=100_000_000)
    )]
    line: u64,
    /// Whether both ends of the line may talk at once
    #[arg(long, value_enum, default_value = "full")]
    duplex: Direction,
    /// Socket of QEMU's own protocol (QMP), by which memory can be read
    #[arg(long, value_name = "PATH")]
    monitor: Option<PathBuf>,
    #[command(flatten)]
    client: client::Client,
    /// Run in a network whose only way is the board's line, with the board's address in $WEIR_BOARD: there the
    /// kernel's own TCP speaks to it
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["client", "listen"])]
    command: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Direction {
    Half,
    Full,
}

fn board(name: &str) -> Result<&'static Emulated, String> {
    by_name(name).ok_or_else(|| "no such board".into())
}

fn after_help() -> String {
    let lines = BOARDS
        .iter()
        .map(|board| format!("  {:8} {}\n", board.name, board.about));
    let lines: String = lines.collect();
    format!("Boards:\n{lines}")
}

pub(super) fn run(board: &Board) -> Result<ExitCode, Failure> {
    let edge = match board.command.is_empty() {
        true => None,
        false => Some(command::namespace()?),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(Failure::no)?;
    match (edge, board.client.client.is_empty()) {
        (Some(edge), _) => return runtime.block_on(command::run(board, edge)),
        (None, true) => runtime.block_on(bridge(board))?,
        (None, false) => runtime.block_on(client::run(board))?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn bridge(board: &Board) -> Result<(), Failure> {
    let at = |error| Failure::no(format!("{}: {error}", board.listen));
    let listener = TcpListener::bind(board.listen).await.map_err(at)?;
    let address = listener.local_addr().map_err(at)?;
    let (_emulator, serial) = start(board, board.board)?;
    let host = Host::new(weir_random::number(), MTU);
    let bridge = Bridge::new(serial, line(board), host, Ipv4Addr::LOCALHOST);
    let mut bridge = bridge.map_err(Failure::no)?;
    let mut stop = StopSignals::listen().map_err(Failure::no)?;
    announce(board.board, address);
    let ended = tokio::select! {
        ended = bridge.run(&listener) => ended.map_err(Failure::no),
        () = stop.come() => Ok(()),
    };
    tell(&bridge.counts());
    ended
}

/// The emulator, and the board's end of the line.
fn start(board: &Board, emulated: &Emulated) -> Result<(Emulator, UnixStream), Failure> {
    let image = board.image.clone().unwrap_or_else(|| emulated.image());
    let started = Emulator::start(emulated, &image, board.monitor.as_deref());
    started.map_err(Failure::no)
}

fn line(board: &Board) -> Line {
    let duplex = match board.duplex {
        Direction::Half => Duplex::Half,
        Direction::Full => Duplex::Full,
    };
    Line::new(board.line, duplex)
}

/// One line of JSON on stdout, as a gateway says it.
fn announce(board: &Emulated, address: SocketAddr) {
    let ready = json!({"ready": true, "http": address.to_string(), "board": board.name});
    let mut out = Standard::default();
    // The board runs on where nobody is told that it is ready.
    let _not_told = writeln!(out, "{ready}").and_then(|()| out.flush());
    eprintln!("open http://{address}");
}

fn tell(counts: &Counts) {
    let [packets_in, packets_out] = counts.packets;
    let [bytes_in, bytes_out] = counts.bytes;
    eprintln!("to the board: {packets_in} packets, {bytes_in} bytes of IP");
    eprintln!("from the board: {packets_out} packets, {bytes_out} bytes of IP");
}
