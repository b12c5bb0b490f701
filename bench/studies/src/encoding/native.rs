//! Native cells: document by document, in rounds in which every contender takes its turn.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use super::cells::{Place, exificient_formats, has_goals, name};
use super::codings::{From, Prepared, WEIR_XSD, codings};
use super::data::{Document, Source};
use super::density::{Category, content_density_percent};
use super::exificient::{Exificient, NAME};
use super::outcome::{Measure, Outcome};
use super::spent::{CLIENT, Side, Watch};
use super::steady::{Budget, measure};
use super::task::Task;
use weir_bench_model::effort::{Effort, wants};
use weir_bench_model::random::Random;
use weir_bench_model::results::{CellResult, single};

/// Rounds and budgets of an effort.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    rounds: usize,
    /// Of the documents that goals speak of.
    rounds_goals: usize,
    /// Whether EXIficient, whose compiler takes its time, takes part beyond the message.
    exificient_everywhere: bool,
    native: Budget,
    exificient: Budget,
}

impl Scale {
    /// Of an effort.
    pub(super) fn of(effort: Effort) -> Self {
        let budget = |milliseconds: u64| Budget {
            ns: milliseconds * 1_000_000,
        };
        match effort {
            Effort::Quick => Self {
                rounds: 2,
                rounds_goals: 1,
                exificient_everywhere: false,
                native: budget(15),
                exificient: budget(300),
            },
            Effort::Full => Self {
                rounds: 3,
                rounds_goals: 5,
                exificient_everywhere: true,
                native: budget(50),
                exificient: budget(600),
            },
        }
    }

    fn rounds(&self, source: &Source) -> usize {
        if has_goals(source.data, source.file) {
            self.rounds_goals
        } else {
            self.rounds
        }
    }
}

/// Who takes part, in the order of a round: format, target.
type Contender = (From, &'static str, &'static str);

/// What a run measures natively with.
pub(super) struct Native<'a> {
    pub scale: Scale,
    pub seed: u64,
    /// Cells whose name does not contain this are left out.
    pub only: &'a str,
    /// Where files for other processes lie.
    pub folder: &'a Path,
    pub exificient: Result<Exificient, String>,
}

