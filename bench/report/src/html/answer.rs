//! The head of the page: what was compared, who is ahead by how much, what is noise, what failed.

use std::collections::{BTreeMap, BTreeSet};

use super::leaders;
use super::markup::escaped;
use weir_bench_model::compare::{Good, goodness, is_exact};
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, ClaimResult, GoalResult, Ratio, Run};
use weir_bench_model::tally::Tally;

/// Title, lead and the answer as a list of sentences.
pub(super) fn head(run: &Run, about: &str) -> String {
    let mut text = format!(
        "<p class=\"kind\">weir bench \u{b7} {} run \u{b7} {}</p>\n<h1>{}</h1>\n<p class=\"lead\">{}.{}</p>\n\
         <ul class=\"answer\">\n",
        escaped(&run.effort),
        escaped(&run.started),
        escaped(run.title()),
        escaped(&capital(about)),
        source(run),
    );
    for sentence in sentences(run) {
        text += &format!("<li>{sentence}</li>\n");
    }
    text + "</ul>\n" + &against(run) + &strip(run)
}

/// The paper whose experiment it is.
fn source(run: &Run) -> String {
    if run.source == "ours" || run.is_of_a_plan() {
        return String::new();
    }
    let source = escaped(&run.source);
    format!(" <span class=\"source\">After {source}.</span>")
}

pub(super) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    first.map_or(String::new(), |first| first.chain(characters).collect())
}

/// Sentences are HTML.
pub(super) fn sentences(run: &Run) -> Vec<String> {
    let mut all = vec![compared(run)];
    all.extend(leaders::sentences(run));
    all.extend(goals(run));
    all.extend(claims(&run.claims));
    all.push(noise(run));
    all.push(failures(run));
    all
}

fn compared(run: &Run) -> String {
    let cells: BTreeSet<&str> = run.results.iter().map(|r| r.cell.as_str()).collect();
    let measured = run.results.iter().filter(|r| !r.metrics.is_empty());
    let targets: BTreeSet<&str> = measured.map(|r| r.target.as_str()).collect();
    let names: Vec<String> = targets
        .iter()
        .map(|name| format!("<b>{}</b>", escaped(name)))
        .collect();
    format!(
        "Compared: {} in {} cells, {} results, within {}.",
        names.join(", "),
        cells.len(),
        run.results.len(),
        duration(run.seconds)
    )
}

pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Ours against each other system, metric by metric, pair by pair: a small table.
fn against(run: &Run) -> String {
    let mut of: BTreeMap<(&str, &str), Vec<&Ratio>> = BTreeMap::new();
    let rivals = run
        .ratios
        .iter()
        .filter(|ratio| !leaders::is_ceiling(&ratio.target));
    for ratio in rivals {
        let pairs = of.entry((&ratio.target, &ratio.metric)).or_default();
        pairs.push(ratio);
    }
    let rows = of.into_iter();
    let rows: String = rows
        .filter_map(|((target, name), ratios)| beside(run, target, name, &ratios))
        .collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<div class=\"scroll\"><table class=\"rivals\"><caption>Ours against others, pair by pair: cells in \
         which ours is ahead or behind beyond the 95 % interval</caption><thead><tr><th \
         class=\"words\">against</th><th class=\"words\">figure</th><th>ahead</th><th>behind</th><th>within \
         noise</th><th>one round, not ranked</th><th>ours, times theirs</th></tr></thead><tbody>{rows}</tbody>\
         </table></div>\n"
    )
}

/// A ratio's metric and its figure: `rtt` and `p99`.
pub(super) fn parted(metric: &str) -> (&str, &str) {
    let figure = ["p50", "p99", "mean"]
        .into_iter()
        .find(|figure| metric.ends_with(&format!("_{figure}")));
    match figure {
        Some(figure) => (&metric[..metric.len() - figure.len() - 1], figure),
        None => (metric, ""),
    }
}

fn beside(run: &Run, target: &str, name: &str, ratios: &[&Ratio]) -> Option<String> {
    let metric = parted(name).0;
    let good = good_of(run, metric)?;
    let side = |ratio: &Ratio| match (ratio.estimate.n, good) {
        (0 | 1, _) if !is_exact(metric) => "once",
        (_, Good::More) if ratio.estimate.low > 1.0 => "ahead",
        (_, Good::Less) if ratio.estimate.high < 1.0 => "ahead",
        (_, Good::More) if ratio.estimate.high < 1.0 => "behind",
        (_, Good::Less) if ratio.estimate.low > 1.0 => "behind",
        _ => "noise",
    };
    let count = |which: &str| ratios.iter().filter(|ratio| side(ratio) == which).count();
    let counts = ["ahead", "behind", "noise", "once"].map(|which| match count(which) {
        0 => "<td></td>".into(),
        count => format!("<td class=\"{which}\">{count}</td>"),
    });
    let logs: f64 = ratios.iter().map(|ratio| ratio.estimate.mean.ln()).sum();
    let mean = number((logs / ratios.len() as f64).exp());
    Some(format!(
        "<tr><td class=\"words\"><b>{}</b></td><td class=\"words\">{} \
         ({})</td>{}<td>{mean}</td></tr>",
        escaped(target),
        escaped(&name.trim_end_matches("_mean").replace('_', " ")),
        better(good),
        counts.concat(),
    ))
}

