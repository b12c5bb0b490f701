//! A question answered from what was measured: ranked ways, or a refusal.

use crate::answer::{Answer, Cell, Refusal, Ruled, Section, Way};
use crate::cell::Factors;
use crate::figures::{Figures, crosses_a_link};
use crate::fit::{Fit, Point, fit};
use crate::judge::judge;
use crate::library::{Library, Measured};
use crate::offer::{Offer, suggestions};
use crate::question::Question;
use crate::rank::{mark_front, rank};
use crate::section::{Key, Ways, measured_at, sections, settle};
use std::collections::BTreeSet;

/// Answers a question from what was measured; `offers` is what could be.
pub fn advise(library: &Library, offers: &[Offer], question: Question) -> Answer {
    let asked = Point::of(&question);
    let mut answer = Answer {
        question,
        sources: Vec::new(),
        sections: Vec::new(),
        elsewhere: Vec::new(),
        refusal: None,
    };
    for (key, ways) in sections(library) {
        match section(&key, &ways, &asked, &answer.question) {
            Some(section) => answer.sections.push(section),
            None => {
                let named = key.name();
                answer
                    .elsewhere
                    .push(format!("{named}: {}", measured_at(&ways)));
            }
        }
    }
    // What crosses a link before what does not; then by how many doubts there are.
    answer.sections.sort_by_cached_key(|section| {
        let nothing = section.ranked.is_empty();
        let least = section.ranked.iter().map(|way| way.doubts.len()).min();
        let doubts = least.map(|least| least + section.doubts.len());
        (
            nothing,
            !crosses_a_link(&section.time),
            doubts,
            section.experiment.clone(),
        )
    });
    answer.refusal = refusal(&answer, library, offers, &asked);
    keep_sources(&mut answer, library);
    answer
}

fn section(key: &Key, ways: &Ways<'_>, asked: &Point, question: &Question) -> Option<Section> {
    let (point, compared_at) = settle(asked, ways);
    let mut section = Section {
        experiment: key.experiment.clone(),
        test: key.test.clone(),
        time: key.time.clone(),
        compared_at,
        doubts: Vec::new(),
        ranked: Vec::new(),
        failing: Vec::new(),
        unjudged: Vec::new(),
        outside: 0,
    };
    for ((factors, target), cells) in ways {
        let Some(way) = way(factors, target, cells, &point, key, question) else {
            section.outside += 1;
            continue;
        };
        let holds = |wanted| way.needs.iter().any(|ruled| ruled.holds == wanted);
        match (holds(Some(false)), holds(None)) {
            (true, _) => section.failing.push(way),
            (false, true) => section.unjudged.push(way),
            (false, false) => section.ranked.push(way),
        }
    }
    rank(&mut section.ranked, question.by);
    mark_front(&mut section.ranked);
    share_doubts(&mut section);
    let any =
        !(section.ranked.is_empty() && section.failing.is_empty() && section.unjudged.is_empty());
    any.then_some(section)
}

/// What all ways have to be said of them is said of the section, once.
fn share_doubts(section: &mut Section) {
    let Some((first, rest)) = section
        .ranked
        .split_first()
        .filter(|(_, rest)| !rest.is_empty())
    else {
        return;
    };
    let shared = |doubt: &&String| rest.iter().all(|way| way.doubts.contains(doubt));
    section.doubts = first.doubts.iter().filter(shared).cloned().collect();
    for way in &mut section.ranked {
        way.doubts.retain(|doubt| !section.doubts.contains(doubt));
    }
}

