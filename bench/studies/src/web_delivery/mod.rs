//! The experiment `web-delivery`: from the gateway's hands to a person's eyes, in a real browser.
//!
//! From Babovic, Protic and Milutinovic 2016 (paper 000, tables 2 to 6, figures 4 to 8): a page follows a
//! gateway by each delivery scheme, in each format, and every message is stamped until the frame that
//! shows it is presented. Flash and Silverlight are dead; their encodings (AMF 3, SOAP) and schemes are
//! here; CometD, which pushed when the paper was written, stands beside the gateway. What it
//! deliberately does not do: speak HTTP itself; all that is measured is a browser's own. The decision
//! worth arguing: one page measures all cells of a link, as an application would that runs for hours; its
//! engine is warm, and cells whose rounds alternate share its state of the moment.

mod beyond;
mod cells;
mod claims;
mod driver;
mod figures;
mod page;
mod plots;
mod publisher;
mod servers;
mod stage;
mod stamps;
mod traced;

use std::path::Path;

use self::cells::{Scale, Setting};
use self::driver::Driver;
use self::servers::Servers;
use self::stage::Stage;
use weir_bench_lab::devtools::{Browser, Page};
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::link::{Ends, Links};
use weir_bench_lab::opened::{Invitation, this_machine};
use weir_bench_lab::order::Order;
use weir_bench_lab::progress::Progress;
use weir_bench_model::budget::Budget;
use weir_bench_model::cell::LOCAL;
use weir_bench_model::clock::now_ns;
use weir_bench_model::random::Random;
use weir_bench_model::results::{CellResult, Run};

/// When the page is there, or is known not to come.
const READY: &str = "typeof weirMeasure === 'object' || \
                     performance.getEntriesByType('navigation')[0]?.responseStatus >= 400";
const NO_PAGE: &str = "absent: this build has no measuring page; `make web`, then build weir again";

/// Cells whose rounds alternate.
type Group = Vec<Setting>;

/// Its line in the list.
pub const EXPERIMENT: Experiment = Experiment {
    name: "web-delivery",
    source: "Babovic et al. 2016, tables 2-6, figures 4-8",
    about: "from the gateway to the frame on the screen in a real browser, by delivery and format",
    cells: cells::names,
    run,
    page: page::markdown,
    figures: figures::figures,
    claims: claims::judge,
};

