//! Whether a need holds, by what was measured, and how sure that is.

use crate::answer::Ruled;
use crate::cell::Factors;
use crate::figures::{Figures, Spread, scale};
use crate::library::{Measured, Metric};
use crate::limits::BEYOND_MIN;
use crate::need::{Bound, Comparison, Kind, Need, Quantity, Stat, What};
use crate::say::amount;

/// A value to set beside a bound.
struct Value {
    value: f64,
    low: f64,
    high: f64,
    /// Why it is not sure.
    doubt: Option<String>,
    kind: Kind,
}

/// Judges a need of a way from the cells that its answer rests on.
pub(crate) fn judge(need: &Need, cells: &[&Measured], time: &str) -> Ruled {
    let (holds, sure, measured) = match &need.what {
        What::Bound(quantity, comparison, bound) => {
            bounded(quantity, *comparison, *bound, cells, time)
        }
        What::Level(factor, equal, level) => leveled(cells[0], factor, *equal, level),
        What::Browser => browser(&cells[0].factors),
        What::Encrypted => encrypted(&cells[0].factors),
    };
    Ruled {
        need: need.text.clone(),
        holds,
        sure,
        measured,
    }
}

type Judged = (Option<bool>, bool, String);

fn bounded(
    quantity: &Quantity,
    comparison: Comparison,
    bound: Bound,
    cells: &[&Measured],
    time: &str,
) -> Judged {
    let values: Option<Vec<Value>> = cells
        .iter()
        .map(|cell| value(quantity, cell, time))
        .collect();
    // Between two cells the worse one must hold.
    let worse = |a: &Value, b: &Value| match comparison.wants_little() {
        true => a.value.total_cmp(&b.value),
        false => b.value.total_cmp(&a.value),
    };
    let Some(worst) = values.and_then(|values| values.into_iter().max_by(worse)) else {
        return (None, false, "not measured".into());
    };
    if worst.kind != bound.kind && !(worst.kind == Kind::Plain || bound.kind == Kind::Plain) {
        return (
            None,
            false,
            format!("is {}", amount(worst.value, worst.kind)),
        );
    }
    let holds = comparison.holds(worst.value, bound.value);
    let ends = [worst.low, worst.high].map(|end| comparison.holds(end, bound.value));
    let sure = ends == [holds; 2] && worst.doubt.is_none();
    let mut measured = amount(worst.value, worst.kind);
    match worst.doubt {
        Some(doubt) => measured += &format!(" ({doubt})"),
        None if !sure => measured += " (within noise of the bound)",
        None => {}
    }
    (Some(holds), sure, measured)
}

fn value(quantity: &Quantity, cell: &Measured, time: &str) -> Option<Value> {
    match quantity {
        Quantity::Latency(stat) => of_metric(cell.metrics.get(time)?, *stat),
        Quantity::Metric(name, stat) => of_metric(cell.metrics.get(name)?, *stat),
        Quantity::Loss => Some(loss(cell.metrics.get(time)?)),
        Quantity::Bytes => Some(spread(Figures::of(cell, time)?.bytes?, Kind::Bytes)),
        Quantity::Cpu => Some(spread(Figures::of(cell, time)?.cpu?, Kind::Time)),
        Quantity::Memory => Some(spread(Figures::of(cell, time)?.memory?, Kind::Bytes)),
    }
}

fn spread(spread: Spread, kind: Kind) -> Value {
    let (low, high) = (spread.low, spread.high);
    Value {
        value: spread.value,
        low: low.unwrap_or(spread.value),
        high: high.unwrap_or(spread.value),
        doubt: low.is_none().then(|| "one round, no interval".into()),
        kind,
    }
}

fn of_metric(metric: &Metric, stat: Stat) -> Option<Value> {
    let (kind, scale) = match (scale(&metric.unit), metric.unit.as_str()) {
        (Some(scale), _) => (Kind::Time, scale),
        (None, "bytes") => (Kind::Bytes, 1.0),
        (None, "%") => (Kind::Share, 0.01),
        (None, "1/s") => (Kind::Rate, 1.0),
        (None, _) => (Kind::Plain, 1.0),
    };
    if stat == Stat::Mean {
        return Some(self::spread(Spread::of(metric, scale), kind));
    }
    let (index, beyond) = match stat {
        Stat::P50 | Stat::Mean => (0, 0.5),
        Stat::P90 => (1, 0.1),
        Stat::P99 => (2, 0.01),
        Stat::P999 => (3, 0.001),
        Stat::Max => (4, 1.0),
    };
    let value = metric.percentiles?[index] * scale;
    let few = metric.n as f64 * beyond < BEYOND_MIN;
    Some(Value {
        value,
        low: value,
        high: value,
        doubt: few.then(|| format!("of {} samples only", metric.n)),
        kind,
    })
}

/// Losses over all that was sent; of none among n the share is below 3/n (95 %).
fn loss(metric: &Metric) -> Value {
    let sent = (metric.n + metric.lost).max(1) as f64;
    let share = metric.lost as f64 / sent;
    let half = match metric.lost {
        0 => 3.0 / sent,
        _ => 1.96 * (share * (1.0 - share) / sent).sqrt(),
    };
    Value {
        value: share,
        low: (share - half).max(0.0),
        high: share + half,
        doubt: None,
        kind: Kind::Share,
    }
}

fn leveled(cell: &Measured, factor: &str, equal: bool, level: &str) -> Judged {
    let found = match factor {
        "target" => Some(cell.target.as_str()),
        "experiment" => Some(cell.experiment.as_str()),
        _ => cell.factors.level(factor),
    };
    match found {
        Some(found) => (
            Some((found == level) == equal),
            true,
            format!("{factor}={found}"),
        ),
        None => (None, false, format!("no factor `{factor}` there")),
    }
}

/// Whether a browser reaches it: one did, or its protocol is one that browsers speak.
fn browser(factors: &Factors) -> Judged {
    if let Some(place) = factors.level("place") {
        return (
            Some(place == "browser"),
            true,
            format!("measured with place={place}"),
        );
    }
    // How much a page was slowed down.
    if let Some(cpu) = factors.level("cpu") {
        return (Some(true), true, format!("measured with cpu={cpu}"));
    }
    // Who publishes and who receives.
    if let Some(ends) = factors.level("ends") {
        let measured = format!("measured with ends={ends}");
        return (Some(ends.ends_with("browser")), true, measured);
    }
    const SPOKEN: [&str; 8] = [
        "polling",
        "long-polling",
        "streaming",
        "sse",
        "websocket",
        "cometd",
        "http",
        "rest",
    ];
    let Some(level) = factors.level("delivery").or(factors.level("protocol")) else {
        return (None, false, "no protocol or delivery named there".into());
    };
    match SPOKEN.iter().any(|spoken| level.starts_with(spoken)) {
        true => (
            Some(true),
            false,
            "a browser speaks it, but none took part".into(),
        ),
        false => (Some(false), true, format!("no browser speaks {level}")),
    }
}

fn encrypted(factors: &Factors) -> Judged {
    let levels = ["security", "tls", "transport"].map(|factor| factors.level(factor));
    let secured = |level: &str| {
        level == "on"
            || ["tls", "oscore", "https"]
                .iter()
                .any(|word| level.contains(word))
    };
    match levels.into_iter().flatten().find(|level| secured(level)) {
        Some(level) => (Some(true), true, format!("by {level}")),
        None => (Some(false), true, "measured in the clear".into()),
    }
}
