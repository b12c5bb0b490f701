//! The cells: the device's settings in the paper's order, and the gateway's.

use weir_sim::{CLIENTS as CLIENTS_OF_PAPER, Duplex, Line, SCHEMES, Setting, settings};

use super::beyond;
use weir_bench_model::cell::{Cell, Contender, Scheme, Work};
use weir_bench_model::effort::Effort;
use weir_bench_model::pace::Pace;

/// The paper's line, bytes a second.
pub(super) const LINE: u32 = 14_400;
/// How much of the paper's runs a quick one makes; the paper's ten are trimmed by four.
const RUNS_QUICK: usize = 2;
const RUNS: usize = 10;
/// Of a setting with more clients than any of the paper's, which takes as much longer.
const RUNS_OF_MANY: usize = 3;

/// The gateway's clients: Bozdag et al. had 100 to 1,000.
pub(super) const CLIENTS: [usize; 3] = [100, 1_000, 10_000];
/// Their links; a publication a second to 10,000 takes about 20 Mbit/s.
pub(super) const LINKS: [&str; 3] = ["local", "lan", "isp"];
/// How the gateway tells them, or is asked.
pub(super) const TOLD_BY: [Scheme; 6] = [
    Scheme::Polling,
    Scheme::LongPolling,
    Scheme::Streaming,
    Scheme::Sse,
    Scheme::Observe,
    Scheme::WebSocket,
];

/// Runs of a setting of the device with so many clients.
pub(super) fn runs(effort: Effort, clients: usize) -> usize {
    let most = CLIENTS_OF_PAPER.into_iter().max();
    match effort {
        Effort::Quick => RUNS_QUICK,
        Effort::Full if Some(clients) > most => RUNS_OF_MANY,
        Effort::Full => RUNS,
    }
}

/// The paper's line by a reading, or as it is not.
pub(super) fn line(duplex: Duplex, loss: f64) -> Line {
    Line {
        rate: LINE,
        duplex,
        loss,
    }
}

/// The device's settings: the paper's grid by both readings of its line, and what the paper does not have.
pub(super) fn of_device(effort: Effort) -> Vec<Setting> {
    let mut all = settings(line(Duplex::Half, 0.0), &SCHEMES);
    all.extend(settings(line(Duplex::Full, 0.0), &SCHEMES));
    for setting in beyond::all(effort) {
        if !all.contains(&setting) {
            all.push(setting);
        }
    }
    all
}

/// The gateway's cells.
pub(super) fn of_gateway(effort: Effort) -> Vec<Cell> {
    let (links, clients, schemes) = match effort {
        Effort::Quick => (&LINKS[..1], &CLIENTS[..2], &TOLD_BY[..5]),
        Effort::Full => (&LINKS[..], &CLIENTS[..], &TOLD_BY[..]),
    };
    let mut cells = Vec::new();
    for link in links {
        for &clients in clients {
            let of = |&scheme| cell(link, clients, scheme, effort);
            cells.extend(schemes.iter().map(of));
        }
    }
    cells
}

/// The name of a gateway's cell.
pub(super) fn gateway_name(link: &str, clients: usize, scheme: Scheme) -> String {
    let scheme = scheme.name();
    format!("link={link};clients={clients};publish=1;scheme={scheme}")
}

fn cell(link: &str, clients: usize, scheme: Scheme, effort: Effort) -> Cell {
    let (rounds, warm_up_ms, measure_ms) = match effort {
        Effort::Quick => (1, 1000, 3000),
        Effort::Full => (3, 2000, 10_000),
    };
    Cell {
        factors: vec![
            ("link", link.into()),
            ("clients", clients.to_string()),
            ("publish", "1".into()),
            ("scheme", scheme.name().into()),
        ],
        work: Work::FanOut {
            publishers: 1,
            subscribers: clients,
            pace: Pace::Open {
                rate: 1.0,
                warm_up_ms,
                measure_ms,
            },
        },
        contenders: contenders(scheme, effort),
        rounds,
        goals: Vec::new(),
    }
}

/// The gateway, and in full nginx with nchan by whichever of them it speaks.
fn contenders(scheme: Scheme, effort: Effort) -> Vec<Contender> {
    let by = |target| Contender {
        target,
        scheme: Some(scheme),
    };
    match (scheme, effort) {
        (Scheme::Polling | Scheme::Streaming | Scheme::Observe, _) | (_, Effort::Quick) => {
            vec![by("weir")]
        }
        _ => vec![by("weir"), by("nchan")],
    }
}

/// The names of all cells.
pub(super) fn names(effort: Effort) -> Vec<String> {
    let device = of_device(effort).into_iter();
    let mut names: Vec<String> = device.map(|setting| setting.to_string()).collect();
    names.extend(super::spots::names(effort));
    names.extend(of_gateway(effort).iter().map(Cell::name));
    names
}
