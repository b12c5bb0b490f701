//! The brokers and browsers of a run: started when first wanted, kept, and measured in turns.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::browsers::{Browsers, Client, gateway};
use super::cells::{Clients, Scale, Setting, State, Test};
use super::deeds::Deeds;
use super::starting::{self, Brokers, Held};
use weir_bench_lab::alone::Found;
use weir_bench_lab::meter::Meter;
use weir_bench_lab::order::Order;
use weir_bench_lab::progress::Progress;
use weir_bench_lab::rounds::Rounds;
use weir_bench_lab::sample::{OF_BROWSER, Sample};
use weir_bench_lab::started::{start_fresh, version};
use weir_bench_lab::targets::{Running, Settings, list};
use weir_bench_model::journal::Versions;
use weir_bench_model::random::Random;

/// What runs.
pub(super) struct Stage {
    settings: Settings,
    folder: PathBuf,
    scale: Scale,
    /// Pages, or why there are none.
    browsers: Result<Browsers, String>,
    brokers: Brokers,
    /// Those that have passed no message yet.
    fresh: BTreeSet<&'static str>,
    /// What they live by that were started first.
    held: Option<Held>,
}

/// A cell while it is measured.
struct Place<'a> {
    setting: &'a Setting,
    versions: Versions,
    rounds: Rounds<'a>,
}

impl<'a> Place<'a> {
    fn new(setting: &'a Setting, progress: &'a Progress) -> Self {
        Self {
            setting,
            versions: Versions::new(),
            rounds: Rounds::new(setting.name(), progress),
        }
    }

    /// Who was measured, and what it gave.
    fn leave(mut self, browser: Option<(&str, &str)>) -> Found {
        if let Some((name, version)) = browser {
            self.versions.insert(name.into(), version.into());
        }
        (self.versions, self.rounds.merged())
    }
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
            brokers: Brokers::new(),
            fresh: BTreeSet::new(),
            held: None,
        }
    }

    /// Starts the brokers that cells will want, side by side: nothing is measured meanwhile.
    pub(super) fn start_all(&mut self, cells: &[Setting]) {
        let steady = cells.iter().filter(|cell| cell.state == State::Steady);
        let names = steady.flat_map(|cell| self.brokers_of(cell)).collect();
        let (settings, folder) = (self.settings.clone(), self.folder.clone());
        let (brokers, held) = starting::all(names, move |name| start(&settings, &folder, name));
        self.fresh = brokers.keys().copied().collect();
        self.brokers = brokers;
        self.held = Some(held);
    }

    fn brokers_of(&self, setting: &Setting) -> Vec<&'static str> {
        setting.protocol.brokers(self.settings.given.is_some())
    }

    /// How many measurements a cell is.
    pub(super) fn measurements(&self, setting: &Setting) -> usize {
        self.brokers_of(setting).len() * self.scale.rounds_of(setting)
    }

    /// Measures all rounds of cells that take turns: in each round every broker of each, in an order of its own.
    pub(super) fn measure(
        &mut self,
        group: &[Setting],
        shuffle: &mut Random,
        progress: &Progress,
    ) -> Vec<Found> {
        let place = |setting| Place::new(setting, progress);
        let mut places: Vec<Place<'_>> = group.iter().map(place).collect();
        let last = group.iter().map(|cell| self.scale.rounds_of(cell)).max();
        for round in 0..last.unwrap_or_default() {
            let mut turns = self.turns(group, round);
            shuffle.shuffle(&mut turns);
            for (index, broker) in turns {
                let Place {
                    setting,
                    versions,
                    rounds,
                } = &mut places[index];
                rounds.measure(broker, round, || self.sample(setting, broker, versions));
            }
        }
        let browser = self.browsers.as_ref().ok().and_then(Browsers::version);
        places
            .into_iter()
            .map(|place| place.leave(browser))
            .collect()
    }

    /// Who is measured in a round: the cell by its place, and the broker.
    fn turns(&self, group: &[Setting], round: usize) -> Vec<(usize, &'static str)> {
        let cells = group.iter().enumerate();
        let cells = cells.filter(|(_, cell)| round < self.scale.rounds_of(cell));
        let brokers = cells.flat_map(|(index, cell)| {
            let brokers = self.brokers_of(cell).into_iter();
            brokers.map(move |broker| (index, broker))
        });
        brokers.collect()
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
            State::Steady => self.steady(name, setting),
        };
        targets.entry(name.into()).or_insert(version(&broker));
        let sample = broker.as_ref().map_err(Clone::clone);
        let sample = sample.and_then(|broker| self.between_clients(setting, (name, broker)));
        // Whatever state one that failed is in, the next round gets a fresh one; what is absent stays so, and one
        // that cannot be reached in this way is as it was.
        let stays = sample
            .as_ref()
            .map_or_else(|error| error.starts_with("absent"), |_| true);
        if setting.state == State::Steady && (stays || broker.is_err()) {
            self.brokers.insert(name, broker);
        }
        sample
    }

    /// One that has run for a while.
    fn steady(&mut self, name: &'static str, setting: &Setting) -> Result<Running, String> {
        let (broker, is_fresh) = match self.brokers.remove(name) {
            Some(broker) => (broker?, self.fresh.remove(name)),
            None => (self.start(name)?, true),
        };
        if is_fresh {
            Deeds::new(&self.settings, self.scale, setting, (name, &broker)).settle()?;
        }
        Ok(broker)
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
        start(&self.settings, &self.folder, name)
    }

    fn between_clients(
        &mut self,
        setting: &Setting,
        broker: (&str, &Running),
    ) -> Result<Sample, String> {
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
        if setting.test == Test::Transfer {
            sample.remark = sample.remark.or(pages.iter().find_map(Client::remark));
        }
        sample.put_side(OF_BROWSER, meter.spent());
        Ok(sample)
    }
}

fn start(settings: &Settings, below: &Path, name: &str) -> Result<Running, String> {
    let target = list::named(name).ok_or("no such target")?;
    start_fresh(below, name, |folder| (target.start)(settings, folder))
}
