//! One setting on the board: its image, the emulator, the line at its pace, and the clients before it.

use std::path::{Path, PathBuf};
use std::process::Command;

use weir_board::limits::MTU;
use weir_board::{Duplex, Emulator, Line, Nanos, Port, Side, by_name};
use weir_sim::{
    Clients, Crowd, Figures, Outlet, Passed, Probe, Publication, SECOND, Setting, Window,
};

use weir_bench_lab::targets::find_program;

/// The board whose serial port holds the processor back as a real one does.
const BOARD: &str = "mps2";
/// How long the board's clock is looked for at most, beside its publications.
const PATIENCE: Nanos = 30 * SECOND;

/// What a setting gave.
pub(super) struct Live {
    pub(super) figures: Figures,
    /// How much the publications differ about the board's clock.
    pub(super) clock_spread: Nanos,
    /// How much the line was late beyond what it made up for.
    pub(super) forgotten: Nanos,
    /// How long all took.
    pub(super) took: Nanos,
}

/// The line, as clients see it.
struct Way<'a>(&'a mut Line);

impl Outlet for Way<'_> {
    fn has_room(&self) -> bool {
        self.0.has_room()
    }

    fn enqueue(&mut self, packet: Vec<u8>) {
        self.0.enqueue(&packet);
    }

    fn passed(&self) -> Passed {
        let counts = self.0.counts();
        Passed {
            packets: counts.packets.iter().sum(),
            bytes: counts.bytes.iter().sum(),
            ..Passed::default()
        }
    }
}

/// Clients at this end of the board's line.
struct Before<T>(T);

impl<T: Clients> Side for Before<T> {
    fn take(&mut self, now: Nanos, packet: Vec<u8>, line: &mut Line) {
        self.0.take(now, packet, &mut Way(line));
    }

    fn poll(&mut self, now: Nanos, line: &mut Line) {
        self.0.poll(now, &mut Way(line));
    }

    fn deadline(&mut self, now: Nanos) -> Option<Nanos> {
        Some(self.0.deadline(now))
    }

    fn is_done(&self, now: Nanos) -> bool {
        self.0.is_done(now)
    }
}

fn seconds(setting: &Setting) -> Result<u32, String> {
    match setting.publication {
        Publication::Every(seconds) => Ok(seconds),
        Publication::Varying => Err("the board publishes at one interval only".into()),
    }
}

/// The image that publishes the board's clock at the setting's interval, built if it is not there.
pub(super) fn image(setting: &Setting) -> Result<PathBuf, String> {
    find_program("qemu-system-arm", "qemu-system-arm")?;
    let root = root().ok_or("absent: no scripts/firmware here: the project's folder has it")?;
    let interval_ms = seconds(setting)? * 1_000;
    let folder = format!("device/firmware/target/spots/{interval_ms}");
    let built = Command::new(root.join("scripts/firmware"))
        .arg(BOARD)
        .env("WEIR_INTERVAL_MS", interval_ms.to_string())
        .env_remove("WEIR_CONNECTIONS")
        .env_remove("CARGO_TARGET_DIR")
        .env(
            "WEIR_FIRMWARE_ARGUMENTS",
            format!("--features clock --target-dir {folder}"),
        )
        .output()
        .map_err(|error| format!("absent: scripts/firmware: {error}"))?;
    let said = String::from_utf8_lossy(&built.stderr);
    let last = said.lines().last().unwrap_or("it said nothing");
    match (built.status.code(), by_name(BOARD)) {
        (Some(0), Some(board)) => {
            let image = root.join(folder).join(board.target);
            Ok(image.join("release").join(BOARD))
        }
        (Some(3), _) => Err(format!("absent: no compiler for the board: {last}")),
        _ => Err(format!("the board's image is not built: {last}")),
    }
}

/// The project's folder: around where this program is called, or lies.
fn root() -> Option<PathBuf> {
    let places = [std::env::current_dir(), std::env::current_exe()];
    let places = places.into_iter().flatten();
    let has = |folder: &&Path| folder.join("scripts/firmware").is_file();
    places
        .filter_map(|place| place.ancestors().find(has).map(Path::to_owned))
        .next()
}

/// Runs a setting on the board.
pub(super) fn run(setting: &Setting, window: Window, seed: u64) -> Result<Live, String> {
    let image = image(setting)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(measure(setting, window, seed, &image))
}

async fn measure(
    setting: &Setting,
    window: Window,
    seed: u64,
    image: &Path,
) -> Result<Live, String> {
    let board = by_name(BOARD).ok_or("no such board")?;
    let (_emulator, serial) =
        Emulator::start(board, image, None).map_err(|fault| fault.to_string())?;
    let duplex = match setting.line.duplex {
        weir_sim::Duplex::Half => Duplex::Half,
        weir_sim::Duplex::Full => Duplex::Full,
        weir_sim::Duplex::Shared => return Err("an emulated serial line is not shared".into()),
    };
    let line = Line::new(setting.line.rate.into(), duplex);
    let mut port = Port::new(serial, line, MTU).map_err(|error| error.to_string())?;
    let probe = find_clock(&mut port, setting, seed).await?;
    let (began, before) = (port.now(), port.line().forgotten());
    let crowd = Crowd::new(setting, window, &probe, began, seed);
    let mut crowd = Before(crowd.ok_or("the board publishes at one interval only")?);
    let until = began + window.measured + window.drain + 120 * SECOND;
    let endless = "the clients did not come to an end";
    run_out(&mut port, &mut crowd, until, endless).await?;
    Ok(Live {
        figures: crowd.0.figures(),
        clock_spread: probe.spread(),
        forgotten: port.line().forgotten() - before,
        took: port.now() - began,
    })
}

async fn find_clock(port: &mut Port, setting: &Setting, seed: u64) -> Result<Probe, String> {
    let mut probing = Before(Probe::new(setting, seed));
    let interval = Nanos::from(seconds(setting)?) * SECOND;
    let until = port.now() + PATIENCE + 8 * interval;
    run_out(port, &mut probing, until, "the board publishes nothing").await?;
    Ok(probing.0)
}

/// Lets a side do what it is there for; `unfinished` is what is wrong where that is not done in time.
async fn run_out(
    port: &mut Port,
    side: &mut impl Side,
    until: Nanos,
    unfinished: &str,
) -> Result<(), String> {
    let ran = port.run(side, until).await;
    ran.map_err(|error| error.to_string())?;
    match side.is_done(port.now()) {
        true => Ok(()),
        false => Err(unfinished.into()),
    }
}
