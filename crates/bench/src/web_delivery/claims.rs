//! What paper 000 claims of delivery and encoding, judged by a run.
//!
//! Judged on this machine without a link and at full speed, on means as the paper's tables give them,
//! and among the combinations that the claim speaks of; a fastest one is one beside which no other is
//! faster beyond both intervals. A total is the paper's, which ends with the canvas drawn.

use super::cells::{DELIVERIES, OF_HTML5, OF_THE_PAPER};
use super::figures::{Figures, here};
use super::plots::words;
use crate::claims::judged;
use crate::report::number;
use crate::results::{ClaimResult, Run};

/// What the HTML5 application of the paper spoke.
const HTML5: [&str; 2] = ["long-polling", "websocket"];
/// Of how many nodes.
const NODES: [usize; 2] = [1, 5];
/// What of the paper's schemes and formats lives on.
const ALL: [&str; 3] = ["long-polling", "streaming", "websocket"];

/// The paper's total.
const TOTAL: &str = "t_total_drawn";

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
        both(HTML5.map(of))
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

/// Both hold, or what can be said of one.
fn both([one, other]: [Verdict; 2]) -> Verdict {
    let holds = match (one.0, other.0) {
        (Some(a), Some(b)) => Some(a && b),
        (a, b) => a.or(b),
    };
    (holds, format!("{}; {}", one.1, other.1))
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
    let found: Vec<(bool, String)> = of_nodes.into_iter().flatten().collect();
    match found.is_empty() {
        true => unmeasured(),
        false => (
            Some(found.iter().all(|(holds, _)| *holds)),
            found
                .into_iter()
                .map(|(_, words)| words)
                .collect::<Vec<_>>()
                .join("; "),
        ),
    }
}

