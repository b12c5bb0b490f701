//! Figures 2 to 7 of the paper redrawn, by both readings of its line, and the gateway's trip times.

use weir_sim::{SCHEMES, Scheme};

use super::cells::{LINE, LINKS};
use super::device::TARGET;
use weir_bench_model::figure::slice::{Slice, level};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::results::{CellResult, Run};

/// The readings of the paper's line: by its packet counts, and by its words.
pub(super) const HALF_AND_FULL: [&str; 2] = ["half", "full"];
/// When something is published, from often to seldom; then at random.
pub(super) const PUBLICATIONS: [&str; 6] = ["1", "5", "15", "30", "50", "1-50"];

/// The device's results on a line of one kind that loses nothing.
pub(super) struct Grid<'a> {
    pub(super) duplex: &'static str,
    results: Vec<&'a CellResult>,
}

impl<'a> Grid<'a> {
    pub(super) fn of(run: &'a Run, duplex: &'static str) -> Self {
        let line = LINE.to_string();
        let slice = Slice::of(run)
            .by(TARGET)
            .with("line", &line)
            .with("duplex", duplex)
            .with("loss", "0")
            .with_or_without("duty", "1");
        let results = slice.results().to_vec();
        Self { duplex, results }
    }

    /// What was measured in a setting.
    pub(super) fn result(
        &self,
        clients: usize,
        publish: &str,
        scheme: &str,
    ) -> Option<&'a CellResult> {
        let is = |cell: &str, factor, wanted: &str| level(cell, factor) == Some(wanted);
        let clients = clients.to_string();
        let found = self.results.iter().find(|result| {
            let cell = &result.cell;
            is(cell, "clients", &clients)
                && is(cell, "publish", publish)
                && is(cell, "scheme", scheme)
        });
        found.copied()
    }

    /// The mean of a metric in a setting.
    pub(super) fn mean(
        &self,
        clients: usize,
        publish: &str,
        scheme: &str,
        metric: &str,
    ) -> Option<f64> {
        let result = self.result(clients, publish, scheme)?;
        Some(result.metric(metric)?.estimate.mean)
    }

    /// The means of a metric in every setting with so many clients.
    pub(super) fn of_clients(&self, clients: usize, metric: &str) -> Vec<f64> {
        let clients = clients.to_string();
        let own = self.results.iter();
        own.filter(|result| level(&result.cell, "clients") == Some(&clients))
            .filter_map(|result| Some(result.metric(metric)?.estimate.mean))
            .collect()
    }

    /// A scheme's line over clients.
    fn line(&self, publish: &str, scheme: &str, metric: &str) -> Vec<Point> {
        let mut points: Vec<(f64, Point)> = self
            .results
            .iter()
            .filter(|result| level(&result.cell, "publish") == Some(publish))
            .filter(|result| level(&result.cell, "scheme") == Some(scheme))
            .filter_map(|result| {
                let clients: f64 = level(&result.cell, "clients")?.parse().ok()?;
                Some((clients, Point::of_result(clients, result, metric, 1.0)))
            })
            .collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        points.into_iter().map(|(_, point)| point).collect()
    }
}

/// The schemes' names, in the paper's order.
pub(super) fn schemes() -> Vec<String> {
    SCHEMES.iter().map(Scheme::to_string).collect()
}

