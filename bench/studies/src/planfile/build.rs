//! From what is written to cells: every combination of levels, and who takes part in it.

use std::path::Path;

use super::needs::Needs;
use super::{Fault, Many, Payload, Rate, Written};
use weir_bench_lab::guest::Guest;
use weir_bench_lab::targets::list::TARGETS;
use weir_bench_lab::targets::{Target, list};
use weir_bench_model::calendar::utc_now;
use weir_bench_model::cell::{Cell, Contender, LOCAL, Scheme, Work};
use weir_bench_model::limits::{
    PLAN_CELLS_MAX, PLAN_CONNECTIONS_MAX, PLAN_OBSERVATIONS_MAX, PLAN_ROUNDS_MAX, PLAN_SECONDS_MAX,
};
use weir_bench_model::own::Own;
use weir_bench_model::pace::Pace;

type Built = (Vec<Cell>, Vec<Guest>, Needs);

/// What all cells share.
struct Shared {
    own: Own,
    publishers: usize,
    rounds: usize,
    warm_up_ms: u64,
    measure_ms: u64,
}

/// One who takes part.
enum Party {
    Listed(&'static Target),
    Guest(Guest),
}

impl Party {
    fn name(&self) -> &'static str {
        match self {
            Self::Listed(target) => target.name,
            Self::Guest(guest) => guest.name,
        }
    }

    /// Whether it takes part in a cell of a scheme; without one, nobody subscribes.
    fn has(&self, scheme: Option<Scheme>) -> bool {
        match (self, scheme) {
            (_, None) => true,
            (Self::Listed(target), Some(scheme)) => (target.subscribe)(scheme, "x").is_some(),
            (Self::Guest(guest), Some(scheme)) => guest.answers_only() || guest.has(scheme),
        }
    }
}

/// All cells of a plan, those who take part by URL, and what is asked of everyone.
pub(super) fn build(written: Written, folder: &Path) -> Result<Built, Fault> {
    let shared = shared(&written, folder)?;
    let parties = parties(written.target)?;
    let schemes = schemes(written.delivery)?;
    let rates = rates(written.rate)?;
    let clients = clients(written.clients, schemes.is_empty())?;
    let links = written
        .link
        .map_or_else(|| vec![LOCAL.into()], Many::into_levels);
    let no_scheme = vec![None];
    let deliveries = match schemes.is_empty() {
        true => no_scheme,
        false => schemes.into_iter().map(Some).collect(),
    };
    let mut cells = Vec::new();
    for link in &links {
        for &scheme in &deliveries {
            for rate in &rates {
                for &clients in &clients {
                    cells.push(cell(&shared, &parties, (link, scheme, rate, clients))?);
                }
            }
        }
    }
    if cells.len() > PLAN_CELLS_MAX {
        return Err(Fault::new(
            "rate",
            format!("over {PLAN_CELLS_MAX} cells in all"),
        ));
    }
    idle(&parties, &deliveries)?;
    let guests = parties.into_iter().filter_map(|party| match party {
        Party::Guest(guest) => Some(guest),
        Party::Listed(_) => None,
    });
    Ok((cells, guests.collect(), written.needs))
}

fn shared(written: &Written, folder: &Path) -> Result<Shared, Fault> {
    let seconds = written.seconds.unwrap_or(3.0);
    if !(0.1..=PLAN_SECONDS_MAX).contains(&seconds) {
        return Err(Fault::new(
            "seconds",
            format!("from 0.1 to {PLAN_SECONDS_MAX}"),
        ));
    }
    let warm_up = written.warm_up.unwrap_or(0.5);
    if !(0.0..=PLAN_SECONDS_MAX).contains(&warm_up) {
        return Err(Fault::new(
            "warm_up",
            format!("from 0 to {PLAN_SECONDS_MAX}"),
        ));
    }
    let rounds = written.rounds.unwrap_or(3);
    if !(1..=PLAN_ROUNDS_MAX).contains(&rounds) {
        return Err(Fault::new("rounds", format!("from 1 to {PLAN_ROUNDS_MAX}")));
    }
    let publishers = written.publishers.unwrap_or(1);
    if !(1..=PLAN_CONNECTIONS_MAX).contains(&publishers) {
        return Err(Fault::new(
            "publishers",
            format!("from 1 to {PLAN_CONNECTIONS_MAX}"),
        ));
    }
    Ok(Shared {
        own: message(&written.payload, folder)?,
        publishers,
        rounds,
        warm_up_ms: (warm_up * 1e3) as u64,
        measure_ms: (seconds * 1e3) as u64,
    })
}

/// A file's text, or observations of one datastream.
fn message(payload: &Payload, folder: &Path) -> Result<Own, Fault> {
    let media_type = payload.media_type.as_deref().unwrap_or("application/json");
    let Some(file) = &payload.file else {
        let count = payload.observations.unwrap_or(1);
        if !(1..=PLAN_OBSERVATIONS_MAX).contains(&count) {
            let range = format!("from 1 to {PLAN_OBSERVATIONS_MAX}");
            return Err(Fault::new("observations", range));
        }
        return Own::new(&described(count), media_type)
            .map_err(|reason| Fault::new("observations", reason));
    };
    if payload.observations.is_some() {
        return Err(Fault::new("observations", "the file says how many"));
    }
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|e| Fault::new("file", format!("{}: {e}", path.display())))?;
    Own::new(&text, media_type)
        .map_err(|reason| Fault::new("file", format!("{}: {reason}", path.display())))
}

