//! What the papers say of encodings, claim by claim, set beside what was measured.
//!
//! A claim that names a range holds where the geometric mean over the files lies in it; one that
//! names a tendency holds where every file shows it. Times are judged natively, each format by the
//! implementation that stands for it, which is never the papers' own: what they measured on phones
//! of 2011 was as much their parsers as the formats. The report shows EXIficient, theirs, as well.

mod babovic;
mod judge;
mod on_links;
mod tamayo;

use super::figures::Figures;
use weir_bench_model::claims::judged;
use weir_bench_model::results::ClaimResult;

/// A claim and how it is judged.
pub(super) struct Claim {
    /// Its name in the list.
    pub id: &'static str,
    /// The verdict.
    pub judge: fn(&Figures<'_>) -> Judgement,
}

/// A verdict and the number it rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    /// Whether the claim holds; nothing where it cannot be compared.
    pub holds: Option<bool>,
    /// What was measured, or why nothing can be said.
    pub number: String,
}

impl Judgement {
    fn of(holds: bool, number: String) -> Self {
        Self {
            holds: Some(holds),
            number,
        }
    }

    fn not_comparable(reason: &str) -> Self {
        Self {
            holds: None,
            number: reason.into(),
        }
    }
}

/// Judges every claim.
pub(super) fn judge(figures: &Figures<'_>) -> Vec<ClaimResult> {
    let tamayo = tamayo::CLAIMS.iter().chain(on_links::CLAIMS);
    let all = tamayo.chain(babovic::CLAIMS);
    all.map(|claim| {
        let Judgement { holds, number } = (claim.judge)(figures);
        judged(claim.id, holds, number)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_figures_nothing_is_judged() {
        for one in judge(&Figures(&[])) {
            assert_eq!(one.holds, None, "{}", one.claim);
            assert!(!one.number.is_empty(), "{}", one.claim);
        }
    }
}
