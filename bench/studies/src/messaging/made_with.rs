//! What a run was made with, beside what the paper was, and what it knows of and did not measure.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cells::{Scale, Setting, State, Test, settings};
use super::goals::effort;
use weir_bench_model::figure::slice::level;
use weir_bench_model::number::number;
use weir_bench_model::results::Run;

/// Messages a second, and seconds to and fro, of the paper.
const PUBLISHED_RATE: f64 = 1.0;
const PUBLISHED_SECONDS: f64 = 100.0;
/// Messages longer than 4 kB that Mosquitto's WebSocket passes in a second.
const MOSQUITTO_RATE_MAX: f64 = 10.0;

/// A paragraph: rate and rounds, and what follows where they are not the published ones.
pub(super) fn paragraph(run: &Run, text: &mut String) {
    let scale = Scale::of(effort(run));
    let rates = rates(run);
    if let Some(rounds) = rounds(run, "t_transfer") {
        let _ = write!(
            text,
            "\nT_transfer is of {} messages in {} rounds, {} a second; published are 100 at one a \
             second.",
            span(rounds.map(|rounds| (rounds * scale.messages).to_string())),
            span(rounds.map(|rounds| rounds.to_string())),
            rates.iter().copied().collect::<Vec<_>>().join(" and ")
        );
        *text += &of_rate(&rates);
    }
    if let Some(rounds) = rounds(run, "message_rate") {
        let seconds = rounds.map(|rounds| rounds as f64 * scale.measure.as_secs_f64());
        let _ = write!(
            text,
            "\nMessages went to and fro for {} s in {} rounds; published are 100 s.",
            span(seconds.map(number)),
            span(rounds.map(|rounds| rounds.to_string()))
        );
        if seconds[0] < PUBLISHED_SECONDS {
            *text += " Less time is the same load; its intervals are wider.";
        }
    }
    *text += "\n";
}

/// Messages a second of T_transfer, as cells say them.
fn rates(run: &Run) -> BTreeSet<&str> {
    let cells = run.results.iter();
    cells
        .filter_map(|result| level(&result.cell, "rate"))
        .collect()
}

/// What a rate of the reader's own does to the figures.
fn of_rate(rates: &BTreeSet<&str>) -> String {
    let is_above = |least| {
        let mut rates = rates.iter().filter_map(|rate| rate.parse::<f64>().ok());
        rates.any(|rate| rate > least)
    };
    let mut text = String::new();
    if is_above(PUBLISHED_RATE) {
        text +=
            " Processors sleep less between two messages then, and the same way takes less time.";
    }
    if is_above(MOSQUITTO_RATE_MAX) {
        text += " Mosquitto's WebSocket passes at most ten a second that are longer than 4 kB: where \
                 more are sent, its T_transfer from three nodes on is that of a queue that grows, and \
                 not what a message takes at one a second.";
    }
    text
}

/// The rounds of the metric, at least and at most; right after a broker's start there are fewer, which is said there.
fn rounds(run: &Run, metric: &str) -> Option<[usize; 2]> {
    let cells = run.results.iter();
    let cells = cells.filter(|it| level(&it.cell, "broker") != Some(State::Started.name()));
    let rounds = cells.filter_map(|it| Some(it.metric(metric)?.rounds.len()));
    let rounds: BTreeSet<usize> = rounds.collect();
    Some([*rounds.first()?, *rounds.last()?])
}

/// From least to most, where they differ.
fn span([least, most]: [String; 2]) -> String {
    match least == most {
        true => most,
        false => format!("{least} to {most}"),
    }
}

/// Every combination that the experiment knows and that the run has no row of, by broker.
pub(super) fn lacking(run: &Run, text: &mut String) {
    let all = settings(effort(run), None);
    let mut lines = Vec::new();
    for protocol in super::protocols::PROTOCOLS {
        let cells = || all.iter().filter(|it| it.protocol.name == protocol.name);
        for broker in protocol.brokers(false) {
            let missing: Vec<&Setting> = cells().filter(|it| !has(run, it, broker)).collect();
            if !missing.is_empty() {
                let count = missing.len();
                let of = cells().count();
                let words = match count == of {
                    true => "all".to_owned(),
                    false => in_words(&missing),
                };
                lines.push(format!("- {broker}: {count} of {of} cells: {words}\n"));
            }
        }
    }
    if !lines.is_empty() {
        *text += "\n## In no part of this run\n\n";
        text.extend(lines);
    }
}

/// Whether the run has the row, whatever its rate and whether there are figures in it.
fn has(run: &Run, setting: &Setting, broker: &str) -> bool {
    setting.of().result(run, broker).is_some()
}

