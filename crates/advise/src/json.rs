//! An answer for programs.

use crate::answer::Answer;

/// The whole answer as JSON, in one line.
pub fn to_json(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}
