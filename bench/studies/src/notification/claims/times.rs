//! Claims of trip times, and of the share of time in which a client holds the newest.

use super::{
    CLIENTS, INTERVALS, LONG_POLLING, POLLING, PUBLICATIONS, STREAMING, Verdict, everywhere,
    is_about, least, most, named, number, of_schemes, others, polling_at,
};
use crate::notification::figures::Grid;

/// "Scalability" is read as unique messages received: nobody is left behind.
pub(super) fn streaming_beats_all(grid: &Grid<'_>) -> Verdict {
    everywhere(&CLIENTS, &PUBLICATIONS, |clients, publish| {
        let of = |metric| of_schemes(grid, clients, publish, &others(), metric);
        let streaming = |metric| grid.mean(clients, publish, STREAMING, metric);
        let sooner = streaming("mpt")? <= least(&of("mpt")?);
        let more_coherent = streaming("mct")? >= most(&of("mct")?);
        let more_complete = streaming("rupm")? >= most(&of("rupm")?) - 0.05;
        Some(sooner && more_coherent && more_complete)
    })
}

pub(super) fn clients_256(grid: &Grid<'_>) -> Verdict {
    let trip = grid.mean(256, "5", STREAMING, "mpt")?;
    Some((trip <= 1.1, format!("{} s", number(trip))))
}

pub(super) fn clients_128(grid: &Grid<'_>) -> Verdict {
    let streaming = grid.mean(128, "1", STREAMING, "mct")?;
    let others = of_schemes(grid, 128, "1", &others(), "mct")?;
    let (low, high) = (least(&others), most(&others));
    let words = format!(
        "streaming {} %, the others {} to {} %",
        number(streaming),
        number(low),
        number(high)
    );
    Some((is_about(streaming, 50.0) && high <= 7.7, words))
}

/// With one client nothing is congested.
pub(super) fn polling_half_coherent(grid: &Grid<'_>) -> Verdict {
    let coherent = |interval: &&str| grid.mean(1, interval, &polling_at(interval), "mct");
    let all: Option<Vec<f64>> = INTERVALS.iter().map(coherent).collect();
    let all = all?;
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let words = format!(
        "{} % on average with a client, {} to {} % by the interval",
        number(mean),
        number(least(&all)),
        number(most(&all))
    );
    Some((is_about(mean, 50.0), words))
}

pub(super) fn comet_below_64(grid: &Grid<'_>) -> Verdict {
    everywhere(&[1, 16, 32], &PUBLICATIONS, |clients, publish| {
        let polling = least(&of_schemes(grid, clients, publish, &POLLING, "mpt")?);
        let comet = of_schemes(grid, clients, publish, &[LONG_POLLING, STREAMING], "mpt")?;
        Some(most(&comet) <= polling / 2.0)
    })
}

pub(super) fn long_polling_above_64(grid: &Grid<'_>) -> Verdict {
    everywhere(&[128, 256], &PUBLICATIONS, |clients, publish| {
        let polling = least(&of_schemes(grid, clients, publish, &POLLING, "mpt")?);
        let long_polling = grid.mean(clients, publish, LONG_POLLING, "mpt")?;
        Some(long_polling >= 0.9 * polling)
    })
}

/// On the line that 256 clients saturate.
pub(super) fn half_the_interval(grid: &Grid<'_>) -> Verdict {
    let [polling, long_polling] =
        [POLLING[0], LONG_POLLING].map(|scheme| grid.mean(256, "5", scheme, "mpt"));
    let (polling, long_polling) = (polling?, long_polling?);
    let holds = is_about(polling, 2.5) && is_about(long_polling, 2.5);
    let words = named(&[
        ("polling every second", polling),
        ("long polling", long_polling),
    ]);
    Some((holds, format!("256 clients, s: {words}")))
}

pub(super) fn coherent_when_slow(grid: &Grid<'_>) -> Verdict {
    let all = [&others()[..], &[STREAMING]].concat();
    everywhere(&CLIENTS, &["50"], |clients, publish| {
        let slow = of_schemes(grid, clients, publish, &all, "mct")?;
        let fast = of_schemes(grid, clients, "1", &all, "mct")?;
        Some(slow.iter().zip(&fast).all(|(slow, fast)| slow > fast))
    })
}

/// About as coherent: within ten percent of the time.
pub(super) fn long_polling_coherent(grid: &Grid<'_>) -> Verdict {
    everywhere(&CLIENTS, &INTERVALS, |clients, publish| {
        let polling = grid.mean(clients, publish, &polling_at(publish), "mct")?;
        let long_polling = grid.mean(clients, publish, LONG_POLLING, "mct")?;
        Some((polling - long_polling).abs() <= 10.0)
    })
}

/// Neither sooner, nor more complete, nor more coherent, nor lighter; by half a percent it is not better.
pub(super) fn long_polling_never_better(grid: &Grid<'_>) -> Verdict {
    everywhere(&CLIENTS, &PUBLICATIONS, |clients, publish| {
        let of = |metric| {
            let both = of_schemes(grid, clients, publish, &[LONG_POLLING, STREAMING], metric)?;
            Some((both[0], both[1]))
        };
        let is_less = |(one, other): (f64, f64)| one < 0.995 * other;
        let is_more = |(one, other): (f64, f64)| one > 1.005 * other;
        let less = is_less(of("mpt")?) || is_less(of("ntb")?);
        Some(!less && !is_more(of("rupm")?) && !is_more(of("mct")?))
    })
}
