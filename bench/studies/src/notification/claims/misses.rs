//! Claims of how many messages are received, and how many of them are new.

use super::{
    CLIENTS, INTERVALS, LONG_POLLING, POLLING, PUBLICATIONS, STREAMING, Verdict, everywhere,
    is_about, least, most, number, of_schemes, others, polling_at,
};
use crate::notification::figures::Grid;

/// What counts as nobody missing anything to speak of, percent.
const NEAR_ALL: f64 = 99.0;

/// With one client nothing is congested.
pub(super) fn polling_5000(grid: &Grid<'_>) -> Verdict {
    let received = grid.mean(1, "50", POLLING[0], "rpm")?;
    let unique = grid.mean(1, "50", POLLING[0], "rupm")?;
    let unnecessary = 100.0 * (1.0 - unique / received);
    let words = format!(
        "{} %, {unnecessary:.1} % of it unnecessary",
        number(received)
    );
    Some((
        is_about(received, 5000.0) && is_about(unnecessary, 98.0),
        words,
    ))
}

pub(super) fn streaming_near_100(grid: &Grid<'_>) -> Verdict {
    let of = |clients: &usize| grid.mean(*clients, "1", STREAMING, "rupm");
    let all: Option<Vec<f64>> = CLIENTS[..4].iter().map(of).collect();
    let lowest = least(&all?);
    Some((lowest >= NEAR_ALL, format!("at least {lowest:.2} %")))
}

pub(super) fn comet_never_above_100(grid: &Grid<'_>) -> Verdict {
    let mut all = Vec::new();
    for clients in CLIENTS {
        for publish in PUBLICATIONS {
            all.extend(of_schemes(
                grid,
                clients,
                publish,
                &[LONG_POLLING, STREAMING],
                "rpm",
            )?);
        }
    }
    let highest = most(&all);
    // What is received just after the end may have been published just before.
    Some((highest <= 100.5, format!("at most {highest:.1} %")))
}

pub(super) fn polling_falls(grid: &Grid<'_>) -> Verdict {
    everywhere(&[64, 128], &PUBLICATIONS, |clients, publish| {
        let received = |clients| grid.mean(clients, publish, POLLING[0], "rpm");
        Some(received(2 * clients)? < received(clients)?)
    })
}

pub(super) fn long_polling_as_polling(grid: &Grid<'_>) -> Verdict {
    let mut differences = Vec::new();
    for clients in CLIENTS {
        for publish in INTERVALS {
            let polling = grid.mean(clients, publish, &polling_at(publish), "rupm")?;
            differences.push(grid.mean(clients, publish, LONG_POLLING, "rupm")? - polling);
        }
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let words = format!(
        "{mean:+.1} points on average against polling at the interval, {:+.1} to {:+.1}",
        least(&differences),
        most(&differences)
    );
    Some(((-10.0..=0.0).contains(&mean), words))
}

pub(super) fn only_at_the_top(grid: &Grid<'_>) -> Verdict {
    let top = grid.mean(256, "1", STREAMING, "rupm")?;
    let mut rest = Vec::new();
    for clients in CLIENTS {
        for publish in PUBLICATIONS
            .iter()
            .filter(|it| (clients, **it) != (256, "1"))
        {
            rest.push(grid.mean(clients, publish, STREAMING, "rupm")?);
        }
    }
    let lowest = least(&rest);
    let words = format!("{top:.2} % with 256 clients at 1 s, at least {lowest:.2} % elsewhere");
    Some((top < NEAR_ALL && lowest >= NEAR_ALL, words))
}

/// From one interval to the next slower one nobody misses more, within a percent.
pub(super) fn slower_misses_less(grid: &Grid<'_>) -> Verdict {
    let all = [&others()[..], &[STREAMING]].concat();
    let slower = |publish: &str| {
        let at = INTERVALS.iter().position(|it| *it == publish)?;
        INTERVALS.get(at + 1).copied()
    };
    everywhere(&CLIENTS, &INTERVALS[..4], |clients, publish| {
        let fast = of_schemes(grid, clients, publish, &all, "rupm")?;
        let slow = of_schemes(grid, clients, slower(publish)?, &all, "rupm")?;
        Some(
            fast.iter()
                .zip(&slow)
                .all(|(fast, slow)| slow + 1.0 >= *fast),
        )
    })
}
