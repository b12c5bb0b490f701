//! The brokers and browsers of a run: started when first wanted, kept, and measured in turns.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::browsers::{Browsers, gateway};
use super::cells::{Clients, Scale, Setting, State};
use super::deeds::Deeds;
use super::meter::Meter;
use super::sample::put_spent;
use crate::clock::now_ns;
use crate::experiments::Order;
use crate::journal::Versions;
use crate::merge::{Round, merge};
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::CellResult;
use crate::sample::Sample;
use crate::targets::{Running, Settings, Target};

/// The name of browsers among the versions of a run.
const BROWSER: &str = "chromium";

/// What runs.
pub(super) struct Stage {
    settings: Settings,
    folder: PathBuf,
    scale: Scale,
    /// Pages, or why there are none.
    browsers: Result<Browsers, String>,
    brokers: BTreeMap<&'static str, Result<Running, String>>,
}

impl Stage {
    /// Nothing runs yet but the gateway whose page browsers show.
    pub(super) fn new(order: &Order<'_>, scale: Scale) -> Self {
        let browsers = gateway(order.settings, order.work).map(Browsers::new);
        let pages = browsers.as_ref().ok().map(Browsers::origin);
        Self {
            settings: Settings {
                pages,
                ..order.settings.clone()
            },
            folder: order.work.to_path_buf(),
            scale,
            browsers,
            brokers: BTreeMap::new(),
        }
    }

    fn brokers_of(&self, setting: &Setting) -> Vec<&'static str> {
        setting.protocol.brokers(self.settings.given.is_some())
    }

    /// How many measurements a cell is.
    pub(super) fn measurements(&self, setting: &Setting) -> usize {
        self.brokers_of(setting).len() * self.scale.rounds_of(setting)
    }

    /// Measures all rounds of a cell; versions go to `targets`.
    pub(super) fn measure(
        &mut self,
        setting: &Setting,
        shuffle: &mut Shuffle,
        progress: &Progress,
        targets: &mut Versions,
    ) -> Vec<CellResult> {
        let cell = setting.name();
        let mut names = self.brokers_of(setting);
        let mut rounds: BTreeMap<&str, Vec<Round>> = BTreeMap::new();
        for round in 0..self.scale.rounds_of(setting) {
            shuffle.shuffle(&mut names);
            for name in &names {
                progress.begin(&cell, name, round);
                let sample = self.sample(setting, name, targets);
                progress.end(&cell, name, &sample);
                rounds.entry(name).or_default().push((round, sample));
            }
        }
        if let Some(version) = self.browsers.as_ref().ok().and_then(Browsers::version) {
            targets.entry(BROWSER.into()).or_insert(version.into());
        }
        let merged = rounds.iter();
        merged
            .map(|(target, rounds)| merge(&cell, target, rounds))
            .collect()
    }

    fn sample(
        &mut self,
        setting: &Setting,
        name: &'static str,
        targets: &mut Versions,
    ) -> Result<Sample, String> {
        self.start_browsers(setting.clients)?;
        let broker = match setting.state {
            State::Started => self.start(name),
            State::Steady => self.brokers.remove(name).unwrap_or_else(|| {
                let broker = self.start(name)?;
                Deeds::new(&self.settings, self.scale, setting, &broker).settle()?;
                Ok(broker)
            }),
        };
        let version = broker.as_ref().map(|broker| broker.version.clone());
        let version = version.unwrap_or_else(|reason| reason.clone());
        targets.entry(name.into()).or_insert(version);
        let sample = broker.as_ref().map_err(Clone::clone);
        let sample = sample.and_then(|broker| self.between_clients(setting, broker));
        // Whatever state one that failed is in, the next round gets a fresh one; an absent one stays so.
        if setting.state == State::Steady && (sample.is_ok() || broker.is_err()) {
            self.brokers.insert(name, broker);
        }
        sample
    }

    fn start_browsers(&mut self, clients: Clients) -> Result<(), String> {
        let count = clients.browsers();
        match &mut self.browsers {
            _ if count == 0 => Ok(()),
            Ok(browsers) => browsers.start(count, &self.settings, &self.folder),
            Err(reason) => Err(reason.clone()),
        }
    }

    fn start(&self, name: &str) -> Result<Running, String> {
        let target = Target::named(name).ok_or("no such target")?;
        let folder = self.folder.join(format!("{name}-{}", now_ns()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        (target.start)(&self.settings, &folder)
    }

    fn between_clients(&mut self, setting: &Setting, broker: &Running) -> Result<Sample, String> {
        let count = setting.clients.browsers();
        let deeds = Deeds::new(&self.settings, self.scale, setting, broker);
        let Some(browsers) = self.browsers.as_mut().ok().filter(|_| count > 0) else {
            return deeds.native_native();
        };
        let pids = browsers.pids(count);
        let mut pages = browsers.pages(count)?;
        let meter = Meter::start(pids);
        let mut sample = match pages.as_mut_slice() {
            [page] => deeds.native_browser(page),
            [first, second] => deeds.browser_browser(first, second),
            _ => Err("no page".into()),
        }?;
        let names = ["browser_cpu", "browser_memory_peak"];
        put_spent(&mut sample, names, meter.spent());
        Ok(sample)
    }
}
