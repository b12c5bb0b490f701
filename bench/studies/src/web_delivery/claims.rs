//! What paper 000 claims of delivery and encoding, judged by a run.
//!
//! Judged on this machine without a link and at full speed, on means as the paper's tables give them,
//! and among the combinations that the claim speaks of. Means are compared by their intervals: a fastest
//! one is one whose interval lies below every other's, and where they meet, nothing is said. A total is
//! the paper's, which ends with the canvas drawn.

use super::cells::{DELIVERIES, OF_HTML5, OF_THE_PAPER};
use super::figures::{Figures, here};
use super::plots::words;
use weir_bench_model::claims::{all_hold, judged};
use weir_bench_model::number::number;
use weir_bench_model::results::{ClaimResult, Run};
use weir_bench_model::statistics::Estimate;

/// What the HTML5 application of the paper spoke.
const HTML5: [&str; 2] = ["long-polling", "websocket"];
/// Of how many nodes.
const NODES: [usize; 2] = [1, 5];
/// What of the paper's schemes and formats lives on.
const ALL: [&str; 3] = ["long-polling", "streaming", "websocket"];

/// The paper's total.
const TOTAL: &str = "t_total_drawn";
/// In microseconds.
const ONE_MS: f64 = 1000.0;

/// A verdict and the number that it rests on.
type Verdict = (Option<bool>, String);
/// How the figures are asked for it.
type Judge = fn(&Figures<'_>) -> Verdict;
type Combination = (&'static str, &'static str);

/// A claim's name in the list, and how it is judged.
const CLAIMS: [(&str, Judge); 9] = [
    ("babovic-json-websocket-fastest", |f| {
        fastest(f, ("websocket", "json"), &HTML5, &OF_HTML5)
    }),
    ("babovic-websocket-beats-long-polling", beats_long_polling),
    ("babovic-encoding-outweighs-protocol", outweighs),
    ("babovic-canvas-under-1-ms", canvas),
    ("babovic-json-fastest-any-protocol", |f| {
        let of = |delivery| fastest(f, (delivery, "json"), &[delivery], &OF_HTML5);
        together(HTML5.map(of))
    }),
    ("babovic-websocket-10-kb", large_messages),
    ("babovic-amf-beats-xml", amf_beats_xml),
    ("babovic-streaming-amf-fastest", |f| {
        fastest(f, ("streaming", "amf3"), &ALL, &OF_THE_PAPER)
    }),
    ("babovic-soap-slowest", soap),
];

/// Judges every claim.
pub(super) fn judge(run: &Run) -> Vec<ClaimResult> {
    let figures = Figures(&run.results);
    let all = CLAIMS.iter();
    all.map(|(id, judge)| {
        let (holds, number) = judge(&figures);
        judged(id, holds, number)
    })
    .collect()
}

fn unmeasured() -> Verdict {
    (None, "not measured in this run".into())
}

/// What the parts of a claim say together, of which those are left out that were not measured.
fn together(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let (holds, words): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    match holds.is_empty() {
        true => unmeasured(),
        false => (all_hold(holds), words.join("; ")),
    }
}

fn ms(us: f64) -> String {
    format!("{} ms", number(us / 1e3))
}

/// Whether a combination has the least T_total of some, at one and at five nodes.
fn fastest(
    f: &Figures<'_>,
    wanted: Combination,
    deliveries: &[&'static str],
    formats: &[&'static str],
) -> Verdict {
    let of_nodes = NODES.map(|nodes| fastest_of(f, wanted, deliveries, formats, nodes));
    together(of_nodes.into_iter().flatten())
}

fn fastest_of(
    f: &Figures<'_>,
    wanted @ (delivery, format): Combination,
    deliveries: &[&'static str],
    formats: &[&'static str],
    nodes: usize,
) -> Option<Verdict> {
    let own = f.estimate(&here(delivery, format, nodes), TOTAL)?;
    let all = deliveries
        .iter()
        .flat_map(|&delivery| formats.iter().map(move |&format| (delivery, format)));
    let all: Vec<(Combination, Estimate)> = all
        .filter_map(|it| Some((it, f.estimate(&here(it.0, it.1, nodes), TOTAL)?)))
        .collect();
    let others = all.iter().filter(|(it, _)| *it != wanted);
    let holds = all_hold(others.map(|(_, other)| own.is_below(other)));
    let best = all.iter().min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
    let words = format!(
        "{}: {format} by {delivery} {}, the least of {} is {} by {} {}{}",
        words(nodes),
        ms(own.mean),
        all.len(),
        best.0.1,
        best.0.0,
        ms(best.1.mean),
        doubt(holds)
    );
    (all.len() > 1).then_some((holds, words))
}

/// What is said behind figures that do not decide.
fn doubt(holds: Option<bool>) -> &'static str {
    match holds {
        Some(_) => "",
        None => ", undecided",
    }
}

fn beats_long_polling(f: &Figures<'_>) -> Verdict {
    let (mut differences, mut verdicts) = (Vec::new(), Vec::new());
    for nodes in NODES {
        for format in OF_HTML5 {
            let of = |delivery| f.estimate(&here(delivery, format, nodes), "t_transmit");
            if let [Some(polled), Some(pushed)] = HTML5.map(of) {
                differences.push((polled.mean - pushed.mean) / 1e3);
                let is_within = polled.is_below(&pushed.plus(ONE_MS));
                verdicts.extend([pushed.is_below(&polled), is_within]);
            }
        }
    }
    let Some((least, most)) = ends(&differences) else {
        return unmeasured();
    };
    let holds = all_hold(verdicts);
    let words = format!(
        "long polling takes {} to {} ms longer, {} pairs{}",
        number(least),
        number(most),
        differences.len(),
        doubt(holds)
    );
    (holds, words)
}

/// How far means lie apart, over formats of a scheme and over schemes of a format.
fn outweighs(f: &Figures<'_>) -> Verdict {
    let total = |delivery, format, nodes| f.estimate(&here(delivery, format, nodes), TOTAL);
    let (mut formats, mut schemes) = (Vec::new(), Vec::new());
    for nodes in NODES {
        for delivery in HTML5 {
            let of = OF_HTML5.iter();
            let of = of.filter_map(|format| total(delivery, format, nodes));
            formats.extend(spread(&of.collect::<Vec<_>>()));
        }
        for format in OF_HTML5 {
            let of = HTML5.iter();
            let of = of.filter_map(|delivery| total(delivery, format, nodes));
            schemes.extend(spread(&of.collect::<Vec<_>>()));
        }
    }
    let (Some(by_format), Some(by_scheme)) = (middle(&formats), middle(&schemes)) else {
        return unmeasured();
    };
    let holds = by_scheme.is_below(&by_format);
    let words = format!(
        "formats of a scheme lie {} apart, schemes of a format {}{}",
        ms(by_format.mean),
        ms(by_scheme.mean),
        doubt(holds)
    );
    (holds, words)
}

fn canvas(f: &Figures<'_>) -> Verdict {
    let mut drawn = Vec::new();
    for nodes in NODES {
        for delivery in DELIVERIES {
            let of = |format| f.mean(&here(delivery, format, nodes), "t_draw");
            drawn.extend(OF_THE_PAPER.iter().filter_map(|format| of(format)));
        }
    }
    match ends(&drawn) {
        Some((one, _)) if drawn.len() == 1 => {
            (Some(one < 1000.0), format!("{} in one cell", ms(one)))
        }
        Some((least, most)) => (
            Some(most < 1000.0),
            format!("{} to {} in {} cells", ms(least), ms(most), drawn.len()),
        ),
        None => unmeasured(),
    }
}

/// The paper's framework took no messages of more than 10 KB.
fn large_messages(f: &Figures<'_>) -> Verdict {
    let of = |format| {
        let setting = here("websocket", format, 50);
        let size = f.mean(&here("websocket", format, 5), "payload");
        Some((format, f.mean(&setting, "payload").or(size)?))
    };
    let sizes = super::cells::FORMATS.into_iter().filter_map(of);
    match sizes.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((format, size)) if size > 10_240.0 => (
            Some(false),
            format!("{} characters of {format} came by WebSocket", number(size)),
        ),
        _ => (None, "no message was as long in this run".into()),
    }
}

fn amf_beats_xml(f: &Figures<'_>) -> Verdict {
    let (mut ratios, mut verdicts) = (Vec::new(), Vec::new());
    for nodes in NODES {
        for delivery in ALL {
            let of = |format| f.estimate(&here(delivery, format, nodes), TOTAL);
            if let [Some(amf), Some(xml)] = ["amf3", "xml"].map(of) {
                ratios.push(amf.mean / xml.mean);
                verdicts.push(amf.is_below(&xml));
            }
        }
    }
    let Some((least, most)) = ends(&ratios) else {
        return unmeasured();
    };
    let (holds, least, most) = (all_hold(verdicts), number(least), number(most));
    let words = format!("AMF takes {least} to {most} of XML's{}", doubt(holds));
    (holds, words)
}

/// Largest, and slowest by both schemes that it came by.
fn soap(f: &Figures<'_>) -> Verdict {
    let parts = [("largest", "payload"), ("slowest", TOTAL)].map(|(what, metric)| {
        let cells = soap_exceeds(f, metric);
        let count = cells.len();
        let holds = all_hold(cells);
        let said = match holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        };
        (count > 0).then_some((holds, format!("{what} in all of {count} cells: {said}")))
    });
    match parts {
        [Some(largest), Some(slowest)] => together([largest, slowest]),
        _ => unmeasured(),
    }
}

/// Whether SOAP has more of a metric than every other format, cell by cell.
fn soap_exceeds(f: &Figures<'_>, metric: &str) -> Vec<Option<bool>> {
    let mut cells = Vec::new();
    for nodes in NODES {
        for delivery in HTML5 {
            let of = |format| f.estimate(&here(delivery, format, nodes), metric);
            let rest = OF_THE_PAPER.iter().filter(|format| **format != "soap");
            let others: Vec<Estimate> = rest.filter_map(|format| of(format)).collect();
            if let (Some(soap), false) = (of("soap"), others.is_empty()) {
                cells.push(all_hold(others.iter().map(|other| other.is_below(&soap))));
            }
        }
    }
    cells
}

fn ends(all: &[f64]) -> Option<(f64, f64)> {
    let least = all.iter().copied().reduce(f64::min)?;
    let most = all.iter().copied().reduce(f64::max)?;
    Some((least, most))
}

/// How far apart the least and the greatest lie; at least, and at most, by their intervals.
fn spread(all: &[Estimate]) -> Option<Estimate> {
    let of = |figure: fn(&Estimate) -> f64| ends(&all.iter().map(figure).collect::<Vec<_>>());
    let (lows, means, highs) = (of(|it| it.low)?, of(|it| it.mean)?, of(|it| it.high)?);
    (all.len() > 1).then_some(Estimate {
        n: rounds(all),
        mean: means.1 - means.0,
        low: (lows.1 - highs.0).max(0.0),
        high: highs.1 - lows.0,
    })
}

/// The mean of several, end by end.
fn middle(all: &[Estimate]) -> Option<Estimate> {
    let mean =
        |figure: fn(&Estimate) -> f64| all.iter().map(figure).sum::<f64>() / all.len() as f64;
    (!all.is_empty()).then(|| Estimate {
        n: rounds(all),
        mean: mean(|it| it.mean),
        low: mean(|it| it.low),
        high: mean(|it| it.high),
    })
}

/// Rounds that each has.
fn rounds(all: &[Estimate]) -> u64 {
    all.iter().map(|it| it.n).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_model::results::{CellResult, Metric};

    /// A run in which every cell took so long, in each of two rounds.
    fn run(us: impl Fn(&str, &str, usize) -> f64) -> Run {
        run_of(|delivery, format, nodes| [us(delivery, format, nodes); 2])
    }

    /// A run in which every cell took so long in its rounds.
    fn run_of<const N: usize>(us: impl Fn(&str, &str, usize) -> [f64; N]) -> Run {
        let mut run = Run::default();
        for nodes in NODES {
            for delivery in ALL {
                for format in OF_THE_PAPER {
                    let us = us(delivery, format, nodes);
                    let metric = |name: &str| Metric {
                        metric: name.into(),
                        estimate: Estimate::of(&us).unwrap(),
                        ..Metric::default()
                    };
                    run.results.push(CellResult {
                        cell: here(delivery, format, nodes).name(),
                        target: weir_bench_model::results::OURS.into(),
                        status: "ok".into(),
                        metrics: [TOTAL, "t_transmit", "payload"].map(metric).into(),
                        ..CellResult::default()
                    });
                }
            }
        }
        run
    }

    fn verdict(run: &Run, id: &str) -> Option<bool> {
        let index = CLAIMS.iter().position(|(name, _)| *name == id).unwrap();
        judge(run)[index].holds
    }

    #[test]
    fn the_fastest_is_the_one_that_lies_below_every_other() {
        let json = run(|delivery, format, _| match (delivery, format) {
            ("websocket", "json") => 5000.0,
            ("long-polling", "json") => 5500.0,
            (_, "amf3") => 6500.0,
            _ => 6000.0,
        });
        assert_eq!(verdict(&json, "babovic-json-websocket-fastest"), Some(true));
        let fastest = "babovic-json-fastest-any-protocol";
        assert_eq!(verdict(&json, fastest), Some(true));
        assert_eq!(verdict(&json, "babovic-streaming-amf-fastest"), Some(false));
        assert_eq!(verdict(&json, "babovic-amf-beats-xml"), Some(false));
    }

    #[test]
    fn where_intervals_meet_or_one_round_is_all_there_is_nothing_is_the_fastest() {
        let claims = [
            "babovic-json-websocket-fastest",
            "babovic-websocket-beats-long-polling",
            "babovic-encoding-outweighs-protocol",
            "babovic-json-fastest-any-protocol",
            "babovic-amf-beats-xml",
            "babovic-streaming-amf-fastest",
            "babovic-soap-slowest",
        ];
        let meeting = run_of(|_, format, _| match format {
            "json" | "amf3" => [4000.0, 6000.0],
            _ => [4500.0, 6500.0],
        });
        let once = run_of(|delivery, format, _| match (delivery, format) {
            (_, "soap") => [9000.0],
            ("websocket", "json") => [5000.0],
            _ => [5500.0],
        });
        for claim in claims {
            assert_eq!(verdict(&meeting, claim), None, "{claim}");
            assert_eq!(verdict(&once, claim), None, "{claim}");
        }
    }

    #[test]
    fn schemes_that_differ_more_than_formats_outweigh_them() {
        let by_scheme = run(|delivery, _, _| match delivery {
            "websocket" => 1000.0,
            _ => 9000.0,
        });
        let outweighs = "babovic-encoding-outweighs-protocol";
        assert_eq!(verdict(&by_scheme, outweighs), Some(false));
        let beats = "babovic-websocket-beats-long-polling";
        assert_eq!(verdict(&by_scheme, beats), Some(false));
    }

    #[test]
    fn of_nothing_nothing_is_said() {
        for claim in judge(&Run::default()) {
            assert_eq!(claim.holds, None, "{}", claim.claim);
        }
    }
}