fn fastest_of(
    f: &Figures<'_>,
    (delivery, format): Combination,
    deliveries: &[&'static str],
    formats: &[&'static str],
    nodes: usize,
) -> Option<(bool, String)> {
    let own = &f.metric(&here(delivery, format, nodes), TOTAL)?.estimate;
    let mut others = Vec::new();
    for &other_delivery in deliveries {
        for &other in formats {
            let setting = here(other_delivery, other, nodes);
            let of = f.metric(&setting, TOTAL).map(|it| &it.estimate);
            others.extend(of.map(|it| (it, other_delivery, other)));
        }
    }
    let best = others.iter().min_by(|a, b| a.0.mean.total_cmp(&b.0.mean))?;
    let beaten = others.iter().any(|(it, ..)| it.high < own.low);
    let words = format!(
        "{}: {format} by {delivery} {}, the least of {} is {} by {} {}",
        words(nodes),
        ms(own.mean),
        others.len(),
        best.2,
        best.1,
        ms(best.0.mean)
    );
    (others.len() > 1).then_some((!beaten, words))
}

fn beats_long_polling(f: &Figures<'_>) -> Verdict {
    let mut differences = Vec::new();
    for nodes in NODES {
        for format in OF_HTML5 {
            let of = |delivery| f.mean(&here(delivery, format, nodes), "t_transmit");
            if let (Some(polled), Some(pushed)) = (of("long-polling"), of("websocket")) {
                differences.push((polled - pushed) / 1e3);
            }
        }
    }
    let Some((least, most)) = ends(&differences) else {
        return unmeasured();
    };
    let words = format!(
        "long polling takes {} to {} ms longer, {} pairs",
        number(least),
        number(most),
        differences.len()
    );
    (Some(least > 0.0 && most < 1.0), words)
}

/// How far means lie apart, over formats of a scheme and over schemes of a format.
fn outweighs(f: &Figures<'_>) -> Verdict {
    let total = |delivery, format, nodes| f.mean(&here(delivery, format, nodes), TOTAL);
    let (mut formats, mut schemes) = (Vec::new(), Vec::new());
    for nodes in NODES {
        for delivery in HTML5 {
            let of: Vec<f64> = OF_HTML5
                .iter()
                .filter_map(|format| total(delivery, format, nodes))
                .collect();
            formats.extend(spread(&of));
        }
        for format in OF_HTML5 {
            let of: Vec<f64> = HTML5
                .iter()
                .filter_map(|delivery| total(delivery, format, nodes))
                .collect();
            schemes.extend(spread(&of));
        }
    }
    if formats.is_empty() || schemes.is_empty() {
        return unmeasured();
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let (by_format, by_scheme) = (mean(&formats), mean(&schemes));
    let words = format!(
        "formats of a scheme lie {} apart, schemes of a format {}",
        ms(by_format),
        ms(by_scheme)
    );
    (Some(by_format > by_scheme), words)
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
    let mut ratios = Vec::new();
    for nodes in NODES {
        for delivery in ALL {
            let of = |format| f.mean(&here(delivery, format, nodes), TOTAL);
            if let (Some(amf), Some(xml)) = (of("amf3"), of("xml")) {
                ratios.push(amf / xml);
            }
        }
    }
    match ends(&ratios) {
        Some((least, most)) => (
            Some(most < 1.0),
            format!("AMF takes {} to {} of XML's", number(least), number(most)),
        ),
        None => unmeasured(),
    }
}

/// Largest, and slowest by both schemes that it came by.
fn soap(f: &Figures<'_>) -> Verdict {
    let of = |metric| {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for nodes in NODES {
            for delivery in HTML5 {
                let mean = |format| f.mean(&here(delivery, format, nodes), metric);
                let rest = OF_THE_PAPER.iter().filter(|format| **format != "soap");
                let most = rest.filter_map(|format| mean(format)).reduce(f64::max);
                if let (Some(soap), Some(most)) = (mean("soap"), most) {
                    own.push(soap);
                    others.push(most);
                }
            }
        }
        let exceeds = own.iter().zip(&others).all(|(own, other)| own > other);
        (!own.is_empty()).then_some((exceeds, own.len()))
    };
    match (of("payload"), of(TOTAL)) {
        (Some((largest, cells)), Some((slowest, _))) => {
            let yes = |holds| if holds { "yes" } else { "no" };
            let words = format!(
                "largest in all of {cells} cells: {}; slowest: {}",
                yes(largest),
                yes(slowest)
            );
            (Some(largest && slowest), words)
        }
        _ => unmeasured(),
    }
}

fn ends(all: &[f64]) -> Option<(f64, f64)> {
    let least = all.iter().copied().reduce(f64::min)?;
    let most = all.iter().copied().reduce(f64::max)?;
    Some((least, most))
}

fn spread(all: &[f64]) -> Option<f64> {
    let (least, most) = ends(all)?;
    (all.len() > 1).then_some(most - least)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::results::{CellResult, Metric};
    use crate::statistics::Estimate;

    /// A run in which every cell took so long.
    fn run(us: impl Fn(&str, &str, usize) -> f64) -> Run {
        let mut run = Run::default();
        for nodes in NODES {
            for delivery in ALL {
                for format in OF_THE_PAPER {
                    let us = us(delivery, format, nodes);
                    let metric = |name: &str| Metric {
                        metric: name.into(),
                        estimate: Estimate::of(&[us, us]).unwrap(),
                        ..Metric::default()
                    };
                    run.results.push(CellResult {
                        cell: here(delivery, format, nodes).name(),
                        target: crate::results::OURS.into(),
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
    fn the_fastest_is_the_one_that_no_other_beats() {
        let json = run(|delivery, format, _| match (delivery, format) {
            ("websocket", "json") => 5000.0,
            ("long-polling", "json") => 5500.0,
            _ => 6000.0,
        });
        assert_eq!(verdict(&json, "babovic-json-websocket-fastest"), Some(true));
        let fastest = "babovic-json-fastest-any-protocol";
        assert_eq!(verdict(&json, fastest), Some(true));
        assert_eq!(verdict(&json, "babovic-streaming-amf-fastest"), Some(false));
        assert_eq!(verdict(&json, "babovic-amf-beats-xml"), Some(false));
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
