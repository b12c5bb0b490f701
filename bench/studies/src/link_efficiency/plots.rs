//! The figures of paper 003: efficiency (2, 4, 6) and round trips (3, 5, 7) over the payload, by link.
//!
//! Its curves reach us as captions; the one number of its text, CoAP at 100 bytes, is the one ghost. Beside its
//! figures, what a packet of that many bytes takes link by link.

use super::figures::{GATEWAY, Of, PAPER, Scenario};
use weir_bench_model::figure::slice::{Slice, level};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::results::{CellResult, OURS, Run};

/// Protocols in the order of a scenario; QoS 2, its fifth, is left out there and here of the paper's figures.
const NAMES: [&str; 4] = ["CoAP", "WebSocket", "MQTT QoS 0", "MQTT QoS 1"];

/// Each link and the paper's figures over it.
const LINKS: [(&str, &str, [u32; 2]); 5] = [
    ("wlan", "LAN over Wi-Fi", [2, 3]),
    ("isp", "Internet by a home router", [4, 5]),
    ("cellular", "Internet by a cellular network", [6, 7]),
    ("lan", "a cable", [0, 0]),
    ("local", "loopback", [0, 0]),
];

/// All of them.
pub(super) fn of(run: &Run) -> Vec<Figure> {
    let next = Slice::of(run).with("pace", "next");
    let plain = next.with_or_without("security", "none");
    let mut figures = Vec::new();
    for (link, words, numbers) in LINKS {
        let on = plain.with_or_without("link", link);
        // Runs from before there were links are of loopback.
        if link != "local" && plain.levels("link").is_empty() {
            continue;
        }
        for modem in ["none", "uart"] {
            let on = on.with_or_without("modem", modem);
            if modem == "uart" && on.levels("modem").is_empty() {
                continue;
            }
            let place = Place {
                link,
                words,
                modem,
                numbers,
            };
            figures.extend(place.figures(&on));
        }
    }
    figures.extend(by_link(&plain));
    figures.extend(distributions(&plain));
    figures
}

/// At the payload that the paper names, over emulated links side by side.
fn by_link(plain: &Slice<'_>) -> Vec<Figure> {
    let far = plain.with("payload", "100").without("link", "local");
    if far.levels("link").len() < 2 {
        return Vec::new();
    }
    let of = |(whose, scenario): (&str, Scenario)| {
        let title = format!("Round trips at 100 bytes, link by link: {whose}");
        let name = kebab(&format!("rtt-by-link-{whose}"));
        let series = named(&scenario).flat_map(|of| over_links(&far, of));
        Figure::new(Form::Bars, &name, &title)
            .axes(Axis::new("", ""), Axis::new("mean RTT", "ms"))
            .caption(
                "The modem is a serial line of 115200 baud before the link, as the paper had it; whiskers are the \
                 interval over rounds.",
            )
            .series(series)
            .group("Round trips")
    };
    [("the paper's servers", PAPER), ("the gateway", GATEWAY)]
        .map(of)
        .into()
}

/// The protocols of a scenario, each with its name.
fn named(scenario: &Scenario) -> impl Iterator<Item = (&'static str, &Of)> {
    NAMES.into_iter().zip(scenario)
}

/// Where a protocol is spoken as there.
fn spoken<'a>(on: &Slice<'a>, of: &Of) -> Slice<'a> {
    on.with("protocol", of.protocol.name())
        .with("echo", of.echo.name())
}

/// A protocol's round trips by link, with and without the modem.
fn over_links(far: &Slice<'_>, (name, of): (&str, &Of)) -> Option<Series> {
    let own = spoken(far, of).by(of.server);
    let bars = own.bars(place_of, "rtt", scale("rtt")).into_iter().next()?;
    Some(Series::here(name, bars.points))
}

/// A name of a figure.
fn kebab(words: &str) -> String {
    words.replace([' ', '\''], "-")
}

fn place_of(cell: &str) -> String {
    let link = level(cell, "link").unwrap_or_default();
    match level(cell, "modem") {
        Some("uart") => format!("{link}, modem"),
        _ => link.into(),
    }
}

/// Where the packets went.
struct Place {
    link: &'static str,
    words: &'static str,
    modem: &'static str,
    numbers: [u32; 2],
}

impl Place {
    fn figures(&self, on: &Slice<'_>) -> [Figure; 4] {
        let paper = |metric| by_server(on, metric);
        let ours = |metric| of_the_gateway(on, metric);
        let efficiency = Axis::new("protocol efficiency", "");
        let time = Axis::new("mean RTT", "ms").log();
        let third = Point::at(100.0, 1.0 / 3.0).note("about 1/3");
        let ghost = Series::published("CoAP", "Mijovic2016, section IV", vec![third]);
        let mut eta = paper("eta");
        if self.link == "wlan" || self.link == "local" {
            eta.push(ghost);
        }
        [
            self.figure(
                "efficiency",
                self.numbers[0],
                "the paper's servers",
                efficiency.clone(),
                eta,
            ),
            self.figure(
                "rtt",
                self.numbers[1],
                "the paper's servers",
                time.clone(),
                paper("rtt"),
            ),
            self.figure("efficiency", 0, "the gateway", efficiency, ours("eta")),
            self.figure("rtt", 0, "the gateway", time, ours("rtt")),
        ]
    }

