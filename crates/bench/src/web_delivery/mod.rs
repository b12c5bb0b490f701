//! The experiment `web-delivery`: from the gateway's hands to a person's eyes, in a real browser.
//!
//! From Babovic, Protic and Milutinovic 2016 (paper 000, tables 2 to 6, figures 4 to 8): a page follows a
//! gateway by each delivery scheme, in each format, and every message is stamped until the frame that
//! shows it is presented. Flash and Silverlight are dead; their encodings (AMF 3, SOAP) and schemes are
//! here. What it deliberately does not do: speak HTTP itself; all that is measured is a browser's own.
//! The decision worth arguing: one page measures all cells of a link, as an application would that runs
//! for hours; its engine is warm, and cells whose rounds alternate share its state of the moment.

mod cells;
mod claims;
mod clock;
mod driver;
mod figures;
mod opened;
mod orders;
mod page;
mod publisher;
mod stage;
mod stamps;

pub(crate) use cells::names;
pub(crate) use figures::figures;
pub(crate) use page::markdown;

use std::path::Path;

use self::cells::{Scale, Setting};
use self::driver::Driver;
use self::stage::Stage;
use crate::clock::now_ns;
use crate::devtools::{Browser, Page};
use crate::experiments::Order;
use crate::link::{End, Ends, LOCAL, Links};
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::{CellResult, ClaimResult, OURS, Run};
use crate::targets::Running;

/// When the page is there, or is known not to come.
const READY: &str = "typeof weirMeasure === 'object' || \
                     performance.getEntriesByType('navigation')[0]?.responseStatus >= 400";
const NO_PAGE: &str = "absent: this build has no measuring page; `make web`, then build weir again";

/// Cells whose rounds alternate.
type Group = Vec<Setting>;

/// Runs the experiment.
pub(crate) fn run(order: &Order<'_>) -> Run {
    let started = now_ns();
    let mut run = Run::begin(order);
    let mut wanted = cells::settings(order.effort);
    wanted.retain(|setting| order.wants(&setting.name()));
    let scale = Scale::of(order.effort, order.settings.rate);
    let groups = grouped(&wanted);
    let to_measure = groups
        .iter()
        .filter(|group| !order.journal.has(&key(group)));
    let progress = Progress::new(to_measure.map(Vec::len).sum::<usize>() * scale.rounds);
    let mut work = Work {
        order,
        scale,
        progress: &progress,
        shuffle: Shuffle::new(order.seed),
        done: 0,
        total: groups.len(),
    };
    let mut links = Links::new(order.seed);
    for of_link in groups.chunk_by(|a, b| a[0].link == b[0].link) {
        let folder = order.work.join(of_link[0][0].link);
        let ends = links.ends(order.settings, of_link[0][0].link);
        work.on_link(of_link, ends, &folder, &mut run);
        let _ = std::fs::remove_dir_all(&folder);
    }
    progress.finish();
    run.links = links.used();
    sort(&mut run, &wanted);
    run.claims = claims::judge(&run);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
}

/// What the paper claims of it, judged by a run.
pub(crate) fn claims_of(run: &Run) -> Vec<ClaimResult> {
    claims::judge(run)
}

/// Neighbours that are alike but for delivery and format.
fn grouped(settings: &[Setting]) -> Vec<Group> {
    let alike = settings.chunk_by(|a, b| a.group() == b.group());
    alike.map(<[Setting]>::to_vec).collect()
}

/// What the journal knows a group by: its cells, which `--only` may have thinned.
fn key(group: &Group) -> String {
    let names: Vec<String> = group.iter().map(Setting::name).collect();
    names.join(" ")
}

/// In the order of the experiment, not of the run.
fn sort(run: &mut Run, settings: &[Setting]) {
    let names: Vec<String> = settings.iter().map(Setting::name).collect();
    let place = |cell: &str| names.iter().position(|name| name == cell);
    run.results.sort_by_key(|result| place(&result.cell));
}

/// A run on its way.
struct Work<'a> {
    order: &'a Order<'a>,
    scale: Scale,
    progress: &'a Progress,
    shuffle: Shuffle,
    done: usize,
    total: usize,
}