fn way(
    factors: &Factors,
    target: &str,
    cells: &[&Measured],
    point: &Point,
    key: &Key,
    question: &Question,
) -> Option<Way> {
    let (figures, cells, exact, mut doubts) = match fit(cells, point) {
        Fit::At(cell, doubts) => (Figures::of(cell, &key.time)?, vec![cell], true, doubts),
        Fit::Between(low, high, share, doubts) => {
            let ends = [low, high].map(|cell| Figures::of(cell, &key.time));
            let [Some(first), Some(second)] = ends else {
                return None;
            };
            (
                first.between(&second, share),
                vec![low, high],
                false,
                doubts,
            )
        }
        Fit::Outside => return None,
    };
    let needs: Vec<Ruled> = question
        .needs
        .iter()
        .map(|need| judge(need, &cells, &key.time))
        .collect();
    let mean = figures.latency.mean;
    if mean.low.is_none() {
        doubts.push("one round: no interval".into());
    } else if mean.is_wide() {
        doubts.push("wide interval".into());
    }
    for cell in &cells {
        if cell.status != "ok" {
            doubts.push(format!("marked `{}`", cell.status));
        }
    }
    let unsure = needs
        .iter()
        .filter(|ruled| ruled.holds == Some(true) && !ruled.sure);
    doubts.extend(unsure.map(|ruled| format!("{}: {}", ruled.need, ruled.measured)));
    let named = |cell: &&Measured| Cell {
        source: cell.source,
        cell: cell.cell.clone(),
        n: cell.metrics.get(&key.time).map_or(0, |metric| metric.n),
    };
    Some(Way {
        rank: 0,
        tied: false,
        front: false,
        target: target.into(),
        factors: factors.clone(),
        exact,
        doubts,
        needs,
        cells: cells.iter().map(named).collect(),
        figures,
    })
}

fn refusal(answer: &Answer, library: &Library, offers: &[Offer], asked: &Point) -> Option<Refusal> {
    // What a format costs wherever it goes is no answer to who asks of a link.
    let of_a_link = asked.link != "local" || asked.clients != 1.0 || asked.rate.is_some();
    let counts = |section: &&Section| !of_a_link || crosses_a_link(&section.time);
    let all = || answer.sections.iter().filter(counts);
    if all().any(|section| !section.ranked.is_empty()) {
        return None;
    }
    let failing: usize = all().map(|section| section.failing.len()).sum();
    let unjudged: usize = all().map(|section| section.unjudged.len()).sum();
    let why = match (failing, unjudged) {
        (0, 0) => nothing_there(library, asked),
        (failing, 0) => format!("{failing} ways were measured there, and none meets every need"),
        (failing, unjudged) => format!(
            "of {} ways that were measured there {failing} fail a need, and of {unjudged} a need was \
             not measured",
            failing + unjudged
        ),
    };
    let runs = match failing {
        0 => suggestions(offers, library, asked),
        _ => Vec::new(),
    };
    Some(Refusal { why, runs })
}

/// Of a link that no cell has, which there are.
fn nothing_there(library: &Library, asked: &Point) -> String {
    let links: BTreeSet<&str> = library.cells.iter().map(Measured::link).collect();
    match links.is_empty() || links.contains(asked.link.as_str()) {
        true => "nothing was measured there".into(),
        false => {
            let links: Vec<&str> = links.into_iter().collect();
            format!(
                "nothing was measured over `{}`, but over {}",
                asked.link,
                links.join(", ")
            )
        }
    }
}

/// Keeps the runs that are used, and numbers them anew.
fn keep_sources(answer: &mut Answer, library: &Library) {
    let mut kept = Vec::<usize>::new();
    for section in &mut answer.sections {
        let parts = [
            &mut section.ranked,
            &mut section.failing,
            &mut section.unjudged,
        ];
        let ways = parts.into_iter().flatten();
        for cell in ways.flat_map(|way| &mut way.cells) {
            let place = kept.iter().position(|source| *source == cell.source);
            let old = cell.source;
            cell.source = place.unwrap_or(kept.len());
            if place.is_none() {
                kept.push(old);
            }
        }
    }
    answer.sources = kept
        .iter()
        .map(|&source| library.sources[source].clone())
        .collect();
}