    fn figure(&self, what: &str, number: u32, whose: &str, y: Axis, series: Vec<Series>) -> Figure {
        let modem = match self.modem {
            "uart" => ", behind a modem",
            _ => "",
        };
        let name = kebab(&format!("{what}-{}-{}-{whose}", self.link, self.modem));
        let title = match what {
            "rtt" => format!("Round trips, {}{modem}: {whose}", self.words),
            _ => format!("Efficiency, {}{modem}: {whose}", self.words),
        };
        let figure = match number {
            0 => String::new(),
            number => format!("In the form of figure {number} of Mijovic et al. "),
        };
        let about = match what {
            "rtt" => {
                "From a packet's creation to its echo in the application's hands, on one clock; whiskers are \
                 the interval over rounds."
            }
            _ => {
                "Payload counted once over all bytes both ways at application and transport layer, the \
                 paper's definition; no protocol exceeds 0.5 by it."
            }
        };
        let group = match what {
            "rtt" => "Round trips",
            _ => "Efficiency",
        };
        Figure::new(Form::Lines, &name, &title)
            .axes(Axis::new("payload", "bytes").log(), y)
            .caption(&format!("{figure}{about}"))
            .series(series)
            .group(group)
    }
}

fn scale(metric: &str) -> f64 {
    if metric == "rtt" { 1000.0 } else { 1.0 }
}

fn by_server(on: &Slice<'_>, metric: &str) -> Vec<Series> {
    let of = |(name, of): (&str, &Of)| {
        let own = spoken(on, of).by(of.server);
        Series::here(name, own.line("payload", metric, scale(metric)))
    };
    named(&PAPER).map(of).collect()
}

/// Every protocol that the gateway speaks; where it has two kinds of echo, both.
fn of_the_gateway(on: &Slice<'_>, metric: &str) -> Vec<Series> {
    let ours = on.by(OURS);
    let mut all = Vec::new();
    for protocol in ours.levels("protocol") {
        let of_protocol = ours.with("protocol", protocol);
        let echoes = of_protocol.levels("echo");
        for echo in &echoes {
            let name = match echoes.len() {
                1 => protocol.to_string(),
                _ => format!("{protocol}, {echo}"),
            };
            let line = of_protocol
                .with("echo", echo)
                .line("payload", metric, scale(metric));
            all.push(Series::here(&name, line));
        }
    }
    all
}

/// Round trips at 100 bytes as distributions, a figure a link.
fn distributions(plain: &Slice<'_>) -> Vec<Figure> {
    let at = plain
        .with("payload", "100")
        .with_or_without("modem", "none");
    LINKS
        .iter()
        .map(|(link, words, _)| distribution(&at.with_or_without("link", link), link, words))
        .filter(|figure| !figure.series.is_empty())
        .collect()
}

fn distribution(at: &Slice<'_>, link: &str, place: &str) -> Figure {
    let is_there = |result: &&&CellResult| match level(&result.cell, "link") {
        Some(own) => own == link,
        None => link == "local",
    };
    let series = named(&PAPER).flat_map(|(name, of)| {
        [of.server, OURS].into_iter().filter_map(move |target| {
            let own = spoken(at, of).by(target);
            let result = own.results().iter().find(is_there).copied()?;
            Series::distribution(&format!("{name}, {target}"), result.metric("rtt")?, 1.0)
        })
    });
    let series: Vec<Series> = series.collect();
    Figure::new(
        Form::Distribution,
        &format!("distribution-{link}"),
        &format!("Distribution of round trips at 100 bytes, {place}"),
    )
    .axes(
        Axis::new("RTT", "us").log(),
        Axis::new("share of packets", ""),
    )
    .caption("Where the gateway answers by a subscription only, it is not in this figure. The last mark of a line is \
         its greatest sample.")
    .series(series)
    .group("Distributions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::figure::X;
    use weir_bench_model::figure::slice::words;

    #[test]
    fn a_run_on_loopback_has_figures_with_the_one_published_number() {
        let cell = "protocol=coap-con;echo=answer;payload=100;pace=next";
        let result = CellResult {
            cell: cell.into(),
            target: "libcoap".into(),
            status: "absent".into(),
            ..CellResult::default()
        };
        let run = Run {
            results: vec![result],
            ..Run::default()
        };
        let figures = of(&run);
        assert_eq!(words(cell, &["payload"]), "100");
        let efficiency = figures
            .iter()
            .find(|f| f.name.starts_with("efficiency-local"));
        let series = &efficiency.expect("loopback").series;
        assert_eq!(series.len(), 2);
        assert_eq!(series[0].points[0].note, "absent");
    }

    #[test]
    fn links_stand_side_by_side_with_and_without_the_modem() {
        let at = |(link, modem): (&str, &str)| CellResult {
            cell: format!(
                "link={link};modem={modem};protocol=coap-con;security=none;echo=answer;payload=100;pace=next"
            ),
            target: "libcoap".into(),
            metrics: vec![weir_bench_model::results::single("rtt", "us", 30e3)],
            ..CellResult::default()
        };
        let places = [
            ("local", "none"),
            ("isp", "none"),
            ("isp", "uart"),
            ("cellular", "none"),
        ];
        let run = |count: usize| Run {
            results: places.into_iter().take(count).map(at).collect(),
            ..Run::default()
        };
        let by_link = |run: &Run| {
            let named = |figure: &Figure| figure.name == "rtt-by-link-the-paper-s-servers";
            of(run).into_iter().find(named)
        };
        assert_eq!(by_link(&run(3)), None, "one link is beside nothing");
        let figure = by_link(&run(4)).expect("two links");
        let [coap] = &figure.series[..] else {
            panic!("one protocol was measured: {:?}", figure.series)
        };
        let labels: Vec<&X> = coap.points.iter().map(|point| &point.x).collect();
        assert_eq!(
            labels,
            [
                &X::from("isp"),
                &X::from("isp, modem"),
                &X::from("cellular")
            ]
        );
        assert_eq!(coap.points[0].y, Some(30.0));
    }
}
