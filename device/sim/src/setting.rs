//! The settings of paper 002 (section 4.2.1), as the authors' scripts have them.

use crate::time::{Nanos, SECOND};
use std::fmt;
use weir_random::Random;

/// How long a client whose connection or observation broke waits before it tries again.
pub(crate) const RETRY: Nanos = SECOND;

/// How a client gets to know what is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A request every so many seconds.
    Polling(u32),
    /// A request after a time that follows how often there is something new; not the paper's.
    Adaptive,
    /// A request that is answered when something is published.
    LongPolling,
    /// One request, a chunk a notification.
    Streaming,
    /// One request, an event a notification; not the paper's.
    Events,
    /// CoAP: one registration, a datagram a notification, each acknowledged; not the paper's.
    Observe,
}

/// When something is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// Every so many seconds.
    Every(u32),
    /// After 1 to 50 s, uniformly.
    Varying,
}

/// Whether both ends may talk at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// One at a time.
    Half,
    /// Both.
    Full,
    /// Neither waits its turn: they share a medium, and what overlaps is lost.
    Shared,
}

/// The serial line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Bytes a second, each way, SLIP's included.
    pub rate: u32,
    /// Whether both ends may talk at once.
    pub duplex: Duplex,
    /// Probability that a packet is lost.
    pub loss: f64,
}

/// One experiment of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Clients at once.
    pub clients: usize,
    /// When something is published.
    pub publication: Publication,
    /// How clients get to know.
    pub scheme: Scheme,
    /// The line between.
    pub line: Line,
    /// Share of the time in which each end may talk: after a packet it is silent in proportion.
    pub duty: f64,
}

/// Client counts of the authors' scripts; the paper says up to 256, the scripts 255.
pub const CLIENTS: [usize; 6] = [1, 16, 32, 64, 128, 256];
/// The counts that the paper's 210 settings are read as; it names all of these, and 32 nowhere.
const CLIENTS_OF_PAPER: [usize; 5] = [1, 16, 64, 128, 256];
const PUBLICATIONS: [Publication; 6] = [
    Publication::Every(1),
    Publication::Every(5),
    Publication::Every(15),
    Publication::Every(30),
    Publication::Every(50),
    Publication::Varying,
];
/// The paper's schemes, a polling interval each.
pub const SCHEMES: [Scheme; 7] = [
    Scheme::Polling(1),
    Scheme::Polling(5),
    Scheme::Polling(15),
    Scheme::Polling(30),
    Scheme::Polling(50),
    Scheme::LongPolling,
    Scheme::Streaming,
];

/// The paper's line, bytes a second.
const RATE_OF_PAPER: u32 = 14_400;

/// The grid: with the paper's schemes 252 settings.
pub fn settings(line: Line, schemes: &[Scheme]) -> Vec<Setting> {
    settings_of(&CLIENTS, line, schemes)
}

/// The grid with other client counts, of at most [`CLIENTS_MAX`](crate::CLIENTS_MAX).
pub fn settings_of(clients: &[usize], line: Line, schemes: &[Scheme]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for &clients in clients {
        for publication in PUBLICATIONS {
            settings.extend(schemes.iter().map(|&scheme| Setting {
                clients,
                publication,
                scheme,
                line,
                duty: 1.0,
            }));
        }
    }
    settings
}

/// How long is measured, and how long what was published meanwhile may take to be heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How long is measured.
    pub measured: Nanos,
    /// How long after that something may still be heard.
    pub drain: Nanos,
}

impl Setting {
    /// When a client begins: all of them within 10 ms each.
    pub(crate) fn ramp(&self, random: &mut Random) -> Nanos {
        (random.unit() * self.clients as f64 * 0.01 * SECOND as f64) as Nanos
    }

    /// What is measured of it: the paper's time, and a minute for what is late.
    pub fn window(&self) -> Window {
        Window {
            measured: self.duration(),
            drain: 60 * SECOND,
        }
    }

    /// Whether it is one of the paper's 210, by either reading of its line's duplex.
    pub fn is_of_paper(&self) -> bool {
        let line = self.line;
        let is_its_line = line.rate == RATE_OF_PAPER
            && line.duplex != Duplex::Shared
            && line.loss == 0.0
            && self.duty == 1.0;
        is_its_line && CLIENTS_OF_PAPER.contains(&self.clients) && SCHEMES.contains(&self.scheme)
    }

    /// How long is measured: the paper's 5 to 10 minutes, the longer where the interval varies.
    pub fn duration(&self) -> Nanos {
        match self.publication {
            Publication::Every(_) => 300 * SECOND,
            Publication::Varying => 600 * SECOND,
        }
    }
}

impl Publication {
    /// The time to the next publication.
    pub(crate) fn interval(self, random: &mut Random) -> Nanos {
        match self {
            Publication::Every(seconds) => Nanos::from(seconds) * SECOND,
            Publication::Varying => SECOND + (random.unit() * 49.0 * SECOND as f64) as Nanos,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::Polling(seconds) => write!(f, "polling-{seconds}s"),
            Scheme::Adaptive => write!(f, "polling-adaptive"),
            Scheme::LongPolling => write!(f, "long-polling"),
            Scheme::Streaming => write!(f, "streaming"),
            Scheme::Events => write!(f, "sse"),
            Scheme::Observe => write!(f, "observe"),
        }
    }
}

impl fmt::Display for Publication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Publication::Every(seconds) => write!(f, "{seconds}"),
            Publication::Varying => write!(f, "1-50"),
        }
    }
}

/// A cell's name in tables: `factor=level;factor=level`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            clients,
            publication,
            scheme,
            line,
            duty,
        } = self;
        let duplex = match line.duplex {
            Duplex::Half => "half",
            Duplex::Full => "full",
            Duplex::Shared => "shared",
        };
        let set = if self.is_of_paper() { "paper" } else { "more" };
        write!(f, "clients={clients};publish={publication};scheme={scheme}")?;
        let (rate, loss) = (line.rate, line.loss);
        write!(f, ";line={rate};duplex={duplex};loss={loss}")?;
        if *duty < 1.0 {
            write!(f, ";duty={duty}")?;
        }
        write!(f, ";set={set}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_the_scripts_and_the_papers() {
        let line = Line {
            rate: 14_400,
            duplex: Duplex::Full,
            loss: 0.0,
        };
        let settings = settings(line, &SCHEMES);
        assert_eq!(settings.len(), 252);
        let of_paper = settings.iter().filter(|setting| setting.is_of_paper());
        assert_eq!(of_paper.count(), 210);
        let first = "clients=1;publish=1;scheme=polling-1s;line=14400;duplex=full;loss=0;set=paper";
        assert_eq!(settings[0].to_string(), first);
    }

    #[test]
    fn another_line_is_not_the_papers() {
        let line = |rate, duplex, loss| Line { rate, duplex, loss };
        let of_paper = |line| {
            let settings = settings(line, &SCHEMES);
            settings.iter().filter(|cell| cell.is_of_paper()).count()
        };
        assert_eq!(of_paper(line(14_400, Duplex::Half, 0.0)), 210);
        assert_eq!(of_paper(line(11_520, Duplex::Half, 0.0)), 0);
        assert_eq!(of_paper(line(14_400, Duplex::Full, 0.02)), 0);
        assert_eq!(of_paper(line(14_400, Duplex::Shared, 0.0)), 0);
        let mut setting = settings(line(14_400, Duplex::Full, 0.0), &SCHEMES)[0];
        setting.duty = 0.1;
        assert!(!setting.is_of_paper());
        assert!(setting.to_string().ends_with(";loss=0;duty=0.1;set=more"));
    }
}