/// Runs the experiment.
fn run(order: &Order<'_>) -> Run {
    let started = now_ns();
    let budget = Budget::of(order.effort);
    let mut run = order.begin();
    let mut wanted = cells::settings(order.effort);
    wanted.retain(|setting| order.wants(&setting.name()));
    let scale = Scale::of(order.effort, order.settings.rate);
    let groups = grouped(&wanted);
    let to_measure = groups
        .iter()
        .filter(|group| !order.journal.has(&key(group)));
    let rounds = to_measure.flatten().map(|it| scale.of_cell(it).rounds);
    let progress = Progress::new(rounds.sum());
    let mut work = Work {
        order,
        scale,
        progress: &progress,
        shuffle: Random::of(order.seed),
        budget,
        done: 0,
        total: groups.len(),
    };
    let mut links = Links::new(order);
    for of_link in groups.chunk_by(|a, b| a[0].link == b[0].link) {
        let folder = order.work.join(of_link[0][0].link);
        let ends = links.ends(order.settings, of_link[0][0].link);
        work.on_link(of_link, ends, &folder, &mut run);
        let _ = std::fs::remove_dir_all(&folder);
    }
    run.left_out = work.budget.left_out();
    progress.finish();
    run.links = links.used();
    run.sort(&cells::names(order.effort), |_| None);
    run.claims = claims::judge(&run);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
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

/// A run on its way.
struct Work<'a> {
    order: &'a Order<'a>,
    scale: Scale,
    progress: &'a Progress,
    shuffle: Random,
    budget: Budget,
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
            self.absent(groups, &reason, run);
        }
    }

    /// Cells that are kept, and why the others could not be measured.
    fn absent(&self, groups: &[Group], reason: &str, run: &mut Run) {
        for group in groups {
            let absent = |it: &Setting| CellResult::absent(&it.name(), it.target(), reason);
            let absent = |_: &mut _| group.iter().map(absent).collect();
            let journal = self.order.journal;
            let kept = journal.cell(&key(group), &mut run.targets, absent);
            run.results.extend(kept);
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
        let mut servers = Servers::start(&ends.far, folder)?;
        let profile = folder.join("profile");
        let mut browser = Browser::launch_with(&ends.near, &profile, &servers.trust()?)?;
        let (pid, version) = (browser.pid(), browser.version.clone());
        for groups in groups.chunk_by(|a, b| a[0].is_secure() == b[0].is_secure()) {
            let measured = servers.origin(groups[0][0].is_secure()).and_then(|origin| {
                let url = format!("{origin}/measure?driven");
                let driver = Driver::Ours(Page::open(&mut browser, &url, READY)?, pid);
                self.groups(groups, (driver, &version), &mut servers, run)
            });
            if let Err(reason) = measured {
                self.absent(groups, &reason, run);
            }
        }
        Ok(())
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
                "absent: a browser that a person opens is not at the end of an emulated link"
                    .into(),
            );
        }
        let mut servers = Servers::start_open(&ends.far, folder)?;
        let invitation = Invitation {
            gateway: servers.address(),
            page: "measure",
            elsewhere: this_machine(),
            port_by_tls: Some(servers.port_by_tls()?),
            what: "the browser that is to be measured",
        };
        let orders = invitation.wait()?;
        let version = orders.browser.clone();
        let mut driver = Driver::Opened(orders);
        let came_by_tls = driver.about()?["isSecure"] == true;
        let (fit, unfit): (Vec<Group>, Vec<Group>) = groups
            .iter()
            .cloned()
            .partition(|group| group[0].is_secure() == came_by_tls);
        let scheme = if came_by_tls { "https" } else { "http" };
        self.absent(
            &unfit,
            &format!("absent: the page was opened by {scheme}"),
            run,
        );
        self.groups(&fit, (driver, &version), &mut servers, run)
    }

    /// An error is why nothing of them could be measured.
    fn groups(
        &mut self,
        groups: &[Group],
        (mut driver, version): (Driver<'_>, &str),
        servers: &mut Servers,
        run: &mut Run,
    ) -> Result<(), String> {
        let Some(is_secure) = groups.first().map(|group| group[0].is_secure()) else {
            return Ok(());
        };
        let about = driver.about().map_err(|_| NO_PAGE.to_string())?;
        if is_secure && about["protocol"] != "h2" {
            return Err(format!(
                "the page came by {}, not by HTTP/2",
                about["protocol"]
            ));
        }
        let browser = (driver.name(is_secure), described(version, &about));
        let mut stage = Stage::new(driver, servers, self.scale)?;
        for group in groups {
            self.done += 1;
            let share = self.done as f64 / self.total as f64;
            if !self.may_begin(group) {
                continue;
            }
            let results = self
                .order
                .journal
                .cell(&key(group), &mut run.targets, |versions| {
                    let results = stage.measure(group, share, &mut self.shuffle, self.progress);
                    versions.insert(browser.0.into(), browser.1.clone());
                    versions.extend(stage.versions());
                    results
                });
            run.results.extend(results);
        }
        stage.done("measured: thank you");
        Ok(())
    }
}

impl Work<'_> {
    /// Whether a group may begin, or is there already; groups are as unlike as their numbers of cells.
    fn may_begin(&mut self, group: &Group) -> bool {
        self.budget.turn_to_others();
        self.order.journal.has(&key(group)) || self.budget.allows(&key(group))
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
    let protocol = about["protocol"].as_str().unwrap_or("http/1.1");
    format!("{version}: by {protocol}, clock in steps of {step:.0} us, {isolated}; {presented}")
}
