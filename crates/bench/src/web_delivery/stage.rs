//! One gateway, one page, and the cells measured with them in interleaved rounds.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::cells::{Paced, Scale, Setting};
use super::clock::Clocks;
use super::driver::Driver;
use super::publisher::{Publisher, topic};
use super::stamps::{Outcome, sample_of};
use crate::clock::now_ns;
use crate::link::End;
use crate::merge::{Round, merge};
use crate::plan::Shuffle;
use crate::process::{cpu_ms_of_tree, peak_bytes_of_tree, reset_peak};
use crate::progress::Progress;
use crate::results::{CellResult, OURS};
use crate::sample::Sample;
use crate::targets::{Running, Settings, Target, weir};

/// Milliseconds that the last message may take beyond the slowest way of a link.
const PATIENCE_MS: u64 = 4000;

/// What measures.
pub(super) struct Stage<'a> {
    driver: Driver<'a>,
    gateway: Running,
    publisher: Publisher,
    clocks: Clocks,
    scale: Scale,
}

/// What the processes have used at one moment.
#[derive(Clone, Copy)]
struct Mark {
    at_ns: u64,
    gateway_ms: f64,
    browser_ms: f64,
}

/// Starts the gateway whose page measures.
pub(super) fn gateway(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let target = Target::named(OURS).ok_or("no gateway")?;
    (target.start)(settings, &data(folder)?)
}

/// The same for a browser anywhere: it listens at every address of this machine, to everybody, while
/// the run lasts.
pub(super) fn open_gateway(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let everywhere = ["http.listen=0.0.0.0:0".to_string()];
    let mut running = weir::launch(settings, &data(folder)?, "http", &everywhere)?;
    running.address.set_ip(Ipv4Addr::LOCALHOST.into());
    Ok(running)
}

fn data(folder: &Path) -> Result<PathBuf, String> {
    let data = folder.join("gateway");
    std::fs::create_dir_all(&data).map_err(|e| format!("{}: {e}", data.display()))?;
    Ok(data)
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        mut driver: Driver<'a>,
        gateway: Running,
        end: &End,
        scale: Scale,
    ) -> Result<Self, String> {
        let clocks = driver.clocks()?;
        let publisher = Publisher::connect(gateway.address, end)?;
        Ok(Self {
            driver,
            gateway,
            publisher,
            clocks,
            scale,
        })
    }

    /// Tells who looks at the page that nothing more comes.
    pub(super) fn done(&mut self, words: &str) {
        // Who closed the page does not want to know.
        let _ = self.driver.ask("done", &json!({ "words": words }));
    }

    /// Measures cells whose rounds alternate.
    pub(super) fn measure(
        &mut self,
        group: &[Setting],
        share: f64,
        shuffle: &mut Shuffle,
        progress: &Progress,
    ) -> Vec<CellResult> {
        let mut rounds: BTreeMap<Setting, Vec<Round>> = BTreeMap::new();
        for round in 0..self.scale.rounds {
            let mut order = group.to_vec();
            shuffle.shuffle(&mut order);
            for setting in order {
                progress.begin(&setting.name(), OURS, round);
                let sample = self.sample(&setting, share);
                progress.end(&setting.name(), OURS, &sample);
                rounds.entry(setting).or_default().push((round, sample));
            }
        }
        group
            .iter()
            .filter_map(|setting| Some(merge(&setting.name(), OURS, rounds.get(setting)?)))
            .collect()
    }

    fn sample(&mut self, setting: &Setting, share: f64) -> Result<Sample, String> {
        self.driver.slow_down(setting.cpu)?;
        self.driver.refresh(&mut self.clocks)?;
        let Scale {
            messages,
            warm_up,
            rate,
            ..
        } = self.scale.of_cell(setting);
        let first = self.publisher.next() + warm_up;
        self.driver.ask(
            "begin",
            &json!({
                "delivery": setting.delivery,
                "format": setting.format,
                "filter": format!("{}/#", topic(setting.nodes)),
                "first": first,
                "count": messages,
                "pollMs": 1000.0 / rate,
                "pace": setting.flood == Some(Paced::On),
                "cell": setting.name(),
                "row": format!("{}, {} nodes, cpu {}x", setting.format, setting.nodes, setting.cpu),
                "share": share,
            }),
        )?;
        self.reset_peaks();
        let begin = self.mark();
        let published = self
            .publisher
            .publish(setting.nodes, warm_up + messages, rate)?;
        let patience_ms = PATIENCE_MS + (2000.0 / rate) as u64;
        let outcome = self
            .driver
            .ask("finish", &json!({"patienceMs": patience_ms}))?;
        let end = self.mark();
        let outcome: Outcome =
            serde_json::from_value(outcome).map_err(|e| format!("the page's answer: {e}"))?;
        let mut sample = sample_of(&outcome, &published, messages, &self.clocks)?;
        self.put_spent(begin, end, &mut sample);
        Ok(sample)
    }

    fn mark(&self) -> Mark {
        Mark {
            at_ns: now_ns(),
            gateway_ms: self.gateway.pid().map_or(0.0, cpu_ms_of_tree),
            browser_ms: self.driver.pid().map_or(0.0, cpu_ms_of_tree),
        }
    }

    fn reset_peaks(&self) {
        self.gateway
            .pid()
            .into_iter()
            .chain(self.driver.pid())
            .for_each(reset_peak);
    }

    /// What both sides spent from the first message until the page had its figures.
    fn put_spent(&self, begin: Mark, end: Mark, sample: &mut Sample) {
        let ms = (end.at_ns.saturating_sub(begin.at_ns) as f64 / 1e6).max(1.0);
        if let Some(pid) = self.gateway.pid() {
            sample.put(
                "server_cpu",
                "cpus",
                (end.gateway_ms - begin.gateway_ms) / ms,
            );
            sample.put(
                "server_memory_peak",
                "bytes",
                peak_bytes_of_tree(pid) as f64,
            );
        }
        if let Some(pid) = self.driver.pid() {
            sample.put(
                "browser_cpu",
                "cpus",
                (end.browser_ms - begin.browser_ms) / ms,
            );
            sample.put(
                "browser_memory_peak",
                "bytes",
                peak_bytes_of_tree(pid) as f64,
            );
        }
    }
}
