//! What the bench could measure: the levels of each experiment's factors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::answer::Suggestion;
use crate::cell::{Factors, number};
use crate::fit::Point;
use crate::library::Library;
use crate::question::Payload;

/// An experiment and the levels of its factors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The experiment.
    pub experiment: String,
    /// Levels by factor.
    pub levels: BTreeMap<String, BTreeSet<String>>,
}

/// Factors that a question asks for, whose levels are worth keeping.
const ASKED: [&str; 5] = ["link", "clients", "rate", "payload", "nodes"];

/// The offer of an experiment's cells.
pub fn offers_of<'a>(experiment: &str, cells: impl IntoIterator<Item = &'a str>) -> Offer {
    let mut offer = Offer {
        experiment: experiment.into(),
        levels: BTreeMap::new(),
    };
    for cell in cells {
        let factors = Factors::parse(cell);
        for factor in ASKED {
            if let Some(level) = factors.level(factor) {
                offer
                    .levels
                    .entry(factor.into())
                    .or_default()
                    .insert(level.into());
            }
        }
    }
    offer
}

/// Offers as text: a line an experiment and factor.
pub fn write_offers(offers: &[Offer]) -> String {
    let mut text = String::new();
    for offer in offers {
        let _ = writeln!(text, "{}", offer.experiment);
        for (factor, levels) in &offer.levels {
            let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
            let _ = writeln!(text, "  {factor}={}", levels.join(" "));
        }
    }
    text
}

/// Reads them back.
pub(crate) fn read_offers(text: &str) -> Vec<Offer> {
    let mut offers = Vec::<Offer>::new();
    for line in text.lines() {
        match (line.strip_prefix("  "), offers.last_mut()) {
            (Some(line), Some(offer)) => {
                let (factor, levels) = line.split_once('=').unwrap_or((line, ""));
                let levels = levels.split(' ').map(Into::into).collect();
                offer.levels.insert(factor.into(), levels);
            }
            _ => offers.push(Offer {
                experiment: line.into(),
                levels: BTreeMap::new(),
            }),
        }
    }
    offers
}

/// Levels of the factors that a question asks for, of all that was measured.
pub fn levels(library: &Library) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::<String, BTreeSet<String>>::new();
    for cell in &library.cells {
        for factor in ASKED {
            let level = cell.factors.level(factor);
            all.entry(factor.into())
                .or_default()
                .extend(level.map(Into::into));
        }
    }
    all.entry("link".into()).or_default().insert("local".into());
    all
}

/// The runs that would bring cells at a point.
pub(crate) fn suggestions(offers: &[Offer], library: &Library, point: &Point) -> Vec<Suggestion> {
    let offered = offers.iter().filter(|offer| offer.holds(point));
    offered.map(|offer| offer.suggest(library, point)).collect()
}

impl Offer {
    fn holds(&self, point: &Point) -> bool {
        let link = match self.levels.get("link") {
            Some(links) => links.contains(&point.link),
            None => point.link == "local",
        };
        let clients = match self.levels.get("clients") {
            Some(_) => self.spans("clients", point.clients),
            None => point.clients == 1.0,
        };
        let rate = point
            .rate
            .is_none_or(|rate| match self.levels.contains_key("rate") {
                true => self.spans("rate", rate),
                false => true,
            });
        link && clients && rate && self.holds_payload(point)
    }

    fn holds_payload(&self, point: &Point) -> bool {
        let varied = |factor: &str| self.levels.contains_key(factor);
        match &point.payload {
            None => true,
            Some(Payload::Bytes(bytes)) => self.spans("payload", *bytes) || !varied("payload"),
            Some(Payload::Nodes(nodes)) => self.spans("nodes", *nodes),
            Some(Payload::Kind(kind)) => self
                .levels
                .get("payload")
                .is_some_and(|kinds| kinds.contains(kind)),
        }
    }

    /// Whether a number lies at or between the levels of a factor.
    fn spans(&self, factor: &str, asked: f64) -> bool {
        let levels = self.levels.get(factor).into_iter().flatten();
        let numbers: Vec<f64> = levels.filter_map(|level| number(level)).collect();
        numbers.iter().any(|n| *n <= asked) && numbers.iter().any(|n| *n >= asked)
    }

    /// Only what is missing is run, where one factor tells it.
    fn suggest(&self, library: &Library, point: &Point) -> Suggestion {
        let name = &self.experiment;
        let own = || library.cells.iter().filter(|cell| cell.experiment == *name);
        let measured = own().any(|cell| cell.factors.level("link") == Some(&point.link));
        let offered = self.levels.contains_key("link");
        let only = match offered && !measured {
            true => format!(" --only 'link={};'", point.link),
            false => String::new(),
        };
        Suggestion {
            command: format!("weir bench run {name}{only} --out runs/{name}"),
            brings: format!("then `weir advise --results runs/{name} ...`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_read_back_as_they_were_written() {
        let cells = [
            "protocol=coap;payload=10;link=lan",
            "protocol=rest;payload=100;link=3g",
        ];
        let offers = vec![offers_of("a", cells), offers_of("b", ["x=1"])];
        assert_eq!(read_offers(&write_offers(&offers)), offers);
    }
}