impl Native<'_> {
    /// Measures all native cells of a document.
    pub(super) fn measure(&mut self, source: &Source) -> Vec<CellResult> {
        let cell = |from, format| name(Place::Native, source.data, source.file, from, format);
        let document = match source.make(self.seed) {
            Ok(document) => Rc::new(document),
            Err(reason) => {
                return vec![CellResult::absent(
                    &cell(From::Document, "xml"),
                    "weir",
                    &reason,
                )];
            }
        };
        let mut prepared = self.prepare(&document);
        let mut outcomes = self.outcomes(&document, &prepared);
        let mut order: Vec<Contender> = outcomes.keys().copied().collect();
        let mut random = Random::new(self.seed, source.file);
        for round in 0..self.scale.rounds(source) {
            random.shuffle(&mut order);
            for contender in &order {
                let Some(outcome) = outcomes.get_mut(contender) else {
                    continue;
                };
                match prepared.get_mut(contender) {
                    Some(prepared) => self.round(prepared, round, outcome),
                    None => self.round_of_exificient(contender.1, &document, round, outcome),
                }
            }
        }
        let results = outcomes
            .into_iter()
            .map(|((from, format, target), outcome)| {
                let measure = Measure::of(&document, from);
                outcome.into_result(&cell(from, format), target, measure)
            });
        let mut results: Vec<CellResult> = results.collect();
        describe(&document, &mut results);
        results
    }

    fn wants(&self, document: &Document, from: From, format: &str) -> bool {
        let name = name(Place::Native, document.data, &document.file, from, format);
        wants(self.only, &name)
    }

    fn prepare(&self, document: &Rc<Document>) -> BTreeMap<Contender, Prepared> {
        let mut all = BTreeMap::new();
        for coding in codings() {
            if !self.wants(document, coding.from, coding.format) {
                continue;
            }
            if let Ok(prepared) = (coding.prepare)(document) {
                all.insert((coding.from, coding.format, coding.target), prepared);
            }
        }
        all
    }

    /// Sizes, and places for what rounds will give.
    fn outcomes(
        &mut self,
        document: &Document,
        prepared: &BTreeMap<Contender, Prepared>,
    ) -> BTreeMap<Contender, Outcome> {
        let sized = |(contender, prepared): (&Contender, &Prepared)| {
            let text = std::str::from_utf8(&prepared.bytes).ok();
            let characters = text.filter(|_| document.data == "message");
            let outcome = Outcome {
                bytes: prepared.bytes.len(),
                characters: characters.map(|text| text.encode_utf16().count()),
                ..Outcome::default()
            };
            (*contender, outcome)
        };
        let mut all: BTreeMap<Contender, Outcome> = prepared.iter().map(sized).collect();
        let takes_part = self.scale.exificient_everywhere || document.data == "message";
        let formats = exificient_formats(document.data, &document.file).iter();
        let wanted: Vec<&'static str> = formats
            .filter(|f| takes_part && self.wants(document, From::Document, f))
            .copied()
            .collect();
        if wanted.is_empty() || self.load(document).is_err() {
            return all;
        }
        for format in wanted {
            let Ok(exificient) = &mut self.exificient else {
                break;
            };
            let mut outcome = Outcome::default();
            match exificient.size(format) {
                Ok(bytes) => outcome.bytes = bytes,
                Err(fault) => outcome.faults.push(fault),
            }
            all.insert((From::Document, format, NAME), outcome);
        }
        all
    }

    fn load(&mut self, document: &Document) -> Result<(), String> {
        let exificient = self.exificient.as_mut().map_err(|reason| reason.clone())?;
        let xsd = self.folder.join("weir.xsd");
        let xml = self.folder.join("document.xml");
        std::fs::write(&xsd, WEIR_XSD).map_err(|e| e.to_string())?;
        std::fs::write(&xml, &document.xml).map_err(|e| e.to_string())?;
        exificient.schema(&xsd)?;
        exificient.load(&xml)
    }

    fn round(&self, prepared: &mut Prepared, round: usize, outcome: &mut Outcome) {
        let watch = Watch::begin([(CLIENT, Side::This)]);
        let works = [
            (Task::Parse, &mut prepared.parse),
            (Task::Serialize, &mut prepared.serialize),
            (Task::FromXml, &mut prepared.from_xml),
        ];
        for (task, work) in works {
            if let Some(work) = work {
                outcome.add(task, round, measure(self.scale.native, work));
            }
        }
        outcome.spent.push((round, watch.spent()));
    }

    fn round_of_exificient(
        &mut self,
        format: &str,
        document: &Document,
        round: usize,
        outcome: &mut Outcome,
    ) {
        let Ok(exificient) = &mut self.exificient else {
            return;
        };
        if outcome.bytes == 0 {
            return;
        }
        // What the goals compare needs all three; the paper's tables need two.
        let tasks = if has_goals(document.data, &document.file) {
            &Task::ALL[..]
        } else {
            &Task::ALL[..2]
        };
        let watch = Watch::begin([(CLIENT, Side::Tree(exificient.pid()))]);
        for &task in tasks {
            outcome.add(
                task,
                round,
                exificient.measure(format, task, self.scale.exificient),
            );
        }
        outcome.spent.push((round, watch.spent()));
    }
}

/// Adds to the XML's results what is true of the document whatever its format.
fn describe(document: &Document, results: &mut [CellResult]) {
    let Ok(percent) = content_density_percent(&document.xml) else {
        return;
    };
    let category = Category::of(document.xml.len(), percent).name();
    let name = name(
        Place::Native,
        document.data,
        &document.file,
        From::Document,
        "xml",
    );
    for result in results.iter_mut().filter(|result| result.cell == name) {
        result.metrics.push(single("content_density", "%", percent));
        result.remarks.push(format!("category {category}"));
        if let Some(bytes) = document.as_elements_bytes {
            result
                .metrics
                .push(single("size_as_elements", "bytes", bytes as f64));
        }
    }
}
