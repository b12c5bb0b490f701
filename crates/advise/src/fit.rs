//! How a cell lies to the point that is asked for.

use crate::figures::{chief_time, crosses_a_link, rate};
use crate::library::Measured;
use crate::question::{Payload, Question};

/// The point of a question within one experiment: what was not asked is settled there.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) link: String,
    pub(crate) clients: f64,
    pub(crate) rate: Option<f64>,
    pub(crate) payload: Option<Payload>,
}

/// How a factor of a cell lies to the point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lie {
    /// There.
    Exact,
    /// Its experiment does not vary it; why that does.
    NotVaried(String),
    /// Its level is less.
    Below(f64),
    /// Its level is more.
    Above(f64),
    /// It is something else.
    Elsewhere,
}

/// Factors between whose levels a point may lie.
pub(crate) const AXES: [&str; 3] = ["clients", "rate", "payload"];

impl Point {
    pub(crate) fn of(question: &Question) -> Self {
        Self {
            link: question.link.clone(),
            clients: question.clients,
            rate: question.rate,
            payload: question.payload.clone(),
        }
    }

    /// What is asked of an axis, as a number.
    pub(crate) fn asked(&self, axis: &str) -> Option<f64> {
        match axis {
            "clients" => Some(self.clients),
            "rate" => self.rate,
            _ => match self.payload {
                Some(Payload::Bytes(asked) | Payload::Nodes(asked)) => Some(asked),
                _ => None,
            },
        }
    }
}

/// How a cell lies to a point: its link, then each of [`AXES`].
pub(crate) fn lies(cell: &Measured, point: &Point) -> [Lie; 4] {
    let everywhere = chief_time(cell).is_some_and(|time| !crosses_a_link(time));
    if everywhere {
        let not_varied = || Lie::NotVaried(String::new());
        return [
            not_varied(),
            not_varied(),
            not_varied(),
            payload(cell, point),
        ];
    }
    let link = match cell.link() == point.link {
        true => Lie::Exact,
        false => Lie::Elsewhere,
    };
    let clients = cell.factors.number("clients").unwrap_or(1.0);
    [
        link,
        lie(clients, point.clients),
        rate_of(cell, point),
        payload(cell, point),
    ]
}

fn lie(level: f64, asked: f64) -> Lie {
    match level - asked {
        apart if apart.abs() <= 1e-9 * asked.abs() => Lie::Exact,
        apart if apart < 0.0 => Lie::Below(level),
        _ => Lie::Above(level),
    }
}

fn rate_of(cell: &Measured, point: &Point) -> Lie {
    let Some(asked) = point.rate else {
        return Lie::NotVaried(String::new());
    };
    if let Some(level) = cell.factors.number("rate") {
        return lie(level, asked);
    }
    // As fast as it goes: what is asked must not be more than that.
    match rate(cell) {
        Some(reached) if reached >= asked => {
            let reached = crate::say::number(reached);
            Lie::NotVaried(format!(
                "rate not varied: measured as fast as it went, {reached}/s"
            ))
        }
        _ => Lie::Elsewhere,
    }
}

fn payload(cell: &Measured, point: &Point) -> Lie {
    let Some(asked) = &point.payload else {
        return Lie::NotVaried(String::new());
    };
    let (level, nodes) = (cell.factors.level("payload"), cell.factors.number("nodes"));
    match (asked, level, nodes) {
        (Payload::Nodes(asked), _, Some(nodes)) => lie(nodes, *asked),
        (Payload::Bytes(asked), Some(_), _) => match cell.factors.number("payload") {
            Some(bytes) => lie(bytes, *asked),
            None => Lie::Elsewhere,
        },
        (Payload::Kind(asked), Some(level), _) if asked == level => Lie::Exact,
        (_, None, None) => Lie::NotVaried("payload not varied there".into()),
        _ => Lie::Elsewhere,
    }
}

/// Where a way's cells let a point be answered from.
pub(crate) enum Fit<'a> {
    /// A cell is there; what its experiment does not vary.
    At(&'a Measured, Vec<String>),
    /// Between two cells along one axis: the share of the way from the first to the second.
    Between(&'a Measured, &'a Measured, f64, Vec<String>),
    /// Nowhere near enough.
    Outside,
}

/// Fits a point to the cells of one way.
pub(crate) fn fit<'a>(cells: &[&'a Measured], point: &Point) -> Fit<'a> {
    let lain: Vec<(&Measured, [Lie; 4])> = cells.iter().map(|&c| (c, lies(c, point))).collect();
    let there = lain
        .iter()
        .filter(|(_, lies)| lies.iter().all(Lie::is_there));
    // Of several the one whose experiment varies most of what was asked.
    let best = there.max_by_key(|(_, lies)| lies.iter().filter(|l| **l == Lie::Exact).count());
    if let Some((cell, lies)) = best {
        return Fit::At(cell, reasons(lies));
    }
    let mut axes = AXES.iter().enumerate();
    axes.find_map(|(index, axis)| between(&lain, index + 1, point.asked(axis)?, axis))
        .unwrap_or(Fit::Outside)
}

fn between<'a>(
    lain: &[(&'a Measured, [Lie; 4])],
    axis: usize,
    asked: f64,
    name: &str,
) -> Option<Fit<'a>> {
    let mut below: Option<(f64, &Measured)> = None;
    let mut above: Option<(f64, &Measured, &[Lie; 4])> = None;
    for (cell, lies) in lain {
        let others = lies.iter().enumerate().filter(|(index, _)| *index != axis);
        if !others.into_iter().all(|(_, lie)| lie.is_there()) {
            continue;
        }
        match lies[axis] {
            Lie::Below(level) if below.is_none_or(|(best, _)| level > best) => {
                below = Some((level, cell));
            }
            Lie::Above(level) if above.is_none_or(|(best, ..)| level < best) => {
                above = Some((level, cell, lies));
            }
            _ => {}
        }
    }
    let ((low, first), (high, second, lies)) = (below?, above?);
    let mut reasons = vec![format!("between {name} {low} and {high}")];
    reasons.extend(self::reasons(lies));
    Some(Fit::Between(
        first,
        second,
        (asked - low) / (high - low),
        reasons,
    ))
}

fn reasons(lies: &[Lie; 4]) -> Vec<String> {
    let told = lies.iter().filter_map(|lie| match lie {
        Lie::NotVaried(reason) if !reason.is_empty() => Some(reason.clone()),
        _ => None,
    });
    told.collect()
}

impl Lie {
    /// Whether an answer may rest on it.
    pub(crate) fn is_there(&self) -> bool {
        matches!(self, Self::Exact | Self::NotVaried(_))
    }
}
