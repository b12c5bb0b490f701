//! Babovic, Protic, Milutinovic 2016: what it says of encodings. Its delivery is measured elsewhere.

use super::judge::Asked;
use super::{Claim, Judgement};
use crate::encoding::cells::Place;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::task::Task;

const PAPER: &str = "Babovic2016";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        paper: PAPER,
        claim: "short binary messages do not pay in HTML5 because of slow script decoders",
        place: "VII-A",
        judge: |f| {
            let ratios = slower_than_json(f, &["protobuf", "pbf-string"]);
            Asked::EachAtLeast(1.0).of(&ratios, "times JSON's time to decode")
        },
    },
    Claim {
        paper: PAPER,
        claim: "JSON is the fastest to decode in HTML5, XML takes about ten times as long",
        place: "Table 2",
        judge: |f| {
            let ratios = slower_than_json(f, &["xml"]);
            Asked::Between(5.0, 20.0).of(&ratios, "times JSON's time to decode")
        },
    },
    Claim {
        paper: PAPER,
        claim: "Protocol Buffers repacked as a string make the shortest message",
        place: "Table 5",
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
        paper: PAPER,
        claim: "JSON over WebSocket is the fastest HTML5 combination (5.74 ms at 1 node, 7.22 ms at \
                5)",
        place: "Table 6",
        judge: |_| Judgement::not_comparable("delivery: `web-delivery` measures it"),
    },
    Claim {
        paper: PAPER,
        claim: "the encoding weighs more than the protocol",
        place: "VII-E",
        judge: |_| Judgement::not_comparable("delivery: `web-delivery` measures it"),
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
