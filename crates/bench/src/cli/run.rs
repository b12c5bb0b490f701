//! `weir bench run`: from arguments to a folder that holds the run.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{NO, print, shown, usage};
use crate::experiments::{EXPERIMENTS, Effort, Experiment, Order, wants};
use crate::journal::{Journal, Terms};
use crate::report;
use crate::results::Run;
use crate::targets::{Given, Settings};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The experiment
    experiment: String,
    /// The chief cells with short steps: minutes, of `encoding` about five
    #[arg(long)]
    quick: bool,
    /// Only cells whose name contains this
    #[arg(long, value_name = "CELL", default_value = "")]
    only: String,
    /// Orders cells and contenders
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the run is written [default: runs/<time>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in --out
    #[arg(long, requires = "out")]
    resume: bool,
    /// Machine output
    #[arg(long)]
    json: bool,
    /// The gateway's program [default: this one]
    #[arg(long, value_name = "PATH")]
    weir: Option<PathBuf>,
    /// A gateway that runs already, as http://127.0.0.1:8080
    #[arg(long, value_name = "URL", conflicts_with = "weir")]
    url: Option<String>,
    /// A broker that runs already, as mqtt://HOST:PORT; given again, its ws://HOST:PORT/PATH
    #[arg(long, value_name = "URL")]
    target: Vec<String>,
}

/// Runs what was asked for; the exit code.
pub(super) fn run(arguments: &Arguments, line: &[String], out: &mut dyn Write) -> i32 {
    let Some(experiment) = Experiment::named(&arguments.experiment) else {
        let known: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
        let (asked, known) = (&arguments.experiment, known.join(", "));
        return usage(&format!("no experiment {asked:?}; there is {known}"));
    };
    let cells = (experiment.cells)(arguments.effort());
    if !cells.iter().any(|cell| wants(&arguments.only, cell)) {
        let only = &arguments.only;
        return usage(&format!("no cell contains {only:?}; see `weir bench list`"));
    }
    let wanted = cells.iter().filter(|cell| wants(&arguments.only, cell));
    crate::link::prepare(wanted);
    let default = || format!("runs/{}", crate::calendar::utc_now().replace(':', "")).into();
    let folder = arguments.out.clone().unwrap_or_else(default);
    let begun = settings(arguments, line).and_then(|settings| {
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let journal = arguments.journal(experiment, &folder)?;
        Ok((settings, journal))
    });
    let (settings, journal) = match begun {
        Ok(begun) => begun,
        Err(error) => return usage(&error),
    };
    match arguments.measure(experiment, &settings, journal, &folder, line) {
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

impl Arguments {
    fn effort(&self) -> Effort {
        match self.quick {
            true => Effort::Quick,
            false => Effort::Full,
        }
    }

    fn journal(&self, experiment: &Experiment, folder: &Path) -> Result<Journal, String> {
        let terms = self.terms(experiment)?;
        match self.resume {
            true => Journal::resume(folder, &terms),
            false => Journal::begin(folder, &terms),
        }
    }

    /// What must be the same for a run to go on.
    fn terms(&self, experiment: &Experiment) -> Result<Terms, String> {
        let shown = |path: &PathBuf| path.display().to_string();
        let terms = [
            ("experiment", experiment.name.into()),
            ("effort", self.effort().name().into()),
            ("only", self.only.clone()),
            ("seed", self.seed.to_string()),
            ("weir", self.weir.as_ref().map_or_else(String::new, shown)),
            ("url", self.url.clone().unwrap_or_default()),
            ("target", self.target.join(" ")),
            ("version", version()?),
        ];
        Ok(terms.map(|(name, value)| (name.into(), value)).into())
    }

    /// Runs an experiment and writes all of it.
    fn measure(
        &self,
        experiment: &'static Experiment,
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
        let mut run = (experiment.run)(&Order {
            experiment,
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
        journal.sheet(&mut run)?;
        report::write(&run, folder)?;
        journal.close();
        Ok(run)
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

fn settings(arguments: &Arguments, line: &[String]) -> Result<Settings, String> {
    let address = arguments.url.as_deref().map(parse_url).transpose()?;
    Ok(Settings {
        weir: arguments.weir.clone(),
        address,
        given: Given::of(&arguments.target)?,
        prefix: prefix(line),
        pages: None,
        end: Default::default(),
    })
}

fn parse_url(url: &str) -> Result<SocketAddr, String> {
    let authority = url
        .strip_prefix("http://")
        .unwrap_or(url)
        .trim_end_matches('/');
    authority
        .parse()
        .map_err(|e| format!("--url {url}: {e}; give http://ADDRESS:PORT"))
}

/// What stands before the bench's arguments on this process's command line (`bench`, of `weir`).
pub(super) fn prefix(line: &[String]) -> Vec<String> {
    let whole: Vec<String> = std::env::args().skip(1).collect();
    let own = whole.len().saturating_sub(line.len());
    whole[..own].to_vec()
}

fn command_line(line: &[String]) -> String {
    let words = ["weir", "bench"]
        .into_iter()
        .chain(line.iter().map(String::as_str));
    let quoted = words.map(|word| {
        if word.contains([' ', ';', '&', '*']) {
            format!("'{word}'")
        } else {
            word.into()
        }
    });
    quoted.collect::<Vec<String>>().join(" ")
}
