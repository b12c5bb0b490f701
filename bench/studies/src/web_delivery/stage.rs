//! One page, what delivers to it, and the cells measured with them in interleaved rounds.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::cells::{COMETD, Paced, Scale, Setting, Via};
use super::driver::Driver;
use super::publisher::{Published, topic};
use super::servers::{Server, Servers};
use super::stamps::{Outcome, sample_of};
use super::traced::Frames;
use weir_bench_lab::devtools::{SLOWDOWN, Slowdown};
use weir_bench_lab::meter::Meter;
use weir_bench_lab::opened::Clocks;
use weir_bench_lab::progress::Progress;
use weir_bench_lab::rounds::Rounds;
use weir_bench_lab::sample::{OF_BROWSER, OF_SERVER, Sample};
use weir_bench_model::journal::Versions;
use weir_bench_model::random::Random;
use weir_bench_model::results::{CellResult, OURS};

/// Milliseconds that the last message may take beyond the slowest way of a link.
const PATIENCE_MS: u64 = 4000;

/// What measures.
pub(super) struct Stage<'a> {
    driver: Driver<'a>,
    servers: &'a mut Servers,
    clocks: Clocks,
    scale: Scale,
}

/// What a round gave, before it is a sample.
struct Shown {
    outcome: Outcome,
    published: Published,
    frames: Option<Frames>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        mut driver: Driver<'a>,
        servers: &'a mut Servers,
        scale: Scale,
    ) -> Result<Self, String> {
        let clocks = driver.clocks()?;
        Ok(Self {
            driver,
            servers,
            clocks,
            scale,
        })
    }

    /// Tells who looks at the page that nothing more comes, and ends it where it is ours.
    pub(super) fn done(mut self, words: &str) {
        // Who closed the page does not want to know.
        let _ = self.driver.ask("done", &json!({ "words": words }));
        self.driver.close();
    }

    /// What delivers, as far as it runs.
    pub(super) fn versions(&self) -> Versions {
        let other = self.servers.version_of_cometd();
        let other = other.map(|version| (COMETD.into(), version.into()));
        let ours = (OURS.into(), self.servers.version().into());
        [ours].into_iter().chain(other).collect()
    }

    /// Measures cells whose rounds alternate.
    pub(super) fn measure(
        &mut self,
        group: &[Setting],
        share: f64,
        shuffle: &mut Random,
        progress: &Progress,
    ) -> Vec<CellResult> {
        self.warm_up(group, share);
        let of_cell = |setting: &Setting| (*setting, Rounds::new(setting.name(), progress));
        let mut rounds: BTreeMap<Setting, Rounds<'_>> = group.iter().map(of_cell).collect();
        let count = group.first().map_or(0, |it| self.scale.of_cell(it).rounds);
        for round in 0..count {
            let mut order = group.to_vec();
            shuffle.shuffle(&mut order);
            for setting in order {
                if let Some(rounds) = rounds.get_mut(&setting) {
                    rounds.measure(setting.target(), round, || self.sample(&setting, share));
                }
            }
        }
        let of_cell = |setting| rounds.get(setting).map(Rounds::merged);
        group.iter().filter_map(of_cell).flatten().collect()
    }

    /// A virtual machine that has just started would be measured compiling.
    fn warm_up(&mut self, group: &[Setting], share: f64) {
        let cold: Vec<&Setting> = group.iter().filter(|it| it.target() == COMETD).collect();
        if cold.is_empty() || self.driver.is_opened() || !self.servers.takes_warmth() {
            return;
        }
        for setting in cold {
            // What fails here fails again, and is told then.
            let _ = self.show(setting, self.scale.of_warm_up(), share);
        }
    }

    fn sample(&mut self, setting: &Setting, share: f64) -> Result<Sample, String> {
        let slowdown = self.driver.slow_down(setting.cpu)?;
        self.driver.refresh(&mut self.clocks)?;
        let scale = self.scale.of_cell(setting);
        let server = self.servers.of(setting, self.driver.is_opened())?;
        let meters =
            [server.pid, self.driver.pid()].map(|pid| Meter::start(pid.into_iter().collect()));
        let shown = self.show(setting, scale, share)?;
        let spent = meters.map(|meter| meter.spent());
        let Shown {
            outcome,
            published,
            frames,
        } = shown;
        let mut sample = sample_of(&outcome, &published, scale.messages, &self.clocks)?;
        if let Some(frames) = frames {
            outcome.put_traced(&frames, &self.clocks, &mut sample);
        }
        for (names, spent) in [OF_SERVER, OF_BROWSER].into_iter().zip(spent) {
            sample.put_side(names, spent);
        }
        put_slowdown(slowdown, &mut sample);
        Ok(sample)
    }

    /// Has the page follow a cell while its messages are published.
    fn show(&mut self, setting: &Setting, scale: Scale, share: f64) -> Result<Shown, String> {
        let Self {
            driver, servers, ..
        } = self;
        let server = servers.of(setting, driver.is_opened())?;
        if setting.is_traced {
            driver.begin_trace()?;
        }
        driver.ask("begin", &begin(setting, scale, &server, share))?;
        let count = scale.warm_up + scale.messages;
        let published = server.sensors.publish(setting, count, scale.rate)?;
        let patience_ms = PATIENCE_MS + (2000.0 / scale.rate) as u64;
        let outcome = driver.ask("finish", &json!({"patienceMs": patience_ms}))?;
        let frames = match setting.is_traced {
            true => Some(Frames::of(&driver.end_trace()?)),
            false => None,
        };
        let outcome = serde_json::from_value(outcome);
        Ok(Shown {
            outcome: outcome.map_err(|e| format!("the page's answer: {e}"))?,
            published,
            frames,
        })
    }
}

/// How slow the page was before the round; of pages that were to be slow.
fn put_slowdown(slowdown: Slowdown, sample: &mut Sample) {
    if slowdown.asked == 1 {
        return;
    }
    sample.put(SLOWDOWN, "1", slowdown.found);
    if !slowdown.is_in_force() {
        let told = sample.remark.take().into_iter().chain([slowdown.remark()]);
        sample.remark = Some(told.collect::<Vec<_>>().join("; "));
    }
}

/// What the page is asked to follow.
fn begin(setting: &Setting, scale: Scale, server: &Server<'_>, share: f64) -> Value {
    let mut order = json!({
        "delivery": setting.delivery,
        "format": setting.format,
        "filter": format!("{}/#", topic(setting.nodes)),
        "first": server.sensors.next() + scale.warm_up,
        "count": scale.messages,
        "pollMs": 1000.0 / scale.rate,
        "pace": setting.flood == Some(Paced::On),
        "trace": setting.is_traced,
        "cell": setting.name(),
        "row": format!("{}, {} nodes, cpu {}x", setting.format, setting.nodes, setting.cpu),
        "share": share,
    });
    if let (Via::Bayeux(transport), Some(address)) = (setting.via, server.address) {
        order["cometd"] = json!({"address": address.to_string(), "transport": transport});
        order["column"] = format!("{COMETD} {transport}").into();
    }
    order
}
