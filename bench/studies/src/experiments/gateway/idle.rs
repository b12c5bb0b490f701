//! Memory of connections on which nothing happens, in plain TCP and in TLS.
//!
//! The two are cells apart: the goal is that of plain connections, and nobody else is set beside
//! the gateway with TLS, so far.

use super::{Scale, contenders, goal};
use weir_bench_model::cell::{Bound, Cell, Contender, Figure, Scheme, Work};
use weir_bench_model::effort::Effort;

const CONNECTIONS: usize = 10_000;
/// Handshakes take about a millisecond each, which is too much for a quick run.
const CONNECTIONS_TLS_QUICK: usize = 2_000;

/// Server-sent events and WebSocket, each without TLS and with it.
pub(super) fn cells(scale: &Scale) -> Vec<Cell> {
    let schemes = [Scheme::Sse, Scheme::WebSocket];
    let plain = schemes.map(|scheme| plain(scale, scheme));
    let tls = schemes.map(|scheme| tls(scale, scheme));
    plain.into_iter().chain(tls).collect()
}

fn plain(scale: &Scale, scheme: Scheme) -> Cell {
    let takes_part = |contender: &Contender| match scale.effort {
        Effort::Quick => contender.target == "weir",
        Effort::Full => contender.target != "null",
    };
    let mut contenders = contenders(scheme);
    contenders.retain(takes_part);
    let goals = vec![goal(
        "server_memory_per_connection",
        Figure::Mean,
        Bound::Most(6000.0),
    )];
    Cell {
        goals,
        rounds: scale.rounds,
        ..cell(scheme, CONNECTIONS, "off", contenders)
    }
}

fn tls(scale: &Scale, scheme: Scheme) -> Cell {
    let connections = match scale.effort {
        Effort::Quick => CONNECTIONS_TLS_QUICK,
        Effort::Full => CONNECTIONS,
    };
    let ours = Contender {
        target: "weir_tls",
        scheme: Some(scheme),
    };
    cell(scheme, connections, "on", vec![ours])
}

fn cell(scheme: Scheme, connections: usize, tls: &str, contenders: Vec<Contender>) -> Cell {
    Cell {
        factors: vec![
            ("test", "idle".into()),
            ("delivery", scheme.name().into()),
            ("connections", connections.to_string()),
            ("tls", tls.into()),
        ],
        work: Work::Idle {
            connections,
            probe: None,
        },
        contenders,
        rounds: 1,
        goals: Vec::new(),
    }
}
