//! Emulated links under experiments: targets at the far end, the load or a browser at the near one.
//!
//! A link is asked for by its name: `local` is the machine as it is, every other one a profile of
//! `weir-link`, made, measured and refused where it is off. One link a name is kept for a whole run.
//! What it deliberately does not do: change how targets and loads are started. They are started by the
//! same [`Settings`], of which the ones of a link carry the end.
//!
//! [`Settings`]: crate::targets::Settings

mod captures;
mod end;

pub use captures::Captures;
pub use end::{Crossed, End, Launch};

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_link::{Check, Lab, LabFault, Options, Profile};

use crate::order::Order;
use crate::targets::Settings;
use weir_bench_model::cell::LOCAL;
use weir_bench_model::journal::Journal;
use weir_bench_model::limits::LINK_CHECKS_MAX;
use weir_bench_model::link_used::LinkUsed;

/// The links of a run.
pub struct Links<'a> {
    seed: u64,
    /// Where what they are like is kept.
    journal: Option<&'a Journal>,
    is_checked: bool,
    made: BTreeMap<String, Result<Arc<Lab>, String>>,
}

/// Where the programs of a cell are started.
#[derive(Debug)]
pub struct Ends {
    /// The load and browsers.
    pub near: Settings,
    /// Targets.
    pub far: Settings,
}

/// Takes the rights that links need, if a cell names one by `link=`. To be called before the process
/// has any thread but the first; where it is refused, so will be the links.
pub fn prepare<'a>(cells: impl IntoIterator<Item = &'a String>) {
    let is_link = |factor: &str| {
        factor
            .strip_prefix("link=")
            .is_some_and(|name| name != LOCAL)
    };
    if cells.into_iter().any(|cell| cell.split(';').any(is_link)) {
        // Making the first link says what is missing, in the cells that wanted it.
        let _refused = weir_link::prepare();
    }
}

impl<'a> Links<'a> {
    /// None yet; the order's seed is that of loss and jitter.
    pub fn new(order: &Order<'a>) -> Self {
        Self {
            journal: Some(order.journal),
            ..Self::of_seed(order.seed)
        }
    }

    fn of_seed(seed: u64) -> Self {
        Self {
            seed,
            journal: None,
            is_checked: true,
            made: BTreeMap::new(),
        }
    }

    /// Links that nobody measures.
    #[cfg(test)]
    pub fn unchecked() -> Self {
        Self {
            is_checked: false,
            ..Self::of_seed(1)
        }
    }

    /// The ends of a link: `local`, or what [`Profile::read`] understands. An error is the status of
    /// every cell on it: it is made once.
    pub fn ends(&mut self, settings: &Settings, link: &str) -> Result<Ends, String> {
        if link == LOCAL {
            let [near, far] = [settings.clone(), settings.clone()];
            return Ok(Ends { near, far });
        }
        if settings.address.is_some() {
            return Err("a gateway given by --url is not at the end of an emulated link".into());
        }
        let lab = match self.made.get(link) {
            Some(made) => made.clone(),
            None => {
                let made = self.make(link, settings.capture.as_ref());
                self.made.insert(link.into(), made.clone());
                made
            }
        }?;
        let at = |end| Settings {
            end,
            ..settings.clone()
        };
        Ok(Ends {
            near: at(End::Near(lab.clone())),
            far: at(End::Far(lab)),
        })
    }

    /// What the links are like that were made, for the results; in earlier attempts of the run, too.
    pub fn used(&self) -> BTreeMap<String, LinkUsed> {
        self.journal.map(Journal::links).unwrap_or_default()
    }

    fn make(&mut self, link: &str, capture: Option<&Captures>) -> Result<Arc<Lab>, String> {
        let profile = Profile::read(link).map_err(|fault| fault.to_string())?;
        let options = Options {
            seed: self.seed,
            capture: capture.map(|it| it.file(link)).transpose()?,
            snap: capture.map_or(0, |it| it.snap),
            ..Options::default()
        };
        let mut used = LinkUsed::of(&profile);
        let made = self.measure(profile, &options, &mut used);
        used.fault = made.as_ref().err().cloned();
        eprintln!("link {link}: {used}");
        if let Some(journal) = self.journal {
            journal.keep_link(link, &used);
        }
        made.map(Arc::new)
    }

    /// Makes it and measures it until it is what it should be, a few times at most.
    fn measure(
        &self,
        profile: Profile,
        options: &Options,
        used: &mut LinkUsed,
    ) -> Result<Lab, String> {
        let mut lab = Lab::unchecked(profile, options).map_err(|fault| fault.to_string())?;
        used.congestion = lab.near.congestion().into();
        let mut faults = Vec::new();
        for _ in 0..LINK_CHECKS_MAX {
            if !self.is_checked {
                return Ok(lab);
            }
            let check: Check = lab.check().map_err(|fault| fault.to_string())?;
            used.note(&check);
            faults = check.faults();
            if faults.is_empty() {
                return Ok(lab);
            }
        }
        Err(LabFault::Inaccurate(faults).to_string())
    }
}

#[cfg(test)]
mod tests;
