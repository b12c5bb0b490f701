//! Which protocol, delivery scheme and format to take, from what was measured and nothing else.
//!
//! It reads the results of the bench (`summary.csv`: a row a cell and metric), whatever experiment they
//! are of: a cell is `factor=level;...`, and factors have the same names everywhere. What it deliberately
//! does not do: extrapolate. A point between two measured cells is answered from both and said to be so; a
//! point outside is refused, with the run that would measure it. The decision worth arguing: figures of
//! two experiments are never ranked against each other, since an echo and a delivery are not one thing.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "folders of runs are read")]

mod advise;
mod answer;
mod cell;
mod csv;
mod figures;
mod fit;
mod folders;
mod json;
mod judge;
mod library;
mod limits;
mod need;
mod offer;
mod question;
mod rank;
mod reference;
mod say;
mod section;
#[cfg(test)]
mod tests;

pub use advise::advise;
pub use answer::{Answer, Refusal, Ruled, Section, Suggestion, Way};
pub use cell::Factors;
pub use csv::{measured, trimmed};
pub use folders::{FolderFault, library, runs, source, table};
pub use json::to_json;
pub use library::{Fault, Library, Origin, Source};
pub use need::{Need, NeedFault};
pub use offer::{Offer, levels, offers_of, write_offers};
pub use question::{By, Payload, Question, QuestionFault};
pub use reference::{Part, offers, parts, reference};
pub use say::to_text;
