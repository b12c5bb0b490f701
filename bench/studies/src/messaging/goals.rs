//! What the gateway has to reach beside other brokers: demands on ratios, each of the rounds of one run.
//!
//! A demand is judged in every cell that it speaks of, and stands on the page with the worst of them. The decision
//! worth arguing: where one side of one cell is missing nothing is reached, but what falls short in another cell falls
//! short. The page takes a ratio as it stands, with its interval beside it, since few rounds have wide ones; the goals
//! of the run are undecided there.

use std::fmt::Write;

use super::cells::{Clients, State, Test, nodes};
use super::figures::Of;
use super::protocols::{PROTOCOLS, Protocol};
use weir_bench_lab::targets::dds::{CYCLONE, CYCLONE_AND_WEIR, RUSTDDS_ALONE};
use weir_bench_model::claims::all_hold;
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::ratios::name_of;
use weir_bench_model::results::{GoalResult, Ratio, Run};
use weir_bench_model::statistics::Estimate;
use weir_bench_report::page::{self, row};

const LATENCY: &str = "t_transfer_p50";
const RATE: &str = "message_rate";
const ALL: &[Clients] = &Clients::ALL;
const PROGRAMS: &[Clients] = &[Clients::NativeNative];
const TO_A_PAGE: &[Clients] = &[Clients::NativeBrowser];

/// What a ratio must be.
#[derive(Clone, Copy)]
enum Bound {
    /// No more than so much.
    Most(f64),
    /// So much.
    Least(f64),
}

/// By whose figure ours is divided.
#[derive(Clone, Copy)]
enum Against {
    /// One target's.
    One(&'static str),
    /// That of each broker of every other protocol.
    Brokers,
}

/// What is asked of one target.
struct Demand {
    protocol: &'static str,
    ours: &'static str,
    test: Test,
    clients: &'static [Clients],
    against: Against,
    bound: Bound,
}

/// In the order of the page.
const DEMANDS: [Demand; 8] = [
    latency_by_amqp("rabbitmq_amqp10"),
    latency_by_amqp("rabbitmq_amqp091"),
    rate_by_amqp("rabbitmq_amqp10"),
    rate_by_amqp("rabbitmq_amqp091"),
    rate_by_dds(RUSTDDS_ALONE),
    rate_by_dds("weir_dds"),
    latency_to_a_page("weir_dds"),
    latency_to_a_page(CYCLONE_AND_WEIR),
];

const fn latency_by_amqp(theirs: &'static str) -> Demand {
    Demand {
        protocol: "amqp10",
        ours: "weir_amqp10",
        test: Test::Transfer,
        clients: ALL,
        against: Against::One(theirs),
        bound: Bound::Most(1.0),
    }
}

const fn rate_by_amqp(theirs: &'static str) -> Demand {
    Demand {
        test: Test::PingPong,
        bound: Bound::Least(1.0),
        ..latency_by_amqp(theirs)
    }
}

/// Twice as long a way is half the rate.
const fn rate_by_dds(ours: &'static str) -> Demand {
    Demand {
        protocol: "dds",
        ours,
        test: Test::PingPong,
        clients: PROGRAMS,
        against: Against::One(CYCLONE),
        bound: Bound::Least(0.5),
    }
}

const fn latency_to_a_page(ours: &'static str) -> Demand {
    Demand {
        protocol: "dds",
        ours,
        test: Test::Transfer,
        clients: TO_A_PAGE,
        against: Against::Brokers,
        bound: Bound::Most(1.0),
    }
}

impl Bound {
    fn holds(self, ratio: f64) -> bool {
        match self {
            Self::Most(most) => ratio <= most,
            Self::Least(least) => ratio >= least,
        }
    }

    /// Whether a whole interval does, or nothing of it.
    fn holds_all(self, ratio: &Estimate) -> Option<bool> {
        match self {
            Self::Most(most) => ratio.is_at_most(most),
            Self::Least(least) => ratio.is_at_least(least),
        }
    }

