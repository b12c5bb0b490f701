//! Cells in Chromium: the same bytes, read by what a browser has or was given.
//!
//! A page of the gateway (`decoders.html`) holds the decoders, those of the dashboard's list and the
//! browser's own; it measures by the same rule as [`super::steady`], on the page's clock, and says
//! which formats it reads. The bytes are handed over before the clock runs.

use std::path::Path;

use serde_json::{Value, json};
use weir_codec::block::carried::to_base64;
use weir_codec::{FORMATS, Format};
use weir_model::Batch;

use super::cells::{DOCUMENTS_IN_BROWSER, Place, SLOWDOWNS, name, reads_observations};
use super::codings::{From, exi_of, json_of};
use super::data::{Document, Source};
use super::outcome::{Measure, Outcome};
use super::spent::{BROWSER, Names, SERVER, Side, Watch};
use super::steady::{COV_MAX, K, Steady};
use super::task::Task;
use weir_bench_lab::devtools::{Browser, Page, Slowdown, value_and_work, watched};
use weir_bench_lab::progress::Progress;
use weir_bench_lab::targets::{Running, Settings, list};
use weir_bench_model::effort::{Effort, wants};
use weir_bench_model::limits::SLOWDOWN_TRIES_MAX;
use weir_bench_model::results::CellResult;

/// The browser's name as a target.
pub(super) const NAME: &str = "chromium";
/// The same, reading into columns of numbers rather than objects.
pub(super) const COLUMNS: &str = "chromium_columns";

/// When the page is there, or is known not to come.
const READY: &str = "typeof weirMeasure === 'object' || \
                     performance.getEntriesByType('navigation')[0]?.responseStatus >= 400";
const NO_PAGE: &str = "absent: this build has no measuring page; `make web`, then build weir again";
const NO_DECODER: &str = "absent: the page has no decoder of it; `make web` builds the codec that has, \
                          where scripts/toolchain finds one for WebAssembly";

/// Milliseconds that a measurement in the page may look for its steady state.
fn budget_ms(effort: Effort) -> u64 {
    match effort {
        Effort::Quick => 60,
        Effort::Full => 250,
    }
}

/// What measures in a browser.
pub(super) struct InBrowser<'a> {
    pub effort: Effort,
    pub seed: u64,
    pub only: &'a str,
    browser: Browser,
    gateway: Running,
}

/// One payload to be read.
struct Payload {
    from: From,
    format: &'static str,
    binary: bool,
    bytes: Vec<u8>,
}

impl<'a> InBrowser<'a> {
    /// Starts the gateway, whose page it is, and the browser.
    pub(super) fn start(
        settings: &Settings,
        folder: &Path,
        effort: Effort,
        seed: u64,
        only: &'a str,
    ) -> Result<Self, String> {
        let target = list::named("weir").ok_or("no gateway")?;
        let data = folder.join("gateway");
        std::fs::create_dir_all(&data).map_err(|e| e.to_string())?;
        let gateway = (target.start)(settings, &data)?;
        let browser = Browser::launch(settings, &folder.join("profile"))?;
        Ok(Self {
            effort,
            seed,
            only,
            browser,
            gateway,
        })
    }

    /// What the browser says it is.
    pub(super) fn version(&self) -> &str {
        &self.browser.version
    }

    /// Measures all cells of the browser for these documents.
    pub(super) fn measure(
        &mut self,
        sources: &[Source],
        progress: &Progress,
    ) -> Result<Vec<CellResult>, String> {
        let url = format!("http://{}/decoders.html", self.gateway.address);
        let browser = (BROWSER, Side::Tree(self.browser.pid()));
        let server = self.gateway.pid().map(|pid| (SERVER, Side::Tree(pid)));
        let sides: Vec<_> = [browser].into_iter().chain(server).collect();
        let mut page = Page::open(&mut self.browser, &url, READY)?;
        let reads = page.evaluate("weirMeasure.formats()");
        let reads = reads.map_err(|_| NO_PAGE.to_string())?;
        let mut results = Vec::new();
        for source in sources {
            let Ok(document) = source.make(self.seed) else {
                progress.skip(1);
                continue;
            };
            for payload in payloads(&document, self.effort)? {
                let job = Job {
                    document: &document,
                    payload,
                    effort: self.effort,
                    reads: &reads,
                    sides: &sides,
                };
                results.extend(job.run(&mut page, self.only)?);
            }
            progress.end_piece(&format!("browser {} {}", source.data, source.file));
        }
        Ok(results)
    }
}

/// One payload and all that is asked about it.
struct Job<'a> {
    document: &'a Document,
    payload: Payload,
    effort: Effort,
    /// Formats that the page reads, by the way it reads them.
    reads: &'a Value,
    /// Who is watched meanwhile.
    sides: &'a [(Names, Side<'a>)],
}