/// The day is today's; the time within it is written anew into each message.
fn described(count: usize) -> String {
    let today = utc_now();
    let date = today.split('T').next().unwrap_or_default();
    let time = weir_bench_load::load::message::TIME_BLANK;
    let one =
        format!(r#"{{"type":"temperature","value":21.5,"unit":"Cel","time":"{date}T{time}Z"}}"#);
    format!(r#"{{"observations":[{}]}}"#, vec![one; count].join(","))
}

fn parties(targets: Many<String>) -> Result<Vec<Party>, Fault> {
    let party = |name: &String| {
        if Guest::is_url(name) {
            let guest = Guest::of(name).map_err(|reason| Fault::new("target", reason))?;
            return Ok(Party::Guest(guest));
        }
        let known = || {
            TARGETS
                .iter()
                .map(|t| t.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let unknown = || {
            Fault::new(
                "target",
                format!("no {name:?}; there is {}, or a URL", known()),
            )
        };
        list::named(name).map(Party::Listed).ok_or_else(unknown)
    };
    let parties: Result<Vec<Party>, Fault> = targets.into_levels().iter().map(party).collect();
    match parties {
        Ok(parties) if parties.is_empty() => Err(Fault::new("target", "at least one")),
        parties => parties,
    }
}

fn schemes(delivery: Option<Many<String>>) -> Result<Vec<Scheme>, Fault> {
    let scheme = |name: String| {
        let known = || Scheme::ALL.map(Scheme::name).join(", ");
        let found = Scheme::ALL.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| Fault::new("delivery", format!("no {name:?}; there is {}", known())))
    };
    let levels = delivery.map_or_else(Vec::new, Many::into_levels);
    levels.into_iter().map(scheme).collect()
}

/// Messages a second; `None` is the most there is.
fn rates(rate: Option<Many<Rate>>) -> Result<Vec<Option<f64>>, Fault> {
    let level = |rate| match rate {
        Rate::Fixed(rate) if rate > 0.0 && rate <= 1e6 => Ok(Some(rate)),
        Rate::Word(word) if word == "max" => Ok(None),
        _ => Err(Fault::new(
            "rate",
            "above 0 to 1000000 messages a second, or \"max\"",
        )),
    };
    let levels = rate.map_or_else(|| vec![Rate::Fixed(100.0)], Many::into_levels);
    levels.into_iter().map(level).collect()
}

fn clients(clients: Option<Many<usize>>, nobody_subscribes: bool) -> Result<Vec<usize>, Fault> {
    match clients {
        Some(_) if nobody_subscribes => Err(Fault::new("clients", "subscribe by a `delivery`")),
        None if nobody_subscribes => Ok(vec![0]),
        clients => {
            let levels = clients.map_or_else(|| vec![1], Many::into_levels);
            match levels
                .iter()
                .all(|n| (1..=PLAN_CONNECTIONS_MAX).contains(n))
            {
                true => Ok(levels),
                false => Err(Fault::new(
                    "clients",
                    format!("from 1 to {PLAN_CONNECTIONS_MAX}"),
                )),
            }
        }
    }
}

type Levels<'a> = (&'a String, Option<Scheme>, &'a Option<f64>, usize);

fn cell(
    shared: &Shared,
    parties: &[Party],
    (link, scheme, rate, clients): Levels<'_>,
) -> Result<Cell, Fault> {
    if link.contains(';') {
        return Err(Fault::new("link", "no semicolon, which separates factors"));
    }
    let takes_part = parties.iter().filter(|party| party.has(scheme));
    let contenders: Vec<Contender> = takes_part
        .map(|party| Contender {
            target: party.name(),
            scheme,
        })
        .collect();
    let mut factors = vec![("link", link.clone())];
    factors.extend(scheme.map(|scheme| ("delivery", scheme.name().into())));
    factors.push(("payload", shared.own.text.len().to_string()));
    factors.push(("clients", clients.to_string()));
    factors.push(("rate", rate.map_or("max".into(), |rate| rate.to_string())));
    Ok(Cell {
        factors,
        work: Work::Own {
            own: shared.own,
            publishers: shared.publishers,
            subscribers: clients,
            pace: shared.pace(*rate, clients),
        },
        contenders,
        rounds: shared.rounds,
        goals: Vec::new(),
    })
}

impl Shared {
    fn pace(&self, rate: Option<f64>, clients: usize) -> Pace {
        let (warm_up_ms, measure_ms) = (self.warm_up_ms, self.measure_ms);
        match rate {
            Some(rate) => Pace::Open {
                rate,
                warm_up_ms,
                measure_ms,
            },
            None if clients == 0 => Pace::Window {
                outstanding: 16,
                warm_up_ms,
                measure_ms,
            },
            None => Pace::Search {
                start_rate: (10_000.0 / clients as f64).clamp(5.0, 1000.0),
                trial_ms: (measure_ms / 5).max(200),
                measure_ms,
                p99_ms_max: 1000.0,
            },
        }
    }
}

/// Says who takes part nowhere, and which delivery nobody has.
fn idle(parties: &[Party], deliveries: &[Option<Scheme>]) -> Result<(), Fault> {
    let nowhere = parties
        .iter()
        .find(|p| !deliveries.iter().any(|&d| p.has(d)));
    if let Some(party) = nowhere {
        let reason = format!("{} has none of the deliveries", party.name());
        return Err(Fault::new("target", reason));
    }
    let nobody = deliveries
        .iter()
        .flatten()
        .find(|d| !parties.iter().any(|p| p.has(Some(**d))));
    match nobody {
        Some(scheme) => Err(Fault::new(
            "delivery",
            format!("no target has {}", scheme.name()),
        )),
        None => Ok(()),
    }
}
