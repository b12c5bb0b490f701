//! The cells: how messages come, in which format, of how many nodes, over which link, into how fast a
//! browser.

use crate::experiments::Effort;
use crate::link::LOCAL;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Setting {
    /// Over which link.
    pub(crate) link: &'static str,
    /// How many times slower than it is the browser's processor seems.
    pub(crate) cpu: u32,
    /// Sensor nodes in a message.
    pub(crate) nodes: usize,
    /// The delivery scheme.
    pub(crate) delivery: &'static str,
    /// The format.
    pub(crate) format: &'static str,
    /// More messages than the page can take, and whether it sets the pace.
    pub(crate) flood: Option<Paced>,
}

/// Whether the page tells the gateway what it can draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paced {
    /// It takes what comes.
    Off,
    /// It does.
    On,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Interleaved rounds.
    pub(crate) rounds: usize,
    /// Messages a round that count.
    pub(crate) messages: u64,
    /// Messages a round before counting starts.
    pub(crate) warm_up: u64,
    /// Messages a second.
    pub(crate) rate: f64,
}

/// Delivery schemes of the gateway, by the names that factors have.
pub(crate) const DELIVERIES: [&str; 5] =
    ["polling", "long-polling", "streaming", "sse", "websocket"];

/// Formats: the paper's first, by its names in [`super::published`], then what came since.
pub(crate) const FORMATS: [&str; 15] = [
    "xml",
    "json",
    "gwt",
    "protobuf",
    "pbf-string",
    "amf3",
    "soap",
    "cbor",
    "msgpack",
    "senml-json",
    "exi",
    "exi-c",
    "exi-s",
    "arrow",
    "block",
];

/// Formats of the chief cells.
pub(crate) const CHIEF: [&str; 5] = ["json", "xml", "protobuf", "cbor", "block"];

/// Messages a second that are more than a slowed page can take, each of so many nodes, and for how many
/// seconds.
const FLOOD_RATE: u32 = 200;
const FLOOD_NODES: usize = 50;
const FLOOD_SECONDS: u64 = 4;

const NODES: [usize; 7] = [1, 2, 3, 4, 5, 10, 50];
const NODES_CHIEF: [usize; 2] = [1, 5];
/// Links that the chief cells cross.
const LINKS: [&str; 5] = ["lan", "wifi", "3g", "isp", "cellular"];
/// As of the phones of paper 004, section 4.2.
const SLOWED: [u32; 2] = [4, 6];

impl Setting {
    /// The cell's name: `factor=level;factor=level`.
    pub(crate) fn name(&self) -> String {
        let Self {
            link,
            cpu,
            nodes,
            delivery,
            format,
            flood,
        } = self;
        let name =
            format!("delivery={delivery};format={format};nodes={nodes};link={link};cpu={cpu}");
        match flood {
            None => name,
            Some(Paced::Off) => format!("{name};rate={FLOOD_RATE};pace=off"),
            Some(Paced::On) => format!("{name};rate={FLOOD_RATE};pace=on"),
        }
    }

    /// What is the same in cells whose rounds alternate.
    pub(crate) fn group(&self) -> (&'static str, u32, usize, bool) {
        (self.link, self.cpu, self.nodes, self.flood.is_some())
    }
}

impl Scale {
    /// What a cell sends of it.
    pub(crate) fn of_cell(self, setting: &Setting) -> Self {
        match setting.flood {
            None => self,
            Some(_) => Self {
                messages: u64::from(FLOOD_RATE) * FLOOD_SECONDS,
                rate: FLOOD_RATE.into(),
                ..self
            },
        }
    }

    /// Of an effort: in full 100 messages at 1 Hz as published, of which more rounds give an interval.
    pub(crate) fn of(effort: Effort, rate: Option<f64>) -> Self {
        match effort {
            Effort::Quick => Self {
                rounds: 3,
                messages: 10,
                warm_up: 2,
                rate: rate.unwrap_or(25.0),
            },
            Effort::Full => Self {
                rounds: 4,
                messages: 25,
                warm_up: 2,
                rate: rate.unwrap_or(1.0),
            },
        }
    }
}

/// All cells, in the order of the report: the whole grid on this machine, the chief formats into a
/// slowed browser and over links.
pub(crate) fn settings(effort: Effort) -> Vec<Setting> {
    let quick = effort == Effort::Quick;
    let mut all = Vec::new();
    let mut add = |link, cpu, nodes: &[usize], formats: &[&'static str]| {
        for &nodes in nodes {
            for delivery in DELIVERIES {
                all.extend(formats.iter().map(|&format| Setting {
                    link,
                    cpu,
                    nodes,
                    delivery,
                    format,
                    flood: None,
                }));
            }
        }
    };
    match quick {
        true => add(LOCAL, 1, &NODES_CHIEF, &CHIEF),
        false => {
            add(LOCAL, 1, &NODES, &FORMATS);
            for cpu in SLOWED {
                add(LOCAL, cpu, &NODES_CHIEF, &CHIEF);
            }
            for link in LINKS {
                add(link, 1, &NODES_CHIEF, &CHIEF);
            }
        }
    }
    if !quick {
        let last_local = all.iter().rposition(|it| it.link == LOCAL);
        let at = last_local.map_or(0, |last| last + 1);
        all.splice(at..at, floods());
    }
    all
}

/// Paper 000 has no such cells: what becomes of a page that gets more than it can draw.
fn floods() -> impl Iterator<Item = Setting> {
    [Paced::Off, Paced::On].into_iter().map(|paced| Setting {
        link: LOCAL,
        cpu: 6,
        nodes: FLOOD_NODES,
        delivery: "websocket",
        format: "json",
        flood: Some(paced),
    })
}

/// The names of all cells.
pub(crate) fn names(effort: Effort) -> Vec<String> {
    settings(effort).iter().map(Setting::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cell_has_its_own_name_and_the_quick_ones_are_among_the_full() {
        let full: BTreeSet<String> = names(Effort::Full).into_iter().collect();
        assert_eq!(full.len(), settings(Effort::Full).len());
        assert!(names(Effort::Quick).iter().all(|name| full.contains(name)));
    }

    #[test]
    fn every_format_is_one_of_the_gateways() {
        for name in FORMATS {
            assert!(weir_codec::by_name(name).is_some(), "{name}");
        }
        assert!(CHIEF.iter().all(|name| FORMATS.contains(name)));
    }

    #[test]
    fn a_full_cell_has_as_many_messages_as_the_papers() {
        let scale = Scale::of(Effort::Full, None);
        assert_eq!(scale.rounds as u64 * scale.messages, 100);
        assert_eq!(scale.rate, 1.0);
    }
}
