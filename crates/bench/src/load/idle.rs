//! Connections on which nothing happens, held open while the orchestrator reads memory.

use std::net::SocketAddr;

use super::connect::{Opening, open_all};
use super::job::{Event, IdleOutcome, IdlePlan};
use crate::clock::now_ns;

/// Opens all, settles, says [`Event::Ready`] and closes when told.
pub(crate) fn run(address: SocketAddr, plan: &IdlePlan) -> Result<IdleOutcome, String> {
    let mut held = Vec::with_capacity(plan.connections);
    let opening = |number| Opening::of_subscriber(&plan.subscribe, number);
    open_all(address, plan.connections, opening, |_, stream| {
        held.push(stream);
        Ok(())
    })?;
    let settled = now_ns() + plan.settle_ms * 1_000_000;
    while now_ns() < settled {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    super::emit(&Event::Ready);
    super::await_orchestrator();
    let connections = held.iter().filter(|stream| is_open(stream)).count();
    if connections < plan.connections {
        return Err(format!(
            "{} of {} were closed",
            plan.connections - connections,
            plan.connections
        ));
    }
    Ok(IdleOutcome { connections })
}

fn is_open(stream: &std::net::TcpStream) -> bool {
    let peeked = stream
        .set_nonblocking(true)
        .and_then(|()| stream.peek(&mut [0u8; 1]));
    match peeked {
        Ok(len) => len > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}
