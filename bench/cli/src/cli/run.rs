//! `weir bench run`: from arguments to a folder that holds the run.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_link::limits::SNAP_BYTES;

use super::{NO, print, shown, usage};
use weir_bench_lab::agent::Crew;
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::link::Captures;
use weir_bench_lab::order::Order;
use weir_bench_lab::targets::weir::digest_of_build;
use weir_bench_lab::targets::{Given, Settings, quoted};
use weir_bench_model::effort::{Effort, wants};
use weir_bench_model::journal::{Journal, Terms};
use weir_bench_model::results::Run;
use weir_bench_report as report;
use weir_bench_studies::experiments::{self, EXPERIMENTS};
use weir_bench_studies::planfile::{self, PlanFile};

/// What stands below the help.
pub(super) const EXAMPLES: &str = "Examples:
  weir bench run gateway --quick --out runs/gateway
  weir bench run all --quick --out runs/all
  weir bench run plan.toml --out runs/mine
  weir bench run gateway --out runs/gateway --resume

A plan is a TOML file of your own factors, message and targets:
  target = [\"weir\", \"mosquitto\", \"mqtt://10.0.0.5\"]
  delivery = [\"sse\", \"mqtt\"]
  link = [\"local\", \"3g\"]
  rate = [50, 500]
  clients = 20
  rounds = 3
  seconds = 3
  payload.file = \"message.json\"
  needs.p99_ms = 100

docs/guides/bench.md has all keys, the files of a run, and load from several machines.";

/// The word for every experiment.
const ALL: &str = "all";

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// An experiment of `weir bench list`, `all` of them, or a plan.toml of your own
    pub(super) experiment: String,
    /// A first look: the chief cells with short steps, about two minutes an experiment
    #[arg(long)]
    pub(super) quick: bool,
    /// Only cells whose name contains this; of several words, each, and none behind a `!`; of wishes with commas
    /// between them, any
    #[arg(long, value_name = "CELL", default_value = "")]
    pub(super) only: String,
    /// Orders cells and contenders
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the run is written [default: runs/<time>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in --out
    #[arg(long, requires = "out")]
    pub(super) resume: bool,
    /// Machine output
    #[arg(long)]
    pub(super) json: bool,
    /// The gateway's program [default: this one]
    #[arg(long, value_name = "PATH")]
    weir: Option<PathBuf>,
    /// A gateway that runs already, as http://127.0.0.1:8080
    #[arg(long, value_name = "URL", conflicts_with = "weir", value_parser = parse_url)]
    url: Option<Url>,
    /// Agents that share the load, as `weir bench agent` prints where they listen
    #[arg(long, value_name = "ADDRESS:PORT", value_delimiter = ',')]
    agents: Vec<SocketAddr>,
    /// Where targets listen, so that agents reach them
    #[arg(long, value_name = "ADDRESS")]
    host: Option<Ipv4Addr>,
    /// A broker that runs already, as mqtt://HOST:PORT; given again, its ws://HOST:PORT/PATH
    #[arg(long, value_name = "URL")]
    target: Vec<String>,
    /// Messages a second, of web-delivery and of messaging: faster than the 1 Hz that was published
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<f64>,
    /// Interleaved rounds of each cell of messaging, where those of the published scale take too long
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Write the packets on emulated links down for Wireshark, into a file a link of this folder
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Bytes of each packet that are written down; 0: whole packets
    #[arg(long, value_name = "BYTES", default_value_t = SNAP_BYTES, requires = "pcap")]
    snap: u32,
    /// What web-delivery measures in: a headless Chromium of its own, or any browser that a person opens
    /// by the link and the code that are printed
    #[arg(long, value_name = "WHICH", default_value = "own", value_parser = ["own", "open"])]
    browser: String,
}

/// Experiments whose client may be a browser that a person opens.
const OPENED: [&str; 2] = ["web-delivery", "messaging"];

/// Whether an experiment is measured in any browser; an error says which is.
fn opens(experiment: &str) -> Result<(), String> {
    match OPENED.contains(&experiment) {
        true => Ok(()),
        false => Err(format!(
            "{experiment} is not measured in a browser that a person opens: leave out --browser open, or run {} \
             with it",
            OPENED.join(" or ")
        )),
    }
}

/// What is run.
enum What {
    Experiment(&'static Experiment),
    Plan(Box<PlanFile>),
}

/// Runs what was asked for; the exit code.
pub(super) fn run(arguments: &Arguments, line: &[String], out: &mut dyn Write) -> i32 {
    let default = || {
        format!(
            "runs/{}",
            weir_bench_model::calendar::utc_now().replace(':', "")
        )
        .into()
    };
    let folder: PathBuf = arguments.out.clone().unwrap_or_else(default);
    let mut settings = match settings(arguments) {
        Ok(settings) => settings,
        Err(error) => return usage(&error),
    };
    if arguments.experiment == ALL {
        return super::all::run(arguments, &settings, &folder, out);
    }
    let begun = What::of(arguments).and_then(|what| {
        what.prepare(arguments)?;
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let crew = (!arguments.agents.is_empty()).then(|| Crew::connect(&arguments.agents));
        settings.agents = crew.transpose()?.map(Arc::new);
        let journal = arguments.journal(&what, &folder)?;
        journal.note(&settings.starts);
        what.keep(&folder)?;
        Ok((what, journal))
    });
    let (what, journal) = match begun {
        Ok(begun) => begun,
        Err(error) => return usage(&error),
    };
    match arguments.measure(&what, &settings, journal, &folder, line) {
        Ok(run) => {
            let printed = print(&shown(&run, arguments.json), out);
            eprintln!("written to {}", folder.display());
            let nothing = run.results.iter().all(|result| result.metrics.is_empty());
            if nothing { NO } else { printed }
        }
        Err(error) => {
            eprintln!("{error}");
            NO
        }
    }
}

impl What {
    fn of(arguments: &Arguments) -> Result<Self, String> {
        let asked = &arguments.experiment;
        if asked.ends_with(".toml") {
            if arguments.quick {
                return Err("a plan says itself how long it takes: no --quick".into());
            }
            return PlanFile::read(Path::new(asked)).map(|plan| Self::Plan(Box::new(plan)));
        }
        let known = || EXPERIMENTS.iter().map(|e| e.name).collect::<Vec<_>>();
        let unknown = || format!("no experiment {asked:?}; there is {}", known().join(", "));
        let found = experiments::named(asked);
        found.map(Self::Experiment).ok_or_else(unknown)
    }

    fn experiment(&self) -> &'static Experiment {
        match self {
            Self::Experiment(experiment) => experiment,
            Self::Plan(_) => &planfile::EXPERIMENT,
        }
    }

    /// Sees that there is a cell to run, and takes the rights that it needs.
    fn prepare(&self, arguments: &Arguments) -> Result<(), String> {
        if !arguments.agents.is_empty() {
            weir_bench_lab::agent::carry(self.experiment().name)?;
        }
        if arguments.is_opened() {
            opens(self.experiment().name)?;
        }
        if matches!(self, Self::Plan(_)) && !arguments.target.is_empty() {
            return Err("a plan names systems by their URL in `target`: no --target".into());
        }
        let cells = match self {
            Self::Experiment(experiment) => (experiment.cells)(arguments.effort()),
            Self::Plan(plan) => plan.names(),
        };
        let only = &arguments.only;
        let chosen: Vec<String> = cells
            .iter()
            .filter(|cell| wants(only, cell))
            .cloned()
            .collect();
        if chosen.is_empty() {
            let (name, first) = (self.experiment().name, cells.first());
            let like = first.map_or(String::new(), |cell| format!("; they are like {cell:?}"));
            return Err(format!("no cell of {name} contains {only:?}{like}"));
        }
        weir_bench_lab::link::prepare(&chosen);
        Ok(())
    }

    /// A plan lies beside its results.
    fn keep(&self, folder: &Path) -> Result<(), String> {
        let Self::Plan(plan) = self else {
            return Ok(());
        };
        let path = folder.join("plan.toml");
        std::fs::write(&path, &plan.text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn run(&self, order: &Order<'_>) -> Run {
        match self {
            Self::Experiment(experiment) => (experiment.run)(order),
            Self::Plan(plan) => plan.run(order),
        }
    }
}

impl Arguments {
    /// What an experiment of `all` is given.
    pub(super) fn passed_on(&self, experiment: &str) -> Vec<String> {
        let mut passed = vec!["--seed".into(), self.seed.to_string()];
        passed.extend(self.quick.then(|| "--quick".into()));
        let given = |option: &str, text: String| (!text.is_empty()).then(|| [option.into(), text]);
        let path =
            |path: &Option<PathBuf>| path.as_deref().map(Path::display).map(|p| p.to_string());
        let agents = match weir_bench_lab::agent::carry(experiment) {
            Ok(()) => self.agents_shown(),
            Err(_) => String::new(),
        };
        let texts = [
            given("--only", self.only.clone()),
            given("--weir", path(&self.weir).unwrap_or_default()),
            given("--url", self.url_shown()),
            given("--agents", agents),
            given(
                "--host",
                self.host.map_or_else(String::new, |host| host.to_string()),
            ),
            given("--rate", self.rate_shown()),
            given("--rounds", self.rounds_shown()),
            given(
                "--pcap",
                path(&self.pcap.as_ref().map(|it| it.join(experiment))).unwrap_or_default(),
            ),
            given("--snap", self.snap_shown()),
            given("--browser", self.browser_shown(experiment)),
        ];
        let targets = self
            .target
            .iter()
            .filter_map(|url| given("--target", url.clone()));
        passed.extend(texts.into_iter().flatten().chain(targets).flatten());
        passed
    }

    fn is_opened(&self) -> bool {
        self.browser == "open"
    }

    /// Of experiments that read it.
    fn browser_shown(&self, experiment: &str) -> String {
        let is_told = self.is_opened() && opens(experiment).is_ok();
        if is_told {
            self.browser.clone()
        } else {
            String::new()
        }
    }

    fn snap_shown(&self) -> String {
        let snap = self.pcap.as_ref().map(|_| self.snap.to_string());
        snap.unwrap_or_default()
    }

    fn rounds_shown(&self) -> String {
        self.rounds
            .map_or_else(String::new, |rounds| rounds.to_string())
    }

    fn rate_shown(&self) -> String {
        self.rate.map_or_else(String::new, |rate| rate.to_string())
    }

    fn agents_shown(&self) -> String {
        let shown = self.agents.iter().map(SocketAddr::to_string);
        shown.collect::<Vec<_>>().join(",")
    }

    /// How much time it may take.
    pub(super) fn effort(&self) -> Effort {
        match self.quick {
            true => Effort::Quick,
            false => Effort::Full,
        }
    }

    /// Where a gateway runs already.
    fn address(&self) -> Option<SocketAddr> {
        self.url.as_ref().map(|url| url.address)
    }

    fn url_shown(&self) -> String {
        let text = self.url.as_ref().map(|url| url.text.clone());
        text.unwrap_or_default()
    }

    fn journal(&self, what: &What, folder: &Path) -> Result<Journal, String> {
        let terms = self.terms(what)?;
        match self.resume {
            true => Journal::resume(folder, &terms),
            false => Journal::begin(folder, &terms),
        }
    }

    /// What must be the same for a run to go on.
    fn terms(&self, what: &What) -> Result<Terms, String> {
        let plan = match what {
            What::Experiment(_) => String::new(),
            What::Plan(plan) => plan.text.clone(),
        };
        let shown = |path: &PathBuf| path.display().to_string();
        let host = self.host.map_or_else(String::new, |host| host.to_string());
        let terms = [
            ("experiment", what.experiment().name.into()),
            ("plan", plan),
            ("effort", self.effort().name().into()),
            ("only", self.only.clone()),
            ("seed", self.seed.to_string()),
            ("weir", self.weir.as_ref().map_or_else(String::new, shown)),
            ("url", self.url_shown()),
            ("agents", self.agents_shown()),
            ("host", host),
            ("target", self.target.join(" ")),
            ("rounds", self.rounds_shown()),
            ("rate", self.rate_shown()),
            ("browser", self.browser.clone()),
            ("version", version()?),
            (
                "build",
                digest_of_build(self.weir.as_deref(), self.address()),
            ),
        ];
        Ok(terms.map(|(name, value)| (name.into(), value)).into())
    }

    /// Runs an experiment and writes all of it.
    fn measure(
        &self,
        what: &What,
        settings: &Settings,
        journal: Journal,
        folder: &Path,
        line: &[String],
    ) -> Result<Run, String> {
        let work = folder.join("work");
        // A run that was killed left what its targets kept.
        let _ = std::fs::remove_dir_all(&work);
        std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
        // Programs are started with paths of their own working folder.
        let work = std::fs::canonicalize(&work).unwrap_or(work);
        let mut run = what.run(&Order {
            experiment: what.experiment().name,
            source: what.experiment().source,
            effort: self.effort(),
            only: &self.only,
            seed: self.seed,
            settings,
            work: &work,
            journal: &journal,
            command: command_line(line),
        });
        let _ = std::fs::remove_dir_all(&work);
        let (started, seconds) = journal.before();
        run.started = started;
        run.seconds += seconds;
        run.configurations = settings.starts.all();
        journal.sheet(&mut run)?;
        report::write(&experiments::subject(&run), folder)?;
        journal.close();
        Ok(run)
    }
}

/// `weir bench agent`; the exit code.
pub(super) fn agent(listen: SocketAddr) -> i32 {
    match weir_bench_lab::agent::main(listen, &Settings::default()) {
        Ok(()) => super::DONE,
        Err(error) => usage(&error),
    }
}

/// This program's version and a digest of its bytes: another build measures another thing.
fn version() -> Result<String, String> {
    use std::hash::{DefaultHasher, Hasher};
    let program = std::env::current_exe().and_then(std::fs::read);
    let program = program.map_err(|e| format!("this program: {e}"))?;
    let mut digest = DefaultHasher::new();
    digest.write(&program);
    let (version, digest) = (env!("CARGO_PKG_VERSION"), digest.finish());
    Ok(format!("{version} ({digest:016x})"))
}

fn settings(arguments: &Arguments) -> Result<Settings, String> {
    Ok(Settings {
        weir: arguments.weir.clone(),
        address: arguments.address(),
        given: Given::of(&arguments.target)?,
        host: arguments.host,
        rate: arguments.rate,
        rounds: arguments.rounds.map(|rounds| rounds as usize),
        capture: match (&arguments.pcap, arguments.experiment == ALL) {
            (Some(folder), false) => Some(Captures::open(folder, arguments.snap)?),
            _ => None,
        },
        is_opened: arguments.is_opened(),
        ..Settings::default()
    })
}

/// From one an hour to ten thousand a second.
fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().map_err(|_| "a number of messages a second")?;
    match (1.0 / 3600.0..=10_000.0).contains(&rate) {
        true => Ok(rate),
        false => Err("between 1/3600 and 10000".into()),
    }
}

/// A gateway that runs already.
#[derive(Clone, Debug)]
struct Url {
    /// As it was given.
    text: String,
    address: SocketAddr,
}

fn parse_url(text: &str) -> Result<Url, String> {
    let authority = text.strip_prefix("http://").unwrap_or(text);
    let address = authority.trim_end_matches('/').parse();
    Ok(Url {
        text: text.into(),
        address: address.map_err(|error| format!("{error}; give http://ADDRESS:PORT"))?,
    })
}

pub(super) fn command_line(line: &[String]) -> String {
    let words = ["weir", "bench"]
        .into_iter()
        .chain(line.iter().map(String::as_str))
        // What made it again makes it whole at once.
        .filter(|word| *word != "--resume");
    words.map(quoted).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_that_no_opened_browser_measures_says_which_does() {
        let refused: Vec<&str> = EXPERIMENTS
            .iter()
            .map(|experiment| experiment.name)
            .filter(|name| opens(name).is_err_and(|why| why.contains(OPENED[0])))
            .collect();
        assert_eq!(refused.len(), EXPERIMENTS.len() - OPENED.len());
        assert!(!refused.contains(&OPENED[0]) && refused.contains(&"services"));
    }
}