/// One of the paper's figures: its metric, and the two publications that it shows.
pub(super) struct Of {
    pub(super) number: u32,
    pub(super) title: &'static str,
    pub(super) metric: &'static str,
    pub(super) unit: &'static str,
    pub(super) publications: [&'static str; 2],
    /// What the text says of it: publication, scheme, clients, value.
    stated: &'static [(&'static str, &'static str, f64, f64)],
}

pub(super) const FIGURES: [Of; 6] = [
    Of {
        number: 2,
        title: "Mean publish trip time",
        metric: "mpt",
        unit: "s",
        publications: ["5", "1-50"],
        stated: &[("5", "streaming", 256.0, 1.0)],
    },
    Of {
        number: 3,
        title: "Messages received, of those published",
        metric: "rpm",
        unit: "%",
        publications: ["1", "50"],
        stated: &[("50", "polling-1s", 1.0, 5000.0)],
    },
    Of {
        number: 4,
        title: "Unique messages received, of those published",
        metric: "rupm",
        unit: "%",
        publications: ["1", "30"],
        stated: &[("1", "streaming", 128.0, 100.0)],
    },
    Of {
        number: 5,
        title: "Packets on the line",
        metric: "ntp",
        unit: "packets/s",
        publications: ["1", "1-50"],
        stated: &[
            ("1", "polling-1s", 256.0, 50.0),
            ("1", "long-polling", 256.0, 50.0),
            ("1", "streaming", 256.0, 250.0),
        ],
    },
    Of {
        number: 6,
        title: "Bytes on the line",
        metric: "ntb",
        unit: "KiB/s",
        publications: ["1", "1-50"],
        stated: &[],
    },
    Of {
        number: 7,
        title: "Share of the time in which a client holds the newest",
        metric: "mct",
        unit: "%",
        publications: ["1", "50"],
        stated: &[("1", "streaming", 128.0, 50.0)],
    },
];

/// All figures, in the order of the report.
pub(super) fn of(run: &Run) -> Vec<Figure> {
    let mut all = Vec::new();
    for figure in &FIGURES {
        for (part, publish) in ["a", "b"].into_iter().zip(figure.publications) {
            let drawn =
                HALF_AND_FULL.map(|duplex| figure.drawn(part, publish, &Grid::of(run, duplex)));
            all.extend(drawn);
        }
    }
    all.extend(LINKS.map(|link| of_gateway(run, link)));
    all.retain(Figure::shows_something);
    all
}

impl Of {
    fn drawn(&self, part: &str, publish: &'static str, grid: &Grid<'_>) -> Figure {
        let (number, duplex) = (self.number, grid.duplex);
        let when = match publish {
            "1-50" => "every 1 to 50 s, at random".to_string(),
            seconds => format!("every {seconds} s"),
        };
        let names = schemes();
        let ours = names
            .iter()
            .map(|name| Series::here(name, grid.line(publish, name, self.metric)));
        let stated = self.stated.iter().filter(|of| of.0 == publish);
        let ghosts = stated.map(|&(_, scheme, clients, value)| {
            let point = Point::at(clients, value).note("a number of the text");
            Series::published(scheme, "Duquennoy2009, section 4.3", vec![point])
        });
        let y = Axis::new(self.title, self.unit);
        let y = if self.metric == "mct" || self.metric == "rupm" {
            y
        } else {
            y.log()
        };
        Figure::new(
            Form::Lines,
            &format!("duquennoy-figure-{number}{part}-{duplex}"),
            &format!("{}, published {when}, {duplex} duplex", self.title),
        )
        .axes(Axis::new("clients", "").log(), y)
        .caption(&format!(
            "In the form of figure {number}({part}) of Duquennoy et al.: a device behind a line of {LINE} bytes a \
             second, in virtual time; whiskers are the interval over runs. The paper's curves reach us as \
             captions, so its ghosts are numbers of its text."
        ))
        .series(ours.chain(ghosts))
        .group(&format!("Figure {number}"))
    }
}

/// How long a publication takes to the gateway's clients.
fn of_gateway(run: &Run, link: &str) -> Figure {
    let on = Slice::of(run).with("link", link);
    let mut series = Vec::new();
    for scheme in on.levels("scheme") {
        let by_scheme = on.with("scheme", scheme);
        series.extend(by_scheme.targets().into_iter().map(|target| {
            let line = by_scheme
                .by(target)
                .line("clients", "publish_to_receive", 1e6);
            Series::here(&format!("{scheme}, {target}"), line)
        }));
    }
    Figure::new(
        Form::Lines,
        &format!("trip-gateway-{link}"),
        &format!("Mean trip from the gateway, published every second, link {link}"),
    )
    .axes(
        Axis::new("clients", "").log(),
        Axis::new("mean trip", "s").log(),
    )
    .caption(
        "From when a message was due to be published until a client has it, over all clients, on \
         one clock.",
    )
    .series(series)
    .group("The gateway")
}
