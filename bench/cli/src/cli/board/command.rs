//! `weir board -- COMMAND`: a command whose network is the board's line, so that the kernel's own TCP speaks to
//! the board.

use super::super::link::{code, no};
use super::{Board, line, start, tell};
use std::io;
use std::net::Ipv4Addr;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::Duration;
use weir_board::limits::MTU;
use weir_board::{BOARD, Line, Nanos, Port, Side};
use weir_link::Edge;
use weir_program::{Failure, StopSignals};

/// How often it is looked whether the kernel has sent something.
const LOOK_NS: Nanos = 1_000_000;
/// The half of a packet's first byte that says which IP it is.
const VERSION: u8 = 4;

/// The kernel's end of the line, in a namespace of its own.
struct Kernel(Edge);

impl Side for Kernel {
    fn take(&mut self, _now: Nanos, packet: Vec<u8>, _line: &mut Line) {
        // What the kernel does not take is lost, as on any line.
        let _arrived = self.0.send(&packet);
    }

    fn poll(&mut self, _now: Nanos, line: &mut Line) {
        while line.has_room()
            && let Ok(Some(packet)) = self.0.receive(Duration::ZERO)
        {
            // The board knows no other IP, and its line has no time for one.
            if packet.first().is_some_and(|byte| byte >> 4 == VERSION) {
                line.enqueue(&packet);
            }
        }
    }

    fn deadline(&mut self, now: Nanos) -> Option<Nanos> {
        Some(now + LOOK_NS)
    }
}

/// Runs the board and the command; how the command ended.
pub(super) async fn run(board: &Board, edge: Edge) -> Result<ExitCode, Failure> {
    let (_emulator, serial) = start(board, board.board)?;
    let child = spawn(board, &edge)?;
    let mut port = Port::new(serial, line(board), MTU).map_err(Failure::no)?;
    let mut kernel = Kernel(edge);
    let mut stop = StopSignals::listen().map_err(Failure::no)?;
    let ended = tokio::select! {
        gone = port.run(&mut kernel, Nanos::MAX) => {
            gone.map_err(Failure::no)?;
            ExitCode::FAILURE
        }
        status = ended(child) => code(status.map_err(Failure::no)?),
        () = stop.come() => ExitCode::SUCCESS,
    };
    tell(&port.counts());
    Ok(ended)
}

/// The namespace; to be made while the process has one thread.
pub(super) fn namespace() -> Result<Edge, Failure> {
    weir_link::prepare().map_err(no)?;
    Edge::start(1, MTU as u32).map_err(no)
}

fn spawn(board: &Board, edge: &Edge) -> Result<Child, Failure> {
    let (program, arguments) = board.command.split_first().unzip();
    let program = program.map_or("", String::as_str);
    let mut command = Command::new(program);
    command.args(arguments.unwrap_or_default());
    command.env("WEIR_BOARD", Ipv4Addr::from(BOARD).to_string());
    let started = edge.station.spawn(command);
    started.map_err(|error| Failure::no(format!("{program}: {error}")))
}

async fn ended(mut child: Child) -> io::Result<ExitStatus> {
    let waiting = tokio::task::spawn_blocking(move || child.wait());
    waiting.await.map_err(io::Error::other)?
}
