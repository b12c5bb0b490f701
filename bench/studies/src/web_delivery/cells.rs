//! The cells: how messages come, in which format, of how many nodes, over which link, into how fast a
//! browser.

use weir_bench_model::cell::LOCAL;
use weir_bench_model::effort::Effort;
use weir_bench_model::results::OURS;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setting {
    /// Over which link.
    pub link: &'static str,
    /// How many times slower than it is the browser's processor seems.
    pub cpu: u32,
    /// Sensor nodes in a message.
    pub nodes: usize,
    /// Who delivers, and over what.
    pub via: Via,
    /// The delivery scheme.
    pub delivery: &'static str,
    /// The format.
    pub format: &'static str,
    /// More messages than the page can take, and whether it sets the pace.
    pub flood: Option<Paced>,
    /// Whether the browser's own trace is set beside the page's stamps.
    pub is_traced: bool,
}

/// Who delivers, and over what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Via {
    /// The gateway in the clear, by HTTP/1.1.
    Clear,
    /// The gateway by TLS: HTTP/2, and HTTP/1.1 for WebSockets, which it does not open over HTTP/2.
    Tls,
    /// CometD by a transport of Bayeux's.
    Bayeux(&'static str),
}

/// Whether the page tells the gateway what it can draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Paced {
    /// It takes what comes.
    Off,
    /// It does.
    On,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Interleaved rounds.
    pub rounds: usize,
    /// Messages a round that count.
    pub messages: u64,
    /// Messages a round before counting starts.
    pub warm_up: u64,
    /// Messages a second.
    pub rate: f64,
    effort: Effort,
}

/// Delivery schemes of the gateway, by the names that factors have.
pub(super) const DELIVERIES: [&str; 5] =
    ["polling", "long-polling", "streaming", "sse", "websocket"];

/// CometD's: what carries its messages is a transport.
pub(super) const COMETD: &str = "cometd";
/// Its transports.
pub(super) const TRANSPORTS: [&str; 2] = ["long-polling", "websocket"];
/// What it carries: a message of Bayeux is JSON, so a binary format cannot travel in it as it is, and
/// its server stamps a message only where times are text.
pub(super) const BAYEUX_FORMATS: [&str; 3] = ["json", "xml", "soap"];

