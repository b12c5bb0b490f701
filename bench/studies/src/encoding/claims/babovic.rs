//! Babovic, Protic, Milutinovic 2016: what it says of encodings. Its delivery is measured elsewhere.

use super::Claim;
use super::judge::{Asked, all_of};
use crate::encoding::cells::Place;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::task::Task;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "babovic-binary-does-not-pay",
        judge: |f| {
            let ratios = slower_than_json(f, &["protobuf", "pbf-string"]);
            Asked::EachAtLeast(1.0).of(&ratios, "times JSON's time to decode")
        },
    },
    Claim {
        id: "babovic-json-decodes-fastest",
        judge: |f| {
            let xml = slower_than_json(f, &["xml"]);
            let xml = Asked::Between(5.0, 20.0).of(&xml, "times JSON's time to decode (XML)");
            let fastest = |format: &'static str| {
                let times = slower_than_json(f, &[format]);
                Asked::EachAtLeast(1.0).of(&times, &format!("({format})"))
            };
            let [gwt, protobuf, pbf_string] = ["gwt", "protobuf", "pbf-string"].map(fastest);
            all_of(&[xml, gwt, protobuf, pbf_string])
        },
    },
    Claim {
        id: "babovic-pbf-string-shortest",
        judge: |f| {
            let of = |nodes| Of::observations("message", nodes);
            let characters = |nodes, format: &str| {
                f.metric(of(nodes), format, "characters")
                    .map(|(_, metric)| metric.estimate.mean)
            };
            let others = ["json", "xml", "gwt", "amf3"];
            let ratio = |nodes| {
                let own = characters(nodes, "pbf-string")?;
                let all = others.iter().filter_map(|other| characters(nodes, other));
                Some(all.reduce(f64::min)? / own)
            };
            let ratios: Vec<f64> = ["1", "5"].into_iter().filter_map(ratio).collect();
            Asked::EachAtLeast(1.0).of(&ratios, "times as short as the next, in characters")
        },
    },
    Claim {
        id: "babovic-amf-longer-than-pbf-string",
        judge: |f| {
            let characters = |nodes, format: &str| {
                let metric = f.metric(Of::observations("message", nodes), format, "characters");
                let size = || f.size(Of::observations("message", nodes), format);
                metric.map(|(_, metric)| metric.estimate.mean).or_else(size)
            };
            let ratio = |nodes| Some(characters(nodes, "amf3")? / characters(nodes, "pbf-string")?);
            let at = |nodes| Vec::from_iter(ratio(nodes));
            let five = Asked::Between(1.2, 1.8).of(&at("5"), "times at 5 nodes");
            let one = Asked::Between(2.0, 4.0).of(&at("1"), "times at 1");
            all_of(&[five, one])
        },
    },
];

/// Times to decode the message of 1 and 5 nodes in the browser, JSON's being 1.
fn slower_than_json(f: &Figures<'_>, formats: &[&str]) -> Vec<f64> {
    let mut ratios = Vec::new();
    for nodes in ["1", "5"] {
        let of = Of::observations("message", nodes).at(Place::Browser(1));
        let Some(json) = f.time(of, "json", Task::Parse) else {
            continue;
        };
        let times = formats
            .iter()
            .filter_map(|format| f.time(of, format, Task::Parse));
        ratios.extend(times.map(|time| time / json));
    }
    ratios
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::encoding::cells::name;
    use crate::encoding::codings::From;
    use weir_bench_model::results::{CellResult, single};

    #[test]
    fn json_is_the_fastest_only_where_no_format_of_the_paper_is_faster() {
        let of = |(format, us): (&str, f64)| CellResult {
            cell: name(
                Place::Browser(1),
                "message",
                "1",
                From::Observations,
                format,
            ),
            target: "chromium".into(),
            metrics: vec![single("parse", "us", us)],
            ..CellResult::default()
        };
        let holds = |gwt, formats: &[(&'static str, f64)]| {
            let all = [("json", 10.0), ("xml", 100.0), ("gwt", gwt)];
            let all: Vec<_> = all.iter().chain(formats).copied().map(of).collect();
            let mut claims = CLAIMS.iter();
            let claim = claims
                .find(|it| it.id == "babovic-json-decodes-fastest")
                .unwrap();
            (claim.judge)(&Figures(&all)).holds
        };
        let binary = [("protobuf", 30.0), ("pbf-string", 30.0)];
        assert_eq!(holds(20.0, &binary), Some(true));
        assert_eq!(holds(5.0, &binary), Some(false));
        assert_eq!(holds(20.0, &binary[..1]), None);
    }
}
