//! An answer for people: plain text of fixed width.

use std::fmt::Write;

use crate::answer::{Answer, Section, Way};
use crate::figures::{Spread, crosses_a_link};
use crate::library::Origin;
use crate::need::Kind;
use crate::question::Question;

/// Ways of a section that are shown; `all` shows the rest.
const SHOWN: usize = 12;
/// Ways of equal rank that are named in the sentence before the tables.
const TIED_SHOWN: usize = 3;

/// The whole answer in words.
pub fn to_text(answer: &Answer, all: bool) -> String {
    let mut text = format!("Asked: {}\n", answer.question);
    text.extend(in_short(answer));
    for section in &answer.sections {
        say_section(answer, section, all, &mut text);
    }
    if let Some(refusal) = &answer.refusal {
        let _ = writeln!(text, "\nNo answer: {}.", refusal.why);
        for run in &refusal.runs {
            let _ = writeln!(
                text,
                "This run would give one:\n  {}\n  {}",
                run.command, run.brings
            );
        }
        if refusal.runs.is_empty() && answer.sections.is_empty() {
            text += &plan(&answer.question);
        }
    }
    if !answer.elsewhere.is_empty() && (all || answer.refusal.is_some()) {
        text += "\nMeasured at other points only:\n";
        for line in &answer.elsewhere {
            let _ = writeln!(text, "  {line}");
        }
    }
    say_sources(answer, &mut text);
    text
}

/// The first table's answer in a sentence, for who reads no tables.
fn in_short(answer: &Answer) -> Option<String> {
    let ranks = |section: &&Section| !section.ranked.is_empty();
    let section = answer.sections.iter().find(ranks)?;
    if answer.refusal.is_some() {
        return None;
    }
    let ways = section.ranked.iter().filter(|way| way.rank == 1);
    let best: Vec<String> = ways.map(|way| format!("`{}`", named(way))).collect();
    let shown = best.iter().take(TIED_SHOWN).cloned().collect::<Vec<_>>();
    let of = section.ranked.len();
    let by = answer.question.by.name();
    let told = match best.len() {
        1 => format!("{} is the first of {of} by {by}", best[0]),
        ties if ties > TIED_SHOWN => format!(
            "{} and {} more of {of} cannot be told apart by {by}: choose by what else matters",
            shown.join(", "),
            ties - TIED_SHOWN
        ),
        _ => format!(
            "{} cannot be told apart by {by}, of {of}",
            shown.join(" and ")
        ),
    };
    let sure = match section.doubts.is_empty() && section.ranked[0].doubts.is_empty() {
        true => "",
        false => " (less than sure: see below)",
    };
    Some(format!(
        "In short, by `{}`: {told}{sure}.\n",
        section.experiment
    ))
}

/// What would measure a point that no experiment has.
fn plan(question: &Question) -> String {
    let mut text = String::from(
        "No experiment has a cell there. A plan of your own measures it; as plan.toml:\n  target = [\"weir\", \
         \"mosquitto\"]\n  delivery = [\"sse\", \"mqtt\"]\n",
    );
    let _ = writeln!(text, "  link = [\"{}\"]", question.link);
    let _ = writeln!(text, "  clients = [{}]", question.clients);
    let rate = question
        .rate
        .map_or("\"max\"".into(), |rate| rate.to_string());
    let _ = writeln!(text, "  rate = [{rate}]");
    if let Some(payload) = &question.payload {
        let _ = writeln!(
            text,
            "  payload.file = \"message.json\"   # a message of yours like it: {payload}"
        );
    }
    text + "then\n  weir bench run plan.toml --out runs/mine\n  weir advise --results runs/mine ...\n"
}

fn say_section(answer: &Answer, section: &Section, all: bool, text: &mut String) {
    let test = section
        .test
        .as_ref()
        .map_or(String::new(), |test| format!(", {test}"));
    let by = answer.question.by.name();
    let _ = writeln!(
        text,
        "\n{}{test}: by {by}, latency is {}",
        section.experiment, section.time
    );
    if !crosses_a_link(&section.time) {
        text.push_str("  the work at one end alone: no link is in it\n");
    }
    for line in &section.compared_at {
        let _ = writeln!(text, "  {line}");
    }
    if !section.doubts.is_empty() {
        let _ = writeln!(text, "  all less sure: {}", section.doubts.join("; "));
    }
    if !section.ranked.is_empty() {
        let shown = if all { section.ranked.len() } else { SHOWN };
        let ways: Vec<&Way> = section.ranked.iter().take(shown).collect();
        table(&ways, text);
        if let Some(more) = section
            .ranked
            .len()
            .checked_sub(ways.len())
            .filter(|n| *n > 0)
        {
            let _ = writeln!(text, "  and {more} more: --all shows them");
        }
        say_ties(section, text);
    }
    for (what, ways) in [
        ("does not meet", &section.failing),
        ("cannot be judged by", &section.unjudged),
    ] {
        let shown = if all { ways.len() } else { 4 };
        for way in ways.iter().take(shown) {
            let bad = way.needs.iter().filter(|ruled| ruled.holds != Some(true));
            let bad: Vec<String> = bad
                .map(|r| format!("{} ({})", r.need, r.measured))
                .collect();
            let _ = writeln!(text, "  {} {what} {}", named(way), bad.join(", "));
        }
        if ways.len() > shown {
            let _ = writeln!(text, "  and {} more likewise", ways.len() - shown);
        }
    }
    if section.outside > 0 {
        let _ = writeln!(
            text,
            "  {} ways were measured at other points only",
            section.outside
        );
    }
}