    fn number(self) -> f64 {
        let (Self::Most(number) | Self::Least(number)) = self;
        number
    }

    fn words(self) -> &'static str {
        match self {
            Self::Most(_) => "at most",
            Self::Least(_) => "at least",
        }
    }

    /// The ratio that is furthest from what is asked.
    fn worst<'a>(self, ratios: impl IntoIterator<Item = &'a Ratio>) -> Option<&'a Ratio> {
        let by = |a: &&Ratio, b: &&Ratio| a.estimate.mean.total_cmp(&b.estimate.mean);
        match self {
            Self::Most(_) => ratios.into_iter().max_by(by),
            Self::Least(_) => ratios.into_iter().min_by(by),
        }
    }

    /// Whether noise may be all that lies between.
    fn is_within(self, ratio: &Ratio) -> bool {
        let (low, high) = (ratio.estimate.low, ratio.estimate.high);
        ratio.estimate.n < 2 || (low <= self.number() && self.number() <= high)
    }
}

/// A demand in one cell, or in several.
struct Judged<'a> {
    worst: Option<&'a Ratio>,
    holds: Option<bool>,
}

/// A demand in one cell, by means and by their intervals.
#[derive(Default)]
struct InCell<'a> {
    worst: Option<&'a Ratio>,
    holds: Option<bool>,
    holds_for_sure: Option<bool>,
    has_lost: bool,
}

impl Demand {
    fn figure(&self) -> &'static str {
        match self.test {
            Test::Transfer => LATENCY,
            Test::PingPong => RATE,
        }
    }

    fn against(&self) -> String {
        match self.against {
            Against::One(target) => target.into(),
            Against::Brokers => "every broker".into(),
        }
    }

    /// The cells between such clients.
    fn cells(&self, clients: Clients, effort: Effort) -> Vec<Of> {
        let Some(protocol) = Protocol::named(self.protocol) else {
            return Vec::new();
        };
        match self.test {
            Test::Transfer => {
                let nodes = nodes(effort).iter();
                let of = |&nodes| Of::transfer(protocol, clients, nodes);
                nodes.map(of).collect()
            }
            Test::PingPong => vec![Of::ping_pong(protocol, clients, State::Steady)],
        }
    }

    fn targets(&self) -> Vec<&'static str> {
        match self.against {
            Against::One(target) => vec![target],
            Against::Brokers => {
                let others = PROTOCOLS.iter().filter(|it| it.name != self.protocol);
                others.flat_map(|it| it.others).copied().collect()
            }
        }
    }

    fn in_cell<'a>(&self, run: &'a Run, of: &Of) -> InCell<'a> {
        let Some(ours) = of.result(run, self.ours) else {
            return InCell::default();
        };
        if ours.missed {
            return InCell {
                holds: Some(false),
                holds_for_sure: Some(false),
                ..InCell::default()
            };
        }
        let name = name_of(self.figure(), self.ours);
        let of_cell = |it: &&Ratio| it.cell == ours.cell && it.metric == name;
        let of_cell: Vec<&Ratio> = run.ratios.iter().filter(of_cell).collect();
        let mut targets = self.targets();
        targets.retain(|target| !falls_behind(run, target, &ours.cell));
        let against = |target: &&str| of_cell.iter().find(|it| it.target == **target).copied();
        let there: Vec<&Ratio> = targets.iter().filter_map(against).collect();
        // A figure that was bought with losses reaches nothing.
        let has_lost = ours.metrics.iter().any(|metric| metric.lost > 0);
        let is_whole = (!targets.is_empty() && there.len() == targets.len()).then_some(true);
        let all = |judge: &dyn Fn(&Estimate) -> Option<bool>| {
            let each = there.iter().map(|it| match has_lost {
                true => Some(false),
                false => judge(&it.estimate),
            });
            all_hold(each.chain([is_whole]))
        };
        InCell {
            holds: all(&|it| Some(self.bound.holds(it.mean))),
            holds_for_sure: all(&|it| self.bound.holds_all(it)),
            worst: self.bound.worst(there),
            has_lost,
        }
    }

    /// All cells between such clients together.
    fn between<'a>(&self, run: &'a Run, clients: Clients) -> Judged<'a> {
        let cells = self.cells(clients, effort(run));
        let cells: Vec<InCell<'_>> = cells.iter().map(|of| self.in_cell(run, of)).collect();
        Judged {
            worst: self.bound.worst(cells.iter().filter_map(|it| it.worst)),
            holds: all_hold(cells.iter().map(|it| it.holds)),
        }
    }

    fn goal(&self, run: &Run, of: &Of) -> Option<GoalResult> {
        let judged = self.in_cell(run, of);
        Some(GoalResult {
            cell: of.result(run, self.ours)?.cell.clone(),
            metric: format!("{} of {} / {}", self.figure(), self.ours, self.against()),
            asked: match judged.has_lost {
                true => format!("with nothing lost, {}", self.bound.words()),
                false => self.bound.words().into(),
            },
            bound: Some(self.bound.number()),
            measured: judged.worst.map(|it| it.estimate.mean),
            // Where a side is missing it is not undecided, but not measured.
            estimate: judged
                .worst
                .filter(|_| judged.holds.is_some())
                .map(|it| it.estimate),
            holds: judged.holds_for_sure,
        })
    }
}