impl Job<'_> {
    fn run(&self, page: &mut Page<'_>, only: &str) -> Result<Vec<CellResult>, String> {
        let Document { data, file, .. } = self.document;
        let fits = |times: u32| match self.payload.from {
            From::Document => true,
            From::Observations => reads_observations((data, file), times, self.effort),
        };
        let wanted = |times: &u32| fits(*times) && wants(only, &self.cell(*times));
        let slowdowns: Vec<u32> = SLOWDOWNS.into_iter().filter(wanted).collect();
        if slowdowns.is_empty() {
            return Ok(Vec::new());
        }
        let ways = self.ways();
        if ways.is_empty() {
            let missing = |times: &u32| CellResult::absent(&self.cell(*times), NAME, NO_DECODER);
            return Ok(slowdowns.iter().map(missing).collect());
        }
        let bytes = json!({"bytes": base64(&self.payload.bytes), "binary": self.payload.binary});
        page.evaluate(&format!("weirMeasure.take({bytes})"))?;
        let mut results = Vec::new();
        for times in slowdowns {
            page.slow_down(times)?;
            for &(way, target) in &ways {
                let outcome = self.outcome_while_slowed(page, way);
                let measure = Measure::of(self.document, self.payload.from);
                results.push(outcome.into_result(&self.cell(times), target, measure));
            }
        }
        page.slow_down(1)?;
        Ok(results)
    }

    fn cell(&self, times: u32) -> String {
        let Document { data, file, .. } = self.document;
        name(
            Place::Browser(times),
            data,
            file,
            self.payload.from,
            self.payload.format,
        )
    }

    /// The ways in which the page reads the payload, and the target that each stands for.
    fn ways(&self) -> Vec<(&'static str, &'static str)> {
        let reads = |way: &str| {
            let formats = self.reads[way].as_array();
            formats.is_some_and(|all| all.iter().any(|format| format == self.payload.format))
        };
        let all = match self.payload.from {
            From::Document => vec![("document", NAME)],
            From::Observations => vec![("observations", NAME), ("columns", COLUMNS)],
        };
        all.into_iter().filter(|(way, _)| reads(way)).collect()
    }

    /// The first outcome while which the page was as slow as asked, or the last one.
    fn outcome_while_slowed(&self, page: &mut Page<'_>, way: &str) -> Outcome {
        let mut outcome = self.outcome(page, way);
        for _ in 1..SLOWDOWN_TRIES_MAX {
            if outcome.slowdown.is_none_or(Slowdown::is_in_force) {
                break;
            }
            outcome = self.outcome(page, way);
        }
        outcome
    }

    fn outcome(&self, page: &mut Page<'_>, way: &str) -> Outcome {
        let job = json!({
            "how": way,
            "format": self.payload.format,
            "k": K,
            "covMax": COV_MAX,
            "budgetMs": budget_ms(self.effort),
        });
        let mut outcome = Outcome {
            bytes: self.payload.bytes.len(),
            ..Outcome::default()
        };
        let watch = Watch::begin(self.sides.iter().copied());
        let measure = watched(&format!("weirMeasure.measure({job})"), K);
        let answer = page.evaluate(&told(&measure));
        outcome.spent.push((0, watch.spent()));
        let read = answer.and_then(|answer| {
            let (answer, work_ms) = value_and_work(answer);
            let slowdown = page.slowdown(work_ms);
            outcome.slowdown = Some(slowdown).filter(|it| it.asked > 1 && work_ms.is_some());
            steady(&answer)
        });
        let format = self.payload.format;
        let read = read.map_err(|reason| format!("{format}, {}: {reason}", into_what(way)));
        outcome.add(Task::Parse, 0, read);
        outcome
    }
}

/// What a browser is to read of a document.
fn payloads(document: &Document, effort: Effort) -> Result<Vec<Payload>, String> {
    let documents = DOCUMENTS_IN_BROWSER.into_iter();
    let mut all: Vec<_> = documents
        .map(|format| whole(document, format))
        .collect::<Result<_, _>>()?;
    let file = (document.data, document.file.as_str());
    let reads = |&times: &u32| reads_observations(file, times, effort);
    let observed = document.batch.as_ref();
    let observed = observed.filter(|_| SLOWDOWNS.iter().any(reads));
    if let Some(batch) = observed {
        all.extend(FORMATS.iter().map(|format| observations(batch, format)));
    }
    Ok(all)
}

fn whole(document: &Document, format: &'static str) -> Result<Payload, String> {
    let xml = &document.xml;
    Ok(Payload {
        from: From::Document,
        format,
        binary: !matches!(format, "xml" | "json"),
        bytes: match format {
            "xml" => xml.clone().into_bytes(),
            "json" => json_of(xml)?,
            exi => exi_of(xml, exi)?,
        },
    })
}

fn observations(batch: &Batch, format: &Format) -> Payload {
    let mut bytes = Vec::new();
    (format.encode)(batch, &mut bytes);
    Payload {
        from: From::Observations,
        format: format.name,
        binary: !format.text,
        bytes,
    }
}

/// An expression that gives what this one does or, as an object, why it fails: an error's own words,
/// without the name of its class, which a build shortens to a letter.
fn told(expression: &str) -> String {
    format!(
        "(async () => {expression})().catch((error) => ({{ fault: String(error?.message ?? error) }}))"
    )
}

/// What a way of reading makes of the bytes.
fn into_what(way: &str) -> &'static str {
    match way {
        "observations" => "into objects",
        "columns" => "into columns",
        _ => "into a tree",
    }
}

fn steady(answer: &Value) -> Result<Steady, String> {
    if let Some(fault) = answer["fault"].as_str() {
        return Err(fault.into());
    }
    let us = answer
        .as_array()
        .map(|all| all.iter().filter_map(Value::as_f64).collect());
    let us: Vec<f64> = us.unwrap_or_default();
    match us.is_empty() {
        true => Err(format!("the page gave no samples: {answer}")),
        false => Ok(Steady::of(us)),
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    to_base64(bytes, &mut text);
    // Base64 is ASCII.
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::steady;
    use serde_json::json;

    #[test]
    fn a_page_that_fails_says_why_in_its_own_words() {
        let failed = steady(&json!({"fault": "bytes of a message over the limit"}));
        assert_eq!(failed, Err("bytes of a message over the limit".into()));
        let odd = steady(&json!("?")).map(drop);
        assert_eq!(odd, Err("the page gave no samples: \"?\"".into()));
        assert_eq!(
            steady(&json!(vec![1.0; 10])).map(|steady| steady.is_steady),
            Ok(true)
        );
    }
}
