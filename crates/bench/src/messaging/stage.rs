//! The brokers and browsers of a run: started when first wanted, kept, and measured in turns.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::browsers::{Browsers, gateway};
use super::cells::{Clients, Scale, Setting, State};
use super::deeds::Deeds;
use crate::experiments::Order;
use crate::journal::Versions;
use crate::meter::Meter;
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::CellResult;
use crate::rounds::Rounds;
use crate::sample::{OF_BROWSER, Sample};
use crate::targets::{Running, Settings, Target, start_fresh, version};

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
        let mut names = self.brokers_of(setting);
        let mut rounds = Rounds::new(setting.name(), progress);
        for round in 0..self.scale.rounds_of(setting) {
            shuffle.shuffle(&mut names);
            for &name in &names {
                rounds.measure(name, round, || self.sample(setting, name, targets));
            }
        }
        if let Some(version) = self.browsers.as_ref().ok().and_then(Browsers::version) {
            targets.entry(BROWSER.into()).or_insert(version.into());
        }
        rounds.merged()
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
        targets.entry(name.into()).or_insert(version(&broker));
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
        start_fresh(&self.folder, name, |folder| {
            (target.start)(&self.settings, folder)
        })
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
        sample.put_side(OF_BROWSER, meter.spent());
        Ok(sample)
    }
}