/// Formats that the paper's HTML5 application spoke, by its names in [`super::published`].
pub(super) const OF_HTML5: [&str; 5] = ["xml", "json", "gwt", "protobuf", "pbf-string"];
/// All formats of the paper.
pub(super) const OF_THE_PAPER: [&str; 7] = joined(&OF_HTML5, &["amf3", "soap"]);
/// All formats: the paper's, then what came since.
pub(super) const FORMATS: [&str; 15] = joined(&OF_THE_PAPER, &SINCE);
const SINCE: [&str; 8] = [
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
pub(super) const CHIEF: [&str; 5] = ["json", "xml", "protobuf", "cbor", "block"];

/// What a first look has: all that the paper's tables and claims speak of, and the chief of what came
/// since.
const QUICK: [(&str, &[&str]); 5] = [
    ("polling", &["json", "cbor"]),
    ("long-polling", &QUICK_FORMATS),
    (
        "streaming",
        &["json", "xml", "amf3", "protobuf", "cbor", "block"],
    ),
    ("sse", &["json", "protobuf", "cbor", "block"]),
    ("websocket", &QUICK_FORMATS),
];
const QUICK_FORMATS: [&str; 9] = joined(&OF_THE_PAPER, &["cbor", "block"]);
/// The link of a first look, its schemes and its format: that of paper 004's Wi-Fi.
const QUICK_LINK: &str = "wifi";

/// Messages a second that are more than a slowed page can take, each of so many nodes.
const FLOOD_RATE: u32 = 200;
const FLOOD_NODES: usize = 50;

const NODES: [usize; 7] = [1, 2, 3, 4, 5, 10, 50];
const NODES_CHIEF: [usize; 2] = [1, 5];
/// Links that the chief cells cross.
const LINKS: [&str; 5] = ["lan", "wifi", "3g", "isp", "cellular"];
/// As of the phones of paper 004, section 4.2.
const SLOWED: [u32; 2] = [4, 6];
/// Those and the machine as it is.
pub(super) const SPEEDS: [u32; 3] = [1, 4, 6];

/// Two lists as one.
const fn joined<const N: usize>(
    first: &[&'static str],
    then: &[&'static str],
) -> [&'static str; N] {
    let mut all = [""; N];
    let mut at = 0;
    while at < N {
        all[at] = match at.checked_sub(first.len()) {
            None => first[at],
            Some(behind) => then[behind],
        };
        at += 1;
    }
    all
}

impl Setting {
    /// The gateway's own on this machine, in the clear, at full speed.
    pub(super) fn here(delivery: &'static str, format: &'static str, nodes: usize) -> Self {
        Self {
            link: LOCAL,
            cpu: 1,
            nodes,
            via: Via::Clear,
            delivery,
            format,
            flood: None,
            is_traced: false,
        }
    }

    /// CometD's on this machine.
    pub(super) fn cometd(transport: &'static str, format: &'static str, nodes: usize) -> Self {
        Self {
            via: Via::Bayeux(transport),
            ..Self::here(COMETD, format, nodes)
        }
    }

    /// The cell's name: `factor=level;factor=level`.
    pub(super) fn name(&self) -> String {
        let Self {
            link,
            cpu,
            nodes,
            delivery,
            format,
            ..
        } = self;
        let mut name =
            format!("delivery={delivery};format={format};nodes={nodes};link={link};cpu={cpu}");
        name += &match self.via {
            Via::Clear => String::new(),
            Via::Tls => format!(";transport={};security=tls", self.by_tls()),
            Via::Bayeux(transport) => format!(";transport={transport}"),
        };
        name += &match self.flood {
            None => String::new(),
            Some(Paced::Off) => format!(";rate={FLOOD_RATE};pace=off"),
            Some(Paced::On) => format!(";rate={FLOOD_RATE};pace=on"),
        };
        name + if self.is_traced { ";trace=on" } else { "" }
    }

    fn by_tls(&self) -> &'static str {
        match self.delivery {
            "websocket" => "http-1.1",
            _ => "http-2",
        }
    }

    /// Whose delivery is measured.
    pub(super) fn target(&self) -> &'static str {
        match self.via {
            Via::Clear | Via::Tls => OURS,
            Via::Bayeux(_) => COMETD,
        }
    }

    /// Whether the page comes by TLS.
    pub(super) fn is_secure(&self) -> bool {
        self.via == Via::Tls
    }

    /// What is the same in cells whose rounds alternate.
    pub(super) fn group(&self) -> (&'static str, u32, usize, bool, bool, bool) {
        let is_flood = self.flood.is_some();
        (
            self.link,
            self.cpu,
            self.nodes,
            self.is_secure(),
            is_flood,
            self.is_traced,
        )
    }
}

impl Scale {
    /// Of an effort: in full 100 messages at 1 Hz as published, of which more rounds give an interval.
    pub(super) fn of(effort: Effort, rate: Option<f64>) -> Self {
        match effort {
            Effort::Quick => Self {
                rounds: 3,
                messages: 8,
                warm_up: 1,
                rate: rate.unwrap_or(40.0),
                effort,
            },
            Effort::Full => Self {
                rounds: 4,
                messages: 25,
                warm_up: 2,
                rate: rate.unwrap_or(1.0),
                effort,
            },
        }
    }

    /// What a cell sends of it.
    pub(super) fn of_cell(self, setting: &Setting) -> Self {
        let is_quick = self.effort == Effort::Quick;
        if setting.flood.is_some() {
            let (rounds, seconds) = if is_quick { (1, 1) } else { (self.rounds, 4) };
            return Self {
                rounds,
                messages: u64::from(FLOOD_RATE) * seconds,
                rate: FLOOD_RATE.into(),
                ..self
            };
        }
        if setting.is_traced {
            // A trace of minutes is large, and a frame is a frame at any rate.
            return Self {
                rounds: 1,
                messages: 40,
                rate: self.rate.max(25.0),
                ..self
            };
        }
        match is_quick && setting.link != LOCAL {
            // Fewer than one in a round trip, as a long poll must ask again in between.
            true => Self {
                rounds: 2,
                messages: 6,
                rate: self.rate.min(4.0),
                ..self
            },
            false => self,
        }
    }

    /// What warms up a server that compiles itself while it runs.
    pub(super) fn of_warm_up(self) -> Self {
        Self {
            rounds: 1,
            messages: 250,
            rate: 250.0,
            ..self
        }
    }
}

/// All cells, in the order of the report: the whole grid on this machine, the chief formats into a
/// slowed browser, by TLS and over links.
pub(super) fn settings(effort: Effort) -> Vec<Setting> {
    let mut all = Vec::new();
    match effort {
        Effort::Quick => quick(&mut all),
        Effort::Full => full(&mut all),
    }
    all
}

fn quick(all: &mut Vec<Setting>) {
    for nodes in NODES_CHIEF {
        for (delivery, formats) in QUICK {
            let of = |&format| Setting::here(delivery, format, nodes);
            all.extend(formats.iter().map(of));
        }
        all.extend(cometd(nodes, &BAYEUX_FORMATS[..2]));
    }
    for cpu in SLOWED {
        let of = |format| Setting {
            cpu,
            ..Setting::here("websocket", format, 5)
        };
        all.extend(["json", "xml", "protobuf"].map(of));
    }
    all.push(traced());
    all.extend(floods());
    all.extend(DELIVERIES.map(|delivery| by_tls(delivery, "json", 1)));
    let ours = TRANSPORTS.map(|delivery| Setting::here(delivery, "json", 1));
    all.extend(
        ours.into_iter()
            .chain(cometd(1, &["json"]))
            .map(|it| Setting {
                link: QUICK_LINK,
                ..it
            }),
    );
}

fn full(all: &mut Vec<Setting>) {
    for nodes in NODES {
        all.extend(grid(&FORMATS, nodes));
        all.extend(cometd(nodes, &BAYEUX_FORMATS));
    }
    for cpu in SLOWED {
        for nodes in NODES_CHIEF {
            all.extend(grid(&CHIEF, nodes).map(|it| Setting { cpu, ..it }));
        }
    }
    all.push(traced());
    all.extend(floods());
    for nodes in NODES_CHIEF {
        all.extend(grid(&CHIEF, nodes).map(|it| by_tls(it.delivery, it.format, nodes)));
    }
    for link in LINKS {
        for nodes in NODES_CHIEF {
            let others = cometd(nodes, &BAYEUX_FORMATS[..2]);
            all.extend(
                grid(&CHIEF, nodes)
                    .chain(others)
                    .map(|it| Setting { link, ..it }),
            );
        }
    }
}

/// Every delivery scheme of the gateway in each of some formats.
fn grid<'a>(formats: &'a [&'static str], nodes: usize) -> impl Iterator<Item = Setting> + 'a {
    let of = move |delivery| {
        let of = move |&format| Setting::here(delivery, format, nodes);
        formats.iter().map(of)
    };
    DELIVERIES.into_iter().flat_map(of)
}

/// CometD, the era's own, by each transport.
fn cometd<'a>(nodes: usize, formats: &'a [&'static str]) -> impl Iterator<Item = Setting> + 'a {
    let of = move |transport| {
        let of = move |&format| Setting::cometd(transport, format, nodes);
        formats.iter().map(of)
    };
    TRANSPORTS.into_iter().flat_map(of)
}

fn by_tls(delivery: &'static str, format: &'static str, nodes: usize) -> Setting {
    Setting {
        via: Via::Tls,
        ..Setting::here(delivery, format, nodes)
    }
}

/// The cell whose frames are also read off the browser's own trace.
pub(super) fn traced() -> Setting {
    Setting {
        is_traced: true,
        ..Setting::here("websocket", "json", 5)
    }
}

/// Paper 000 has no such cells: what becomes of a page that gets more than it can draw.
fn floods() -> impl Iterator<Item = Setting> {
    let of = |cpu| {
        [Paced::Off, Paced::On].map(|paced| Setting {
            cpu,
            flood: Some(paced),
            ..Setting::here("websocket", "json", FLOOD_NODES)
        })
    };
    SPEEDS.into_iter().flat_map(of)
}

/// The names of all cells.
pub(super) fn names(effort: Effort) -> Vec<String> {
    settings(effort).iter().map(Setting::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_one_of_the_gateways() {
        for name in FORMATS {
            assert!(weir_codec::by_name(name).is_some(), "{name}");
        }
        let named = CHIEF.iter().chain(&BAYEUX_FORMATS).chain(&QUICK_FORMATS);
        assert!(named.into_iter().all(|name| FORMATS.contains(name)));
    }

    #[test]
    fn a_full_cell_has_as_many_messages_as_the_papers() {
        let scale = Scale::of(Effort::Full, None).of_cell(&Setting::here("sse", "xml", 1));
        assert_eq!(scale.rounds as u64 * scale.messages, 100);
        assert_eq!(scale.rate, 1.0);
    }

    #[test]
    fn a_name_says_what_carries_a_delivery_where_it_is_not_plain_http() {
        let name = |setting: Setting| setting.name();
        let plain = "delivery=websocket;format=json;nodes=1;link=local;cpu=1";
        assert_eq!(name(Setting::here("websocket", "json", 1)), plain);
        let by_tls = [by_tls("websocket", "json", 1), by_tls("sse", "json", 1)].map(name);
        assert!(by_tls[0].ends_with(";cpu=1;transport=http-1.1;security=tls"));
        assert!(by_tls[1].ends_with(";cpu=1;transport=http-2;security=tls"));
        let other = name(Setting::cometd("websocket", "xml", 5));
        assert_eq!(
            other,
            "delivery=cometd;format=xml;nodes=5;link=local;cpu=1;transport=websocket"
        );
    }
}
