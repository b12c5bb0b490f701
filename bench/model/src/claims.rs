//! What the papers claim in words: `published/claims.csv`, the one place that says which experiment
//! judges which claim.
//!
//! An experiment judges its claims by id; paper, place and words come from the list. What cannot be
//! judged yet has its reason there and is judged by nobody. The decision worth arguing: a claim belongs
//! to exactly one experiment, so that no report can hold a verdict that another one contradicts.

use crate::published::records;
use crate::results::ClaimResult;

const CSV: &str = include_str!("../published/claims.csv");

/// The number of a claim that a run has no cells for.
pub const NOT_MEASURED: &str = "not measured in this run";

/// A claim of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its name here: paper and a few words in kebab case.
    pub id: String,
    /// Which experiment judges it.
    pub experiment: String,
    /// Paper and year.
    pub paper: String,
    /// Where in the paper.
    pub place: String,
    /// What it says, in our words.
    pub words: String,
    /// Why nothing judges it yet; empty where its experiment does.
    pub unmeasured: String,
}

/// All claims, in the order of the list.
pub fn claims() -> Vec<Claim> {
    records(CSV)
        .into_iter()
        .skip(1)
        .filter_map(Claim::read)
        .collect()
}

/// The verdict on a claim and the number it rests on, or why nothing can be said.
pub fn judged(id: &str, holds: Option<bool>, number: impl Into<String>) -> ClaimResult {
    let number: String = number.into();
    let claim = claims().into_iter().find(|claim| claim.id == id);
    let [paper, words, place] = match claim {
        Some(claim) => [claim.paper, claim.words, claim.place],
        None => [String::new(), id.into(), String::new()],
    };
    ClaimResult {
        paper,
        claim: words,
        place,
        holds,
        number: once(&number),
    }
}

/// Whether all parts of a claim hold: one that does not is enough, and one that is unknown leaves it open.
pub fn all_hold(parts: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for part in parts {
        match part {
            Some(false) => return part,
            Some(true) => {}
            None => all = None,
        }
    }
    all
}

/// What several parts of a claim have to say in the same words, said once.
fn once(number: &str) -> String {
    let mut parts: Vec<&str> = number.split("; ").collect();
    parts.dedup();
    parts.join("; ")
}

impl Claim {
    fn read(fields: Vec<String>) -> Option<Self> {
        let [id, experiment, paper, place, words, unmeasured] =
            <[String; 6]>::try_from(fields).ok()?;
        Some(Self {
            id,
            experiment,
            paper,
            place,
            words,
            unmeasured,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_that_does_not_hold_outweighs_one_that_is_unknown() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(all_hold([yes, None, no]), no);
        assert_eq!(all_hold([yes, None]), None);
        assert_eq!(all_hold([yes, yes]), yes);
    }

    #[test]
    fn parts_of_a_claim_that_say_the_same_say_it_once() {
        let told = judged("x", None, "not measured; not measured; 2 ms").number;
        assert_eq!(told, "not measured; 2 ms");
    }
}