impl Work<'_> {
    /// Measures the groups of a link; where nothing can be started, each cell says why.
    fn on_link(
        &mut self,
        groups: &[Group],
        ends: Result<Ends, String>,
        folder: &Path,
        run: &mut Run,
    ) {
        let has_all = groups
            .iter()
            .all(|group| self.order.journal.has(&key(group)));
        let started = match has_all {
            true => Err("kept".into()),
            false => ends.and_then(|ends| match self.order.settings.is_opened {
                true => self.in_opened(groups, &ends, folder, run),
                false => self.in_chromium(groups, &ends, folder, run),
            }),
        };
        if let Err(reason) = started {
            for group in groups {
                let absent = |_: &mut _| group.iter().map(|it| absent(it, &reason)).collect();
                let journal = self.order.journal;
                run.results
                    .extend(journal.cell(&key(group), &mut run.targets, absent));
            }
        }
    }

    /// An error is why nothing of it could be measured.
    fn in_chromium(
        &mut self,
        groups: &[Group],
        ends: &Ends,
        folder: &Path,
        run: &mut Run,
    ) -> Result<(), String> {
        let gateway = stage::gateway(&ends.far, folder)?;
        let origin = format!("http://{}", gateway.address);
        // Without TLS an origin counts as secure on loopback alone, and only a secure one is isolated.
        let trusted = format!("--unsafely-treat-insecure-origin-as-secure={origin}");
        let profile = folder.join("profile");
        let mut browser = Browser::launch_with(&ends.near, &profile, &[trusted])?;
        let (pid, version) = (browser.pid(), browser.version.clone());
        let page = Page::open(&mut browser, &format!("{origin}/measure?driven"), READY)?;
        let driver = Driver::Ours(page, pid);
        self.groups(groups, (driver, &version), (gateway, &ends.far.end), run)
    }

    /// In the browser of a person who opens the link that is printed.
    fn in_opened(
        &mut self,
        groups: &[Group],
        ends: &Ends,
        folder: &Path,
        run: &mut Run,
    ) -> Result<(), String> {
        if groups.iter().flatten().any(|it| it.link != LOCAL) {
            return Err(
                "a browser that a person opens is not at the end of an emulated link".into(),
            );
        }
        let gateway = stage::open_gateway(&ends.far, folder)?;
        let orders = opened::wait_for_browser(gateway.address)?;
        let version = orders.browser.clone();
        let driver = Driver::Opened(orders);
        self.groups(groups, (driver, &version), (gateway, &ends.far.end), run)
    }

    fn groups(
        &mut self,
        groups: &[Group],
        (mut driver, version): (Driver<'_>, &str),
        (gateway, end): (Running, &End),
        run: &mut Run,
    ) -> Result<(), String> {
        let about = driver.about().map_err(|_| NO_PAGE.to_string())?;
        let targets = [
            (OURS, gateway.version.clone()),
            (driver.name(), described(version, &about)),
        ];
        let mut stage = Stage::new(driver, gateway, end, self.scale)?;
        for group in groups {
            self.done += 1;
            let share = self.done as f64 / self.total as f64;
            let results = self
                .order
                .journal
                .cell(&key(group), &mut run.targets, |versions| {
                    let named = targets
                        .iter()
                        .map(|(name, it)| ((*name).into(), it.clone()));
                    versions.extend(named);
                    stage.measure(group, share, &mut self.shuffle, self.progress)
                });
            run.results.extend(results);
        }
        stage.done("measured: thank you");
        Ok(())
    }
}

/// What a browser is, and what its clock can tell.
fn described(version: &str, about: &serde_json::Value) -> String {
    let step = about["resolutionMs"].as_f64().unwrap_or(f64::NAN) * 1e3;
    let isolated = match about["isolated"].as_bool() {
        Some(true) => "isolated from other origins",
        _ => "not isolated from other origins",
    };
    let presented = match about["elementTiming"].as_bool() {
        Some(true) => "frames as Element Timing reports them",
        _ => "frames as the first task after them",
    };
    format!("{version}: clock in steps of {step:.0} us, {isolated}; {presented}")
}

fn absent(setting: &Setting, reason: &str) -> CellResult {
    CellResult {
        cell: setting.name(),
        target: OURS.into(),
        status: reason.into(),
        ..CellResult::default()
    }
}