/// Whether messages queue up behind a target in the cell of the same levels: it has no time to be held against.
fn falls_behind(run: &Run, target: &str, cell: &str) -> bool {
    let levels = |cell: &str| cell.split_once(';').map(|(_, levels)| levels.to_owned());
    let of_target = run
        .results
        .iter()
        .filter(|it| it.missed && it.target == target);
    let mut cells = of_target.map(|it| levels(&it.cell));
    cells.any(|of| of == levels(cell))
}

/// The effort of a run.
pub(super) fn effort(run: &Run) -> Effort {
    let all = [Effort::Quick, Effort::Full];
    let named = all.into_iter().find(|it| it.name() == run.effort);
    named.unwrap_or(Effort::Full)
}

/// Every demand in every cell in which ours was to be measured.
pub(super) fn of(run: &Run) -> Vec<GoalResult> {
    let each = DEMANDS
        .iter()
        .flat_map(|demand| demand.clients.iter().map(move |clients| (demand, *clients)));
    let each = each.flat_map(|(demand, clients)| {
        let cells = demand.cells(clients, effort(run)).into_iter();
        cells.filter_map(|of| demand.goal(run, &of))
    });
    each.collect()
}

const ABOUT: &str = "\n## Goals\n\nOurs divided by theirs, round by round in turns; of several numbers of nodes, and \
                     of several brokers, the worst. T_transfer by its median. Not measured is where one side of one \
                     cell was not, or not in the same run. \"Within noise\": the 95 % interval has the bound in it, \
                     or there was one round.\n\n";

/// The page's table: a row a demand and kind of clients.
pub(super) fn table(run: &Run, text: &mut String) {
    *text += ABOUT;
    let columns = [
        "figure", "of", "clients", "against", "asked", "worst", "interval", "where", "",
    ];
    page::head(&columns, text);
    for demand in &DEMANDS {
        for &clients in demand.clients {
            row(cells(demand, clients, &demand.between(run, clients)), text);
        }
    }
}

fn cells(demand: &Demand, clients: Clients, judged: &Judged<'_>) -> Vec<String> {
    let shown = |of: fn(&Ratio) -> String| judged.worst.map_or("-".into(), of);
    let bound = demand.bound;
    vec![
        demand.figure().into(),
        demand.ours.into(),
        clients.name().into(),
        demand.against(),
        format!("{} {}", bound.words(), number(bound.number())),
        shown(|it| number(it.estimate.mean)),
        shown(|it| it.estimate.interval()),
        shown(place),
        verdict(bound, judged),
    ]
}