/// What is missing: test, clients and nodes, those of one kind together.
fn in_words(missing: &[&Setting]) -> String {
    let kind = |it: &Setting| match it.test {
        Test::Transfer => format!("T_transfer {}", it.clients.name()),
        Test::PingPong => format!("to and fro {}, {}", it.clients.name(), it.state.name()),
    };
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for it in missing {
        let (name, nodes) = (kind(it), it.nodes.to_string());
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(nodes),
            None => kinds.push((name, vec![nodes])),
        }
    }
    let each = kinds.into_iter().map(|(name, nodes)| {
        let word = if nodes == ["1"] { "node" } else { "nodes" };
        format!("{name} ({} {word})", nodes.join(", "))
    });
    each.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::{CellResult, Figures, Metric};

    fn result(cell: &str, target: &str, metric: &str, rounds: usize) -> CellResult {
        let round = |round| Figures {
            round,
            mean: 1.0,
            p50: 1.0,
            p99: 1.0,
        };
        CellResult {
            cell: cell.into(),
            target: target.into(),
            metrics: vec![Metric {
                metric: metric.into(),
                rounds: (0..rounds).map(round).collect(),
                ..Metric::default()
            }],
            ..CellResult::default()
        }
    }

    fn of(results: Vec<CellResult>) -> Run {
        Run {
            effort: "full".into(),
            results,
            ..Run::default()
        }
    }

    fn told(write: fn(&Run, &mut String), run: &Run) -> String {
        let mut text = String::new();
        write(run, &mut text);
        text
    }

    const TRANSFER: &str = "protocol=mqtt;test=transfer;clients=native-browser;nodes=3;rate=";
    const RATE: &str = "protocol=mqtt;test=ping-pong;clients=native-native;nodes=1;broker=steady";

    #[test]
    fn a_run_at_a_rate_of_ones_own_says_so_and_what_it_does() {
        let at = |rate: &str, rounds| {
            let cell = format!("{TRANSFER}{rate}");
            let transfer = result(&cell, "mosquitto", "t_transfer", rounds);
            told(
                paragraph,
                &of(vec![
                    transfer,
                    result(RATE, "weir_mqtt", "message_rate", rounds),
                ]),
            )
        };
        let fast = at("25", 2);
        assert!(
            fast.contains("50 messages in 2 rounds, 25 a second"),
            "{fast}"
        );
        assert!(fast.contains("that of a queue that grows") && fast.contains("50.0 s in 2 rounds"));
        let published = at("1", 4);
        let words = "100 messages in 4 rounds, 1 a second";
        assert!(published.contains(words) && published.contains("100 s in 4 rounds"));
        assert!(!published.contains("Mosquitto") && !published.contains("wider"));
    }

    #[test]
    fn where_parts_of_a_run_had_other_rounds_both_are_said_but_not_of_a_broker_just_started() {
        let [steady, started] = ["steady", "started"].map(|state| RATE.replace("steady", state));
        let rate = |cell: &str, rounds| result(cell, "rabbitmq", "message_rate", rounds);
        let transfer = |rounds| result(&format!("{TRANSFER}8"), "rabbitmq", "t_transfer", rounds);
        let run = of(vec![
            rate(&steady, 2),
            rate(&steady, 4),
            rate(&started, 1),
            transfer(2),
            transfer(4),
        ]);
        let text = told(paragraph, &run);
        assert!(
            text.contains("50 to 100 messages in 2 to 4 rounds, 8 a second"),
            "{text}"
        );
        assert!(text.contains("50.0 to 100 s in 2 to 4 rounds"), "{text}");
    }

    #[test]
    fn what_the_experiment_knows_and_the_run_lacks_is_listed() {
        let all = settings(weir_bench_model::effort::Effort::Full, Some(25.0));
        let dds = all.iter().filter(|it| it.protocol.name == "dds");
        let is_left_out = |it: &&Setting| {
            it.test == Test::PingPong || (it.nodes, it.clients.browsers()) == (2, 0)
        };
        let there = dds.filter(|it| !is_left_out(it));
        let there = there.map(|it| result(&it.name(), "cyclone_weir", "t_transfer", 1));
        let text = told(lacking, &of(there.collect()));
        let line = text.lines().find(|it| it.starts_with("- cyclone_weir: "));
        let kinds = ["native-native", "native-browser", "browser-browser"];
        let pingpong = ["steady", "started"].map(|state| {
            let of = kinds.map(|clients| format!("; to and fro {clients}, {state} (1 node)"));
            of.concat()
        });
        let expected = format!(
            "- cyclone_weir: 7 of 21 cells: T_transfer native-native (2 nodes){}",
            pingpong.concat()
        );
        assert_eq!(line, Some(expected.as_str()));
        assert!(
            text.contains("- mosquitto: 21 of 21 cells: all\n"),
            "{text}"
        );
        assert!(told(lacking, &Run::default()).contains("- rabbitmq_amqp091: 21 of 21"));
    }
}
