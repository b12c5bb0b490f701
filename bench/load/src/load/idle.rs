//! Connections on which nothing happens, held open while the orchestrator reads memory, and then while a probe
//! publishes and hears beside them: what they cost those that do something.

use std::net::{SocketAddr, TcpStream};

use super::connect::{Opening, open_all};
use super::job::{Event, IdleOutcome, IdlePlan};
use super::tls::{self, Session};
use super::traffic;
use weir_bench_model::clock::now_ns;

/// A connection held open.
enum Held {
    Plain(TcpStream),
    Tls(Box<Session>),
}

/// Opens all, settles, says [`Event::Ready`], probes when told, and closes.
pub(super) fn run(address: SocketAddr, plan: &IdlePlan) -> Result<IdleOutcome, String> {
    let mut held = open(address, plan)?;
    let settled = now_ns() + plan.settle_ms * 1_000_000;
    while now_ns() < settled {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    super::emit(&Event::Ready);
    super::await_orchestrator();
    let probe = plan.probe.as_deref();
    let probe = probe.map(|plan| traffic::run(address, plan)).transpose()?;
    let connections = held
        .iter_mut()
        .map(Held::is_open)
        .filter(|open| *open)
        .count();
    if connections < plan.connections {
        return Err(format!(
            "{} of {} were closed",
            plan.connections - connections,
            plan.connections
        ));
    }
    Ok(IdleOutcome {
        connections,
        probe: probe.map(Box::new),
    })
}

fn open(address: SocketAddr, plan: &IdlePlan) -> Result<Vec<Held>, String> {
    let mut held = Vec::with_capacity(plan.connections);
    // The first name is the probe's, whose connection would end that of another client of its name.
    let opening = |number| Opening::of_subscriber(&plan.subscribe, number + 1);
    let numbers = plan.first..plan.first + plan.connections;
    match &plan.certificate {
        None => open_all(address, numbers, opening, |_, stream| {
            held.push(Held::Plain(stream));
            Ok(())
        })?,
        Some(certificate) => {
            let each = |session| held.push(Held::Tls(Box::new(session)));
            tls::open_all(address, numbers, certificate, opening, each)?;
        }
    }
    Ok(held)
}

impl Held {
    fn is_open(&mut self) -> bool {
        match self {
            Self::Plain(stream) => is_open(stream),
            Self::Tls(session) => tls::is_open(session),
        }
    }
}

fn is_open(stream: &TcpStream) -> bool {
    let peeked = stream
        .set_nonblocking(true)
        .and_then(|()| stream.peek(&mut [0u8; 1]));
    match peeked {
        Ok(len) => len > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}
