//! Who is divided by whom, in the rounds that they took in turns.
//!
//! The decision worth arguing: AMQP 1.0 by the gateway is divided by RabbitMQ's 0.9.1, too, which is what RabbitMQ's
//! clients speak; and what a DDS writer sends to a page by every broker's. Their cells agree in all but the protocol.

use super::cells::{Clients, Test};
use weir_bench_lab::targets::dds::{CYCLONE, CYCLONE_AND_WEIR, RUSTDDS_ALONE};
use weir_bench_model::ratios::{self, Compared};
use weir_bench_model::results::{CellResult, Ratio, is_ours};

/// What is compared, by metric and figure.
const COMPARED: [Compared; 5] = [
    ("t_transfer", "t_transfer_p50", |round| round.p50),
    ("t_transfer", "t_transfer_mean", |round| round.mean),
    ("message_rate", "message_rate", |round| round.mean),
    ("server_cpu", "server_cpu", |round| round.mean),
    ("server_memory_peak", "server_memory_peak", |round| {
        round.mean
    }),
];

/// All ratios, in the order of the results.
pub(super) fn ratios(results: &[CellResult]) -> Vec<Ratio> {
    ratios::of_pairs(results, &COMPARED, are_compared)
}

/// Whether the first is divided by the second; a time of messages that queue up is a quotient of nothing.
fn are_compared(ours: &CellResult, theirs: &CellResult) -> bool {
    if ours.missed || theirs.missed {
        return false;
    }
    let (Some((protocol, levels)), Some((other, same))) = (parts(&ours.cell), parts(&theirs.cell))
    else {
        return false;
    };
    let is_across = || match protocol {
        "amqp10" => is_ours(&ours.target) && other == "amqp091",
        "dds" => is_from_weir(&ours.target) && is_one_way_to_a_page(levels),
        _ => false,
    };
    let is_beside = || match ours.target.as_str() {
        RUSTDDS_ALONE => theirs.target == CYCLONE,
        target => is_ours(target),
    };
    levels == same
        && !is_ours(&theirs.target)
        && match protocol == other {
            true => is_beside(),
            false => is_across(),
        }
}

/// The protocol of a cell, and the levels of its other factors.
fn parts(cell: &str) -> Option<(&str, &str)> {
    cell.strip_prefix("protocol=")?.split_once(';')
}

/// Whether pages have by the gateway what is written.
fn is_from_weir(target: &str) -> bool {
    is_ours(target) || target == CYCLONE_AND_WEIR
}

fn is_one_way_to_a_page(levels: &str) -> bool {
    let start = format!(
        "test={};clients={};",
        Test::Transfer.name(),
        Clients::NativeBrowser.name()
    );
    levels.starts_with(&start)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_model::results::{Figures, Metric};

    fn result(cell: &str, target: &str, metric: &str, rounds: [f64; 2]) -> CellResult {
        let round = |(round, value): (usize, f64)| Figures {
            round,
            mean: value,
            p50: value,
            p99: value,
        };
        let metric = Metric {
            metric: metric.into(),
            rounds: rounds.into_iter().enumerate().map(round).collect(),
            ..Metric::default()
        };
        CellResult {
            cell: cell.into(),
            target: target.into(),
            metrics: vec![metric],
            ..CellResult::default()
        }
    }

    fn told(results: &[CellResult]) -> Vec<(String, String, f64)> {
        let all = ratios(results).into_iter();
        all.map(|it| (it.target, it.metric, it.estimate.mean))
            .collect()
    }

    #[test]
    fn amqp_10_is_divided_by_091_of_the_same_levels_and_no_other_protocol_is() {
        let rate = |protocol: &str, target: &str, rounds| {
            let cell = format!("protocol={protocol};test=ping-pong;clients=native-native;nodes=1");
            result(&cell, target, "message_rate", rounds)
        };
        let mut elsewhere = rate("amqp091", "qpid_amqp091", [1.0, 1.0]);
        elsewhere.cell = elsewhere.cell.replace("nodes=1", "nodes=2");
        let all = [
            rate("mqtt", "weir_mqtt", [4.0, 4.0]),
            rate("amqp091", "rabbitmq_amqp091", [1.0, 10.0]),
            elsewhere,
            rate("amqp10", "weir_amqp10", [2.0, 20.0]),
        ];
        let expected = ("rabbitmq_amqp091".to_owned(), "message_rate".to_owned());
        let [(target, metric, mean)] = &told(&all)[..] else {
            panic!("{:?}", told(&all));
        };
        assert_eq!((target, metric), (&expected.0, &expected.1));
        assert!((mean - 2.0).abs() < 1e-9);
    }

    #[test]
    fn what_a_dds_writer_sends_to_a_page_is_divided_by_every_brokers_and_says_whose_it_is() {
        let time = |protocol: &str, clients: &str, target: &str, ms| {
            let cell =
                format!("protocol={protocol};test=transfer;clients={clients};nodes=1;rate=1");
            result(&cell, target, "t_transfer", [ms, ms])
        };
        let page = "native-browser";
        let all = [
            time("mqtt", page, "weir_mqtt", 1.0),
            time("mqtt", page, "mosquitto", 4.0),
            time("dds", page, CYCLONE_AND_WEIR, 2.0),
            time("dds", "native-native", "weir_dds", 1.0),
            time("mqtt", "native-native", "mosquitto", 1.0),
        ];
        let of_dds: Vec<_> = told(&all)
            .into_iter()
            .filter(|(_, metric, _)| metric.ends_with(" of cyclone_weir"))
            .collect();
        let half = |figure: &str| {
            let metric = format!("t_transfer_{figure} of cyclone_weir");
            ("mosquitto".to_owned(), metric, 0.5)
        };
        assert_eq!(of_dds, [half("p50"), half("mean")]);
        // Beside MQTT's own.
        assert_eq!(told(&all).len(), 2 + 2);
    }
}
