//! The cells: a protocol, what is done, between which clients, with how large a message.

use std::time::Duration;

use super::protocols::{PROTOCOLS, Protocol};
use weir_bench_model::effort::Effort;

/// The two clients of a conversation: who publishes, or asks first, stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clients {
    /// Programs, over TCP.
    NativeNative,
    /// A program publishes, a page over WebSocket receives: the paper's default.
    NativeBrowser,
    /// Pages of two browsers.
    BrowserBrowser,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Messages at a rate, one way (table 7): T_transfer.
    Transfer,
    /// The same message to and fro, as fast as it comes back (table 8).
    PingPong,
}

/// How long the broker has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// For a while, and has passed messages.
    Steady,
    /// Since just now.
    Started,
}

/// One cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// By which protocol.
    pub protocol: &'static Protocol,
    /// What is done.
    pub test: Test,
    /// Between whom.
    pub clients: Clients,
    /// Nodes in a message (1,478 characters of JSON at one, 7,163 at five).
    pub nodes: usize,
    /// How long the broker has run.
    pub state: State,
    /// Messages a second, of [`Test::Transfer`].
    pub rate: f64,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Interleaved rounds.
    pub rounds: usize,
    /// The same of cells that are not chief.
    pub rounds_of_others: usize,
    /// The same of cells that start their brokers.
    pub rounds_started: usize,
    /// Messages of a round of [`Test::Transfer`].
    pub messages: usize,
    /// The same before they count: to a page just opened, whose client has run nothing yet.
    pub warm_up_messages: usize,
    /// How long messages go to and fro in a round of [`Test::PingPong`].
    pub measure: Duration,
    /// The same before it counts.
    pub warm_up: Duration,
    /// How long messages go to and fro by a broker that has started and is to be steady.
    pub settle: Duration,
}

impl Clients {
    /// All, in the order of the report.
    pub(super) const ALL: [Self; 3] = [
        Self::NativeNative,
        Self::NativeBrowser,
        Self::BrowserBrowser,
    ];

    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NativeNative => "native-native",
            Self::NativeBrowser => "native-browser",
            Self::BrowserBrowser => "browser-browser",
        }
    }

    /// Browsers that take part.
    pub(super) fn browsers(self) -> usize {
        match self {
            Self::NativeNative => 0,
            Self::NativeBrowser => 1,
            Self::BrowserBrowser => 2,
        }
    }
}

impl Test {
    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Transfer => "transfer",
            Self::PingPong => "ping-pong",
        }
    }
}

impl State {
    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Started => "started",
        }
    }
}

impl Setting {
    /// Its place in a quick run, which ends when its time is over: of each protocol first what to and fro takes
    /// between programs and T_transfer to a page, then the other way around, all with the smallest message and
    /// brokers that run; then all else.
    pub(super) fn rank(&self) -> usize {
        match (self.nodes, self.state, self.clients, self.test) {
            (1, State::Steady, Clients::NativeNative, Test::PingPong) => 0,
            (1, State::Steady, Clients::NativeBrowser, Test::Transfer) => 0,
            (1, State::Steady, Clients::NativeNative | Clients::NativeBrowser, _) => 1,
            _ => 2,
        }
    }

    /// The cell's name: `factor=level;factor=level`.
    pub(super) fn name(&self) -> String {
        format!("protocol={};{}", self.protocol.name, self.levels())
    }

    /// The levels of all other factors, which cells of several protocols share.
    fn levels(&self) -> String {
        let start = format!(
            "test={};clients={};nodes={}",
            self.test.name(),
            self.clients.name(),
            self.nodes
        );
        match self.test {
            Test::Transfer => format!("{start};rate={}", self.rate),
            Test::PingPong => format!("{start};broker={}", self.state.name()),
        }
    }

    /// Cells of one group take turns, round by round, so that what is divided is not of the machine at two times: both
    /// AMQPs, and all protocols where messages go one way to a page.
    pub(super) fn group(&self) -> String {
        let family = match (self.test, self.clients) {
            (Test::Transfer, Clients::NativeBrowser) => "all",
            _ => self
                .protocol
                .name
                .trim_end_matches(|it: char| it.is_ascii_digit()),
        };
        format!("{family};{}", self.levels())
    }
}

