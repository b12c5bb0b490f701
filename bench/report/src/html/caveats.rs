//! What must be known before the numbers are believed, where they come from, and how to get them again.

use super::leaders::is_ceiling;
use super::markup::escaped;
use super::paper;
use super::{clock, configuration};
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, NOT_SLOWED, Part, Run};

/// Share of a latency's median from which lateness of the load matters.
const LAG_SHARE: f64 = 0.1;
/// Processors that the load may keep busy before it may be the limit.
const LOAD_CPUS_MAX: f64 = 0.8;
/// Load of the machine before the run from which other work may have disturbed it.
const LOAD_BEFORE_MAX: f64 = 0.5;
/// Cells named per caveat.
const NAMED_MAX: usize = 4;

/// Caveats, each a sentence; then the environment.
pub(super) fn section(run: &Run) -> String {
    let mut text = String::from("<ul class=\"caveats\">\n");
    for caveat in caveats(run) {
        text += &format!("<li>{caveat}</li>\n");
    }
    text += "</ul>\n";
    let slips = paper::slips(run);
    if !slips.is_empty() {
        text += "<h3>Known slips of the papers</h3>\n<ul class=\"caveats\">";
        text += &slips
            .iter()
            .map(|slip| format!("<li>{slip}</li>\n"))
            .collect::<String>();
        text += "</ul>\n";
    }
    let open = paper::open(run);
    if !open.is_empty() {
        text += &format!("<h3>Claims that this experiment cannot judge yet</h3>\n{open}");
    }
    text + &environment(run)
}

fn caveats(run: &Run) -> Vec<String> {
    let mut all = Vec::new();
    if run.effort == "quick" {
        let words =
            "A quick run: short steps and few rounds show orders of magnitude; do not quote it.";
        all.push(words.into());
    }
    all.extend(left_out(run));
    all.extend(parts(run));
    all.extend(machine(run));
    all.push(clock::caveat(run));
    all.extend(links(run));
    all.extend(marked(
        run,
        "ceiling",
        "came within 20 % of what load and machine can do at all",
    ));
    all.extend(marked(run, "wide", "have an interval too wide to rank by"));
    all.extend(marked(
        run,
        NOT_SLOWED,
        "are of a page that was not as slow as its cell says",
    ));
    all.extend(lag(run));
    all.extend(busy(run));
    all.extend(lost(run));
    all.extend(restless(run));
    all.extend(single_rounds(run));
    all.extend(absent(run));
    all
}

fn left_out(run: &Run) -> Option<String> {
    let cells = run.left_out.iter();
    let cells: Vec<String> = cells
        .map(|cell| format!("<code>{}</code>", escaped(cell)))
        .collect();
    (!cells.is_empty()).then(|| {
        format!(
            "Its time was over before {} of its cells, which a full run has: {}.",
            cells.len(),
            cells.join(", ")
        )
    })
}

/// Parts were not interleaved with each other.
fn parts(run: &Run) -> Option<String> {
    let part = |part: &Part| format!("<li>{}</li>", escaped(&part.to_string()));
    let parts: String = run.parts.iter().map(part).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "Joined from {} runs, one after the other on this machine: a pair within a cell was measured in \
             one of them, cells of different runs were not.<ul>{parts}</ul>",
            run.parts.len()
        )
    })
}

fn machine(run: &Run) -> Vec<String> {
    let environment = &run.environment;
    let mut all = Vec::new();
    if environment.load_before > LOAD_BEFORE_MAX {
        all.push(format!(
            "The machine was not at rest: load {:.2} in the minute before, on {} processors.",
            environment.load_before, environment.cpus
        ));
    }
    let has_load = run.results.iter().any(|r| r.metric("load_cpu").is_some());
    if environment.cpus < 4 && has_load {
        all.push(format!(
            "Server, load and this machine's own work shared {} processors: rates are a floor, and a second \
             machine would show more.",
            environment.cpus
        ));
    }
    all
}

fn links(run: &Run) -> Vec<String> {
    if run.links.is_empty() {
        return vec!["No link was emulated: bytes went through memory or loopback.".into()];
    }
    let link = |(name, used): (&String, &weir_bench_model::link_used::LinkUsed)| {
        format!(
            "Link <b>{}</b>, as it was before use: {}.",
            escaped(name),
            escaped(&used.to_string())
        )
    };
    run.links.iter().map(link).collect()
}

/// Results of a status, with the first cells by name.
fn marked(run: &Run, status: &str, words: &str) -> Option<String> {
    let with: Vec<&CellResult> = run.results.iter().filter(|r| r.status == status).collect();
    named(&with).map(|named| format!("{} results {words}: {named}.", with.len()))
}

fn named(results: &[&CellResult]) -> Option<String> {
    let name = |result: &&CellResult| {
        format!(
            "<code>{}</code> {}",
            escaped(&result.cell),
            escaped(&result.target)
        )
    };
    let names: Vec<String> = results.iter().take(NAMED_MAX).map(name).collect();
    let more = match results.len() > NAMED_MAX {
        true => " and more",
        false => "",
    };
    (!names.is_empty()).then(|| names.join("; ") + more)
}

