//! The figures of paper 004 and the tables of 004 and 000, drawn: sizes, parsing, serializing.
//!
//! Sizes stand beside what the papers print. Of times the papers print ranges and curves, and curves
//! reach us as captions; so times have no ghosts but the decoding times of 000's table 2.

mod links;
mod messages;
mod sizes;
mod times;

use weir_bench_model::figure::Figure;
use weir_bench_model::results::Run;

/// All of them, in the order of the paper, then those of messages.
pub(super) fn of(run: &Run) -> Vec<Figure> {
    let mut figures = sizes::figures(run);
    figures.extend(times::figures(run));
    figures.extend(links::figures(run));
    figures.extend(messages::figures(run));
    figures
}
