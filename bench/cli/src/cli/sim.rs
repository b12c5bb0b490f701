//! `weir sim`: experiments in virtual time.

use clap::{Args, Subcommand, ValueEnum};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;
use weir_program::{Failure, print};
use weir_sim::{
    CLIENTS, CLIENTS_MAX, Cell, Duplex, Line, SCHEMES, Scheme, Setting, csv, grid, settings_of,
};

#[derive(Args)]
pub(crate) struct Sim {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// Paper 002's grid: a device that notifies up to 256 clients over a serial line
    Notification(Notification),
}

#[derive(Args)]
struct Notification {
    /// Seed of all that is random; the same seed gives the same table
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs of each setting; of ten the two best and the two worst are left out
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
    /// Folder for summary.csv
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Whether both ends of the line may talk at once; `shared` is one medium on which packets collide
    #[arg(long, value_enum, default_value = "full")]
    duplex: Direction,
    /// Bytes a second on the line: 14400 as the paper says, 11520 as 115200 baud with 8N1 carry
    #[arg(
        long,
        default_value_t = 14_400,
        value_parser = clap::value_parser!(u32).range(100..=100_000_000)
    )]
    line: u32,
    /// Share of the packets that the line loses, each way
    #[arg(long, default_value_t = 0.0, value_parser = share)]
    loss: f64,
    /// Share of the time in which each end may talk, as rules for radio bands have it
    #[arg(long, default_value_t = 1.0, value_name = "SHARE", value_parser = duty)]
    duty: f64,
    /// Clients at once, instead of the paper's six counts; may be given several times
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u16).range(1..=CLIENTS_MAX as i64)
    )]
    clients: Vec<u16>,
    /// Polling whose interval follows the publications too, which the paper has not
    #[arg(long)]
    adaptive: bool,
    /// Server-sent events too, which the paper has not
    #[arg(long)]
    sse: bool,
    /// CoAP Observe too, which the paper has not: each notification a datagram that is acknowledged
    #[arg(long)]
    observe: bool,
    /// Only cells whose name contains all of this, as in `clients=128;publish=1;`
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Runs at the same time; all processors unless said
    #[arg(long, value_name = "COUNT")]
    jobs: Option<NonZero<usize>>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Direction {
    Half,
    Full,
    Shared,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match (0.0..1.0).contains(&share) {
        true => Ok(share),
        false => Err("between 0 and 1".into()),
    }
}

fn duty(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a number above 0, at most 1".into()),
    }
}

pub(crate) fn run(sim: &Sim) -> Result<(), Failure> {
    let Experiment::Notification(notification) = &sim.experiment;
    let settings = notification.settings();
    if settings.is_empty() {
        return Err(Failure::usage("no cell has such a name"));
    }
    let begun = Instant::now();
    let cells = notification.grid(&settings);
    let took = begun.elapsed().as_secs_f64();
    print(table(&cells))?;
    let runs = settings.len() * usize::from(notification.runs);
    eprintln!("{} cells, {runs} runs, {took:.1} s", cells.len());
    match &notification.out {
        Some(folder) => write(folder, &csv(&cells)),
        None => Ok(()),
    }
}

impl Notification {
    fn settings(&self) -> Vec<Setting> {
        let duplex = match self.duplex {
            Direction::Half => Duplex::Half,
            Direction::Full => Duplex::Full,
            Direction::Shared => Duplex::Shared,
        };
        let line = Line {
            rate: self.line,
            duplex,
            loss: self.loss,
        };
        let mut settings = settings_of(&self.clients(), line, &self.schemes());
        for setting in &mut settings {
            setting.duty = self.duty;
        }
        settings.retain(|setting| {
            let name = setting.to_string();
            self.only.iter().all(|part| name.contains(part.as_str()))
        });
        settings
    }

    fn clients(&self) -> Vec<usize> {
        match self.clients.as_slice() {
            [] => CLIENTS.to_vec(),
            clients => clients.iter().copied().map(usize::from).collect(),
        }
    }

    fn schemes(&self) -> Vec<Scheme> {
        let more = [
            (self.adaptive, Scheme::Adaptive),
            (self.sse, Scheme::Events),
            (self.observe, Scheme::Observe),
        ];
        let more = more.into_iter().filter(|(is_asked, _)| *is_asked);
        SCHEMES
            .into_iter()
            .chain(more.map(|(_, scheme)| scheme))
            .collect()
    }

    fn grid(&self, settings: &[Setting]) -> Vec<Cell> {
        let workers = self
            .jobs
            .or_else(|| std::thread::available_parallelism().ok());
        let told = |done: usize| {
            if done.is_multiple_of(25) {
                eprintln!("{done} of {} cells", settings.len());
            }
        };
        let workers = workers.map_or(1, NonZero::get);
        grid(settings, self.seed, self.runs.into(), workers, &told)
    }
}

/// The metrics of the figures, a row a cell.
fn table(cells: &[Cell]) -> String {
    let mut text = format!(
        "{:>7} {:>7} {:<16} {:>8} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7} {:>8}\n",
        "clients",
        "publish",
        "scheme",
        "MPT s",
        "RPM %",
        "RUPM %",
        "RMP %",
        "NTP /s",
        "NTB KiB",
        "MCT %",
        "again %",
        "lost %",
        "mJ"
    );
    for Cell { setting, outcome } in cells {
        let Setting {
            clients,
            publication,
            scheme,
            ..
        } = setting;
        let [mpt, rpm, rupm, rmp, ntp, ntb, mct] =
            ["MPT", "RPM", "RUPM", "RMP", "NTP", "NTB", "MCT"].map(|name| outcome.mean(name));
        let [again, lost, energy] = ["repeated", "lost", "energy"].map(|name| outcome.mean(name));
        let (publication, scheme) = (publication.to_string(), scheme.to_string());
        text += &format!("{clients:>7} {publication:>7} {scheme:<16} {mpt:>8.3} {rpm:>8.1} ");
        text += &format!("{rupm:>7.2} {rmp:>7.2} {ntp:>7.1} {ntb:>7.2} {mct:>7.2} {again:>8.2} ");
        text += &format!("{lost:>7.2} {energy:>8.3}\n");
    }
    text
}

fn write(folder: &Path, text: &str) -> Result<(), Failure> {
    let file = folder.join("summary.csv");
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, text))
        .map_err(|error| Failure::no(format!("{}: {error}", file.display())))
}