/// Loads that were late against their own schedule.
fn lag(run: &Run) -> Option<String> {
    let p = |result: &CellResult, metric: &str| result.metric(metric)?.percentiles;
    let is_late = |result: &&CellResult| {
        let lag = p(result, "schedule_lag");
        let latency = p(result, "publish_to_receive").or_else(|| p(result, "acknowledgement"));
        lag.zip(latency)
            .is_some_and(|(lag, latency)| lag.p99 > latency.p50 * LAG_SHARE)
    };
    let late: Vec<&CellResult> = run.results.iter().filter(is_late).collect();
    named(&late).map(|named| {
        format!(
            "In {} results the load's own lateness (schedule lag, p99) exceeds a tenth of the median \
             latency: {named}.",
            late.len()
        )
    })
}

/// Loads that may have been the limit.
fn busy(run: &Run) -> Option<String> {
    let is_busy = |result: &&CellResult| {
        let cpu = result.metric("load_cpu").map(|metric| metric.estimate.mean);
        !is_ceiling(&result.target) && cpu.is_some_and(|cpu| cpu > LOAD_CPUS_MAX)
    };
    let busy: Vec<&CellResult> = run.results.iter().filter(is_busy).collect();
    named(&busy).map(|named| {
        format!(
            "In {} results the load itself kept more than {LOAD_CPUS_MAX} of a \
             processor busy: {named}.",
            busy.len()
        )
    })
}

fn lost(run: &Run) -> Option<String> {
    let is_lost = |result: &&CellResult| result.metrics.iter().any(|metric| metric.lost > 0);
    let with: Vec<&CellResult> = run.results.iter().filter(is_lost).collect();
    named(&with).map(|named| format!("{} results lost messages: {named}.", with.len()))
}

/// Times that did not come to rest while they were measured.
fn restless(run: &Run) -> Option<String> {
    let is_restless = |metric: &weir_bench_model::results::Metric| {
        let state = metric.state;
        state.is_some_and(|state| state != weir_bench_model::steadiness::State::Steady)
    };
    let with = |result: &&CellResult| result.metrics.iter().any(is_restless);
    let with: Vec<&CellResult> = run.results.iter().filter(with).collect();
    named(&with).map(|named| {
        format!(
            "{} results did not come to rest while they were measured: {named}.",
            with.len()
        )
    })
}

/// Times of which there is no second round to tell noise from.
fn single_rounds(run: &Run) -> Option<String> {
    let is_single = |result: &&CellResult| {
        let timed = |metric: &&weir_bench_model::results::Metric| metric.percentiles.is_some();
        let mut timed = result.metrics.iter().filter(timed).peekable();
        timed.peek().is_some() && timed.all(|metric| metric.rounds.len() < 2)
    };
    let count = run.results.iter().filter(is_single).count();
    let measured = run
        .results
        .iter()
        .filter(|result| !result.metrics.is_empty())
        .count();
    (count > 0).then(|| {
        format!(
            "{count} of {measured} results rest on one round: what changes from one start of a program to \
             the next is not in their intervals."
        )
    })
}

/// Targets of which there is no version but a reason.
fn absent(run: &Run) -> Option<String> {
    let is_absent = |target: &&String| {
        let mut of = run
            .results
            .iter()
            .filter(|result| result.target == **target)
            .peekable();
        of.peek().is_some() && of.all(|result| result.metrics.is_empty())
    };
    let names: Vec<String> = run
        .targets
        .iter()
        .filter(|(target, _)| is_absent(target))
        .map(|(target, why)| format!("<b>{}</b> ({})", escaped(target), escaped(why)))
        .collect();
    (!names.is_empty()).then(|| format!("Absent on this machine: {}.", names.join(", ")))
}

fn environment(run: &Run) -> String {
    let mut text = String::from("<h3>Environment</h3>\n<dl class=\"environment\">");
    let names = ["machine", "settings", "disk"];
    for (name, line) in names.iter().zip(run.environment.lines()) {
        text += &format!("<dt>{name}</dt><dd>{}</dd>", escaped(&line));
    }
    for (target, version) in &run.targets {
        text += &format!("<dt>{}</dt><dd>{}</dd>", escaped(target), escaped(version));
    }
    text + "</dl>\n"
}

/// The command, the seed, the versions and the files.
pub(super) fn repeat(run: &Run) -> String {
    format!(
        "<p>The same cells in the same order, with weir {} and the programs above:</p>\n<pre><code>{}\
         </code></pre>\n{}<p>Seed {}; the run took {} s. Compare another run with this one by</p>\n<pre><code>\
         weir bench compare THIS OTHER --html changes.html</code></pre>\n<p>Beside this page lie \
         <a href=\"summary.csv\">summary.csv</a> (a row a cell and metric), <a \
         href=\"run.json\">run.json</a> (all of it: environment, every round) and, where samples were kept, \
         <code>samples.parquet</code>. How to read this page is told in <code>docs/guides/report.md</code>, \
         how to cite it in <code>CITATION.cff</code>.</p>\n",
        escaped(&run.environment.weir),
        escaped(&with_seeds(run)),
        configuration::folded(run),
        run.seed,
        number(run.seconds.round()),
    )
}

/// The commands as they were, each run's with the seed that it may have left to the default.
fn with_seeds(run: &Run) -> String {
    let with_seed = |command: &str| match command.contains(" run ") && !command.contains("--seed") {
        true => format!("{command} --seed {}", run.seed),
        false => command.into(),
    };
    let commands = run.commands().into_iter().map(with_seed);
    commands.collect::<Vec<_>>().join("\n")
}