/// Where the worst was: nodes, and beside whom.
fn place(ratio: &Ratio) -> String {
    let nodes = weir_bench_model::figure::slice::level(&ratio.cell, "nodes").unwrap_or("?");
    let mut text = format!("{nodes} node");
    if nodes != "1" {
        text.push('s');
    }
    let _ = write!(text, ", {}", ratio.target);
    text
}

fn verdict(bound: Bound, judged: &Judged<'_>) -> String {
    let words = match judged.holds {
        None => return "not measured".into(),
        Some(true) => "reached",
        Some(false) => "falls short",
    };
    match judged.worst.is_some_and(|worst| bound.is_within(worst)) {
        true => format!("{words}, within noise"),
        false => words.into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_model::results::{CellResult, Metric};

    /// A run of weir's cells of one kind, and ratios of them.
    fn run(cells: &[(&str, &str)], ratios: &[(&str, &str, &str, f64)]) -> Run {
        let result = |&(cell, target): &(&str, &str)| CellResult {
            cell: cell.into(),
            target: target.into(),
            ..CellResult::default()
        };
        let ratio = |&(cell, target, metric, mean): &(&str, &str, &str, f64)| Ratio {
            cell: cell.into(),
            target: target.into(),
            metric: metric.into(),
            estimate: Estimate {
                n: 4,
                mean,
                low: mean * 0.9,
                high: mean * 1.1,
            },
        };
        Run {
            effort: "quick".into(),
            results: cells.iter().map(result).collect(),
            ratios: ratios.iter().map(ratio).collect(),
            ..Run::default()
        }
    }

    fn line(run: &Run, start: &str) -> String {
        let mut text = String::new();
        table(run, &mut text);
        let found = text.lines().find(|line| line.starts_with(start));
        found.unwrap().to_owned()
    }

    const ONE: &str = "protocol=amqp10;test=transfer;clients=native-native;nodes=1;rate=50";
    const FIVE: &str = "protocol=amqp10;test=transfer;clients=native-native;nodes=5;rate=50";
    const OF_AMQP: &str =
        "| t_transfer_p50 | weir_amqp10 | native-native | rabbitmq_amqp091 | at most 1.00 ";

    #[test]
    fn of_all_numbers_of_nodes_the_worst_is_told_and_judged() {
        let cells = [(ONE, "weir_amqp10"), (FIVE, "weir_amqp10")];
        let rabbit = "rabbitmq_amqp091";
        let of = |one, five| {
            let ratios = [(ONE, rabbit, LATENCY, one), (FIVE, rabbit, LATENCY, five)];
            line(&run(&cells, &ratios), OF_AMQP)
        };
        let told = |line: String| line.strip_prefix(OF_AMQP).unwrap().to_owned();
        let expected = "| 0.800 | 0.720 to 0.880 | 5 nodes, rabbitmq_amqp091 | reached |";
        assert_eq!(told(of(0.5, 0.8)), expected);
        let expected = "| 1.20 | 1.08 to 1.32 | 1 node, rabbitmq_amqp091 | falls short |";
        assert_eq!(told(of(1.2, 0.8)), expected);
        assert!(of(0.5, 0.95).ends_with("| reached, within noise |"));
    }

    #[test]
    fn a_goal_within_noise_is_undecided_and_shown_with_its_interval() {
        let goal = |mean| {
            let ratio = (ONE, "rabbitmq_amqp091", LATENCY, mean);
            let run = run(&[(ONE, "weir_amqp10")], &[ratio]);
            let mut goals = of(&run).into_iter();
            goals
                .find(|it| it.metric.ends_with("/ rabbitmq_amqp091"))
                .unwrap()
        };
        assert_eq!(goal(0.95).verdict("reached"), "undecided");
        assert_eq!(goal(0.95).measured().unwrap(), "0.950 (0.855 to 1.04)");
        assert_eq!(goal(0.5).verdict("reached"), "reached");
        assert_eq!(goal(1.2).verdict("reached"), "falls short");
    }

    #[test]
    fn where_a_side_is_missing_nothing_is_reached() {
        let cells = [(ONE, "weir_amqp10"), (FIVE, "weir_amqp10")];
        let ratios = [(ONE, "rabbitmq_amqp091", LATENCY, 0.5)];
        let half = run(&cells, &ratios);
        assert!(line(&half, OF_AMQP).ends_with("| not measured |"));
        let goals = of(&half);
        let of_091: Vec<_> = goals
            .iter()
            .filter(|it| it.metric.ends_with("/ rabbitmq_amqp091"))
            .map(|it| (it.cell.as_str(), it.holds))
            .collect();
        assert_eq!(of_091, [(ONE, Some(true)), (FIVE, None)]);
        let nothing = Run::default();
        assert!(line(&nothing, OF_AMQP).ends_with("| - | - | - | not measured |"));
        assert!(of(&nothing).is_empty());
    }

    #[test]
    fn below_every_broker_needs_every_broker_and_one_that_is_faster_decides() {
        let cell = "protocol=dds;test=transfer;clients=native-browser;nodes=1;rate=50";
        let five = cell.replace("nodes=1", "nodes=5");
        let brokers = latency_to_a_page("weir_dds").targets();
        assert!(brokers.contains(&"mosquitto") && brokers.contains(&"prosody"));
        let cells = [(cell, "weir_dds"), (five.as_str(), "weir_dds")];
        let holds = |brokers: &[&str], slowest| {
            let ratios = brokers.iter().flat_map(|broker| {
                let of = |cell, ratio| (cell, *broker, LATENCY, ratio);
                [of(cell, 0.5), of(five.as_str(), slowest)]
            });
            let run = run(&cells, &ratios.collect::<Vec<_>>());
            latency_to_a_page("weir_dds")
                .between(&run, Clients::NativeBrowser)
                .holds
        };
        assert_eq!(holds(&brokers, 0.9), Some(true));
        assert_eq!(holds(&brokers[1..], 0.9), None);
        assert_eq!(holds(&brokers[1..], 1.1), Some(false));
    }

    #[test]
    fn a_broker_behind_which_messages_queue_up_is_left_out() {
        let cell = "protocol=dds;test=transfer;clients=native-browser;nodes=1;rate=50";
        let demand = latency_to_a_page("weir_dds");
        let brokers = demand.targets();
        let ratio = |broker: &&'static str| (cell, *broker, LATENCY, 0.5);
        let others = brokers.iter().filter(|it| **it != "mosquitto");
        let ratios: Vec<_> = others.map(ratio).collect();
        let mut run = run(&[(cell, "weir_dds")], &ratios);
        let of = Of::transfer(Protocol::named("dds").unwrap(), Clients::NativeBrowser, 1);
        assert_eq!(demand.in_cell(&run, &of).holds, None);
        run.results.push(CellResult {
            cell: cell.replace("dds", "mqtt"),
            target: "mosquitto".into(),
            missed: true,
            ..CellResult::default()
        });
        assert_eq!(demand.in_cell(&run, &of).holds, Some(true));
        let alone = latency_by_amqp("mosquitto");
        let alone = Demand {
            ours: "weir_dds",
            protocol: "dds",
            ..alone
        };
        assert_eq!(alone.in_cell(&run, &of).holds, None, "nobody is left");
        run.results[0].missed = true;
        assert_eq!(
            demand.in_cell(&run, &of).holds,
            Some(false),
            "ours does not keep up"
        );
    }

    #[test]
    fn half_of_cyclones_rate_is_within_two_times_and_losses_reach_nothing() {
        let cell = "protocol=dds;test=ping-pong;clients=native-native;nodes=1;broker=steady";
        let metric = "message_rate of rustdds";
        let mut run = run(&[(cell, "rustdds")], &[(cell, CYCLONE, metric, 0.6)]);
        let holds = |run: &Run| of(run).first().and_then(|goal| goal.holds);
        assert_eq!(holds(&run), Some(true));
        run.results[0].metrics.push(Metric {
            lost: 1,
            ..Metric::default()
        });
        assert_eq!(holds(&run), Some(false));
    }
}