fn say_ties(section: &Section, text: &mut String) {
    let best = section.ranked.iter().filter(|way| way.rank == 1).count();
    if best > 1 {
        let _ = writeln!(
            text,
            "  the first {best} cannot be told apart: their intervals meet, or one round gave none"
        );
    }
}

const HEAD: [&str; 8] = [
    "",
    "way",
    "latency",
    "95 % interval",
    "p50 / p99",
    "bytes",
    "cpu",
    "memory",
];

fn table(ways: &[&Way], text: &mut String) {
    let mut rows = vec![HEAD.map(String::from)];
    rows.extend(ways.iter().map(|way| row(way)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| width(column).unwrap_or(0))
        .collect();
    for (index, row) in rows.iter().enumerate() {
        let cells =
            row.iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 | 1 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                });
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "  {}", line.trim_end());
        if let Some(way) = index.checked_sub(1).and_then(|index| ways.get(index))
            && !way.doubts.is_empty()
        {
            let _ = writeln!(
                text,
                "  {:>w$}  less sure: {}",
                "",
                way.doubts.join("; "),
                w = widths[0]
            );
        }
    }
    text.push_str(
        "  * nothing beats it in everything; = cannot be told apart from its neighbours\n",
    );
}

fn row(way: &Way) -> [String; 8] {
    let figures = &way.figures;
    let mean = figures.latency.mean;
    let of = |spread: Option<Spread>, kind| spread.map_or("-".into(), |s| amount(s.value, kind));
    let interval = match (mean.low, mean.high) {
        (Some(low), Some(high)) => {
            format!(
                "{} to {}",
                amount(low, Kind::Time),
                amount(high, Kind::Time)
            )
        }
        _ => "-".into(),
    };
    let percentiles = figures
        .latency
        .percentiles
        .map_or("-".into(), |[p50, _, p99, ..]| {
            format!("{} / {}", amount(p50, Kind::Time), amount(p99, Kind::Time))
        });
    let tie = if way.tied { "=" } else { "" };
    let front = if way.front { "*" } else { "" };
    [
        format!("{}{tie}{front}", way.rank),
        named(way),
        amount(mean.value, Kind::Time),
        interval,
        percentiles,
        of(figures.bytes, Kind::Bytes),
        of(figures.cpu, Kind::Time),
        of(figures.memory, Kind::Bytes),
    ]
}

/// A way in words: its levels, chief factors first, and who was measured.
pub(crate) fn named(way: &Way) -> String {
    const CHIEF: [&str; 3] = ["protocol", "delivery", "format"];
    let mut words: Vec<String> = Vec::new();
    words.extend(
        CHIEF
            .iter()
            .filter_map(|factor| way.factors.level(factor))
            .map(Into::into),
    );
    let others = way
        .factors
        .iter()
        .filter(|(factor, _)| !CHIEF.contains(factor) && *factor != "test");
    words.extend(others.map(|(factor, level)| format!("{factor}={level}")));
    format!("{} ({})", words.join(" "), way.target)
}

fn say_sources(answer: &Answer, text: &mut String) {
    if answer.sources.is_empty() {
        return;
    }
    text.push_str("\nRests on:\n");
    for source in &answer.sources {
        let _ = writeln!(
            text,
            "  {}: `{}`, {}, {}",
            source.name, source.command, source.started, source.machine
        );
    }
    let foreign = answer
        .sources
        .iter()
        .any(|source| source.origin == Origin::Reference);
    if foreign {
        text.push_str(
            "  The reference was measured on another machine than yours: its order may differ, its figures \
             will.\n",
        );
    }
}

/// A number with its unit as a person reads it.
pub(crate) fn amount(value: f64, kind: Kind) -> String {
    match kind {
        Kind::Time if value >= 1e6 => format!("{} s", number(value / 1e6)),
        Kind::Time if value >= 1e3 => format!("{} ms", number(value / 1e3)),
        Kind::Time if value >= 1.0 || value == 0.0 => format!("{} us", number(value)),
        Kind::Time => format!("{} ns", number(value * 1e3)),
        Kind::Share => format!("{} %", number(value * 100.0)),
        Kind::Bytes if value >= 1e6 => format!("{} MB", number(value / 1e6)),
        Kind::Bytes if value >= 1e4 => format!("{} kB", number(value / 1e3)),
        Kind::Bytes => format!("{} B", number(value)),
        Kind::Rate => format!("{}/s", number(value)),
        Kind::Plain => number(value),
    }
}

/// Three digits that matter.
pub(crate) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}