pub(super) fn better(good: Good) -> &'static str {
    match good {
        Good::More => "more is better",
        Good::Less => "less is better",
    }
}

/// Which way is good for a metric.
fn good_of(run: &Run, name: &str) -> Option<Good> {
    let metric = run.results.iter().find_map(|result| result.metric(name))?;
    goodness(metric)
}

fn goals(run: &Run) -> Option<String> {
    let judged = run.goals.iter().filter_map(|goal| goal.holds);
    let (held, all) = (
        judged.clone().filter(|holds| *holds).count(),
        judged.count(),
    );
    let is_undecided = |goal: &&GoalResult| goal.holds.is_none() && goal.estimate.is_some();
    let undecided = match run.goals.iter().filter(is_undecided).count() {
        0 => String::new(),
        some => format!(", {some} undecided by the interval"),
    };
    (all > 0).then(|| {
        format!("Goals of ours: {held} of {all} <a href=\"#goals\">reached</a>{undecided}.")
    })
}

fn claims(claims: &[ClaimResult]) -> Option<String> {
    let tally = Tally::of(claims).some()?;
    Some(format!(
        "Of what the papers <a href=\"#claims\">claim</a>: {tally}."
    ))
}

fn noise(run: &Run) -> String {
    let wide = count(run, |result| result.status == "wide");
    let ceiling = count(run, |result| result.status == "ceiling");
    let mut parts = Vec::new();
    if wide > 0 {
        let results = if wide == 1 {
            "result is"
        } else {
            "results are"
        };
        parts.push(format!("{wide} {results} too wide to rank"));
    }
    if ceiling > 0 {
        let are = if ceiling == 1 { "is" } else { "are" };
        parts.push(format!("{ceiling} {are} near what load and machine can do"));
    }
    if parts.is_empty() {
        return "Noise: no result is too wide to rank, none is at the ceiling of load and machine."
            .into();
    }
    format!(
        "Noise: {}; they are <a href=\"#cells\">marked</a>.",
        parts.join(", ")
    )
}

fn count(run: &Run, is: impl Fn(&CellResult) -> bool) -> usize {
    run.results.iter().filter(|result| is(result)).count()
}

/// What failed, each reason with how often.
fn failures(run: &Run) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for result in run
        .results
        .iter()
        .filter(|result| result.metrics.is_empty())
    {
        *reasons.entry(&result.status).or_default() += 1;
    }
    if reasons.is_empty() {
        return "Nothing failed.".into();
    }
    let all: usize = reasons.values().sum();
    let mut often: Vec<(&str, usize)> = reasons.into_iter().collect();
    often.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told: Vec<String> = often
        .iter()
        .take(3)
        .map(|(reason, count)| format!("{} ({count})", escaped(first_line(reason))))
        .collect();
    let more = match often.len() {
        0..=3 => "",
        _ => ", and other reasons",
    };
    let results = if all == 1 { "result" } else { "results" };
    format!("Not measured: {all} {results}: {}{more}.", told.join("; "))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// How many results are sound, wide, at the ceiling and failed, as a bar.
pub(super) fn strip(run: &Run) -> String {
    let failed = count(run, |result| result.metrics.is_empty());
    let wide = count(run, |result| result.status == "wide");
    let ceiling = count(run, |result| result.status == "ceiling");
    let ok = count(run, |result| result.status == "ok");
    let other = run.results.len() - failed - wide - ceiling - ok;
    let parts = [
        ("ok", "sound", ok),
        ("ceiling", "at the ceiling", ceiling),
        ("wide", "too wide", wide),
        ("other", "with a reservation", other),
        ("failed", "not measured", failed),
    ];
    let there = || parts.iter().filter(|(_, _, count)| *count > 0);
    let bar: String = there()
        .map(|(class, _, count)| format!("<i class=\"{class}\" style=\"flex:{count}\"></i>"))
        .collect();
    let words: String = there()
        .map(|(class, words, count)| {
            format!("<span><i class=\"{class}\"></i>{count} {words}</span> ")
        })
        .collect();
    format!("<div class=\"strip\" aria-hidden=\"true\">{bar}</div><p class=\"key\">{words}</p>\n")
}