impl Scale {
    /// Of an effort: in full as many messages and seconds a cell as the paper's, over four rounds.
    pub(super) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                rounds: 2,
                rounds_of_others: 1,
                rounds_started: 1,
                messages: 20,
                warm_up_messages: 3,
                measure: Duration::from_millis(700),
                warm_up: Duration::from_millis(150),
                settle: Duration::from_millis(1500),
            },
            Effort::Full => Self {
                rounds: 4,
                rounds_of_others: 4,
                rounds_started: 3,
                messages: 25,
                warm_up_messages: 5,
                measure: Duration::from_secs(25),
                warm_up: Duration::from_secs(2),
                settle: Duration::from_secs(20),
            },
        }
    }

    /// The same with rounds of the reader's own.
    pub(super) fn with_rounds(self, asked: Option<usize>) -> Self {
        let Some(rounds) = asked else { return self };
        Self {
            rounds,
            rounds_of_others: rounds,
            rounds_started: rounds,
            ..self
        }
    }

    /// The rounds of a cell.
    pub(super) fn rounds_of(&self, setting: &Setting) -> usize {
        match setting.state {
            State::Steady if setting.rank() == 0 => self.rounds,
            State::Steady => self.rounds_of_others,
            State::Started => self.rounds_started,
        }
    }
}

/// Messages a second: as published, or fast enough for a first look.
fn rate(effort: Effort) -> f64 {
    match effort {
        Effort::Quick => 50.0,
        Effort::Full => 1.0,
    }
}

/// Nodes in messages of [`Test::Transfer`].
pub(super) fn nodes(effort: Effort) -> &'static [usize] {
    match effort {
        Effort::Quick => &[1, 5],
        Effort::Full => &[1, 2, 3, 4, 5],
    }
}

/// All cells, in the order of the report; at a rate of the reader's own, or the effort's.
pub(super) fn settings(effort: Effort, asked: Option<f64>) -> Vec<Setting> {
    let mut all = Vec::new();
    for protocol in PROTOCOLS {
        let of = |test, clients, nodes, state| Setting {
            protocol,
            test,
            clients,
            nodes,
            state,
            rate: asked.unwrap_or_else(|| rate(effort)),
        };
        for clients in Clients::ALL {
            let nodes = nodes(effort).iter();
            all.extend(nodes.map(|&nodes| of(Test::Transfer, clients, nodes, State::Steady)));
        }
        for state in [State::Steady, State::Started] {
            let wanted = |clients: &Clients| {
                effort == Effort::Full || state == State::Steady || clients.browsers() < 2
            };
            let clients = Clients::ALL.into_iter().filter(wanted);
            all.extend(clients.map(|clients| of(Test::PingPong, clients, 1, state)));
        }
    }
    all
}

/// The names of all cells.
pub(super) fn names(effort: Effort) -> Vec<String> {
    settings(effort, None).iter().map(Setting::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_the_readers_own_are_those_of_every_cell() {
        let scale = Scale::of(Effort::Full).with_rounds(Some(2));
        let rounds = settings(Effort::Full, None)
            .iter()
            .map(|setting| scale.rounds_of(setting))
            .collect::<Vec<_>>();
        assert!(rounds.iter().all(|rounds| *rounds == 2), "{rounds:?}");
        assert_eq!(Scale::of(Effort::Full).with_rounds(None).rounds, 4);
    }

    #[test]
    fn cells_of_both_amqps_take_turns_and_to_a_page_those_of_all_protocols() {
        let all = settings(Effort::Full, None);
        let beside = |cell: &str| {
            let of = all.iter().find(|it| it.name() == cell);
            let group = of.map(Setting::group);
            let same = all.iter().filter(|it| Some(it.group()) == group);
            same.map(|it| it.protocol.name).collect::<Vec<_>>()
        };
        let amqp = ["amqp091", "amqp10"];
        let cell = "protocol=amqp10;test=ping-pong;clients=native-native;nodes=1;broker=steady";
        assert_eq!(beside(cell), amqp);
        let cell = "protocol=amqp091;test=transfer;clients=browser-browser;nodes=3;rate=1";
        assert_eq!(beside(cell), amqp);
        let cell = "protocol=dds;test=transfer;clients=native-browser;nodes=3;rate=1";
        assert_eq!(beside(cell).len(), PROTOCOLS.len());
        let cell = "protocol=dds;test=transfer;clients=native-native;nodes=3;rate=1";
        assert_eq!(beside(cell), ["dds"]);
    }

    #[test]
    fn a_full_run_has_the_messages_the_rate_and_the_seconds_of_the_paper() {
        let scale = Scale::of(Effort::Full);
        assert_eq!(
            (scale.rounds * scale.messages, rate(Effort::Full)),
            (100, 1.0)
        );
        let faster = settings(Effort::Full, Some(25.0));
        let names: Vec<String> = faster.iter().map(Setting::name).collect();
        assert_eq!(names.len(), super::names(Effort::Full).len());
        assert!(names[0].ends_with(";rate=25"), "{}", names[0]);
        assert_eq!(
            scale.measure * scale.rounds as u32,
            Duration::from_secs(100)
        );
    }
}
