//! The keys of a query: one that is not known here is refused, since who misspells `from` would be given all of the
//! past.

use crate::fault::refuse;
use weir_service::{Call, Response};

/// What any request may have: a credential (RFC 6750 section 2.3), and the binding's own.
const ANY: [&str; 2] = ["access_token", "compress"];
/// Of `GET /live` by any scheme.
pub(crate) const LIVE: &[&str] = &[
    "topic", "as", "since", "snapshot", "wait", "stream", "bare", "where", "every", "agg",
    "policy", "pace", "publish", "unit",
];
/// Of `GET /history`.
pub(crate) const HISTORY: &[&str] = &[
    "topic", "as", "from", "to", "limit", "page", "every", "agg", "unit",
];
/// Of `GET /catalog`.
pub(crate) const CATALOG: &[&str] = &["topic", "versions"];
/// Of what has none.
pub(crate) const NONE: &[&str] = &[];

/// Refuses a key that is none of these, and names the nearest.
pub(crate) fn check(call: &Call, known: &[&str]) -> Result<(), Response> {
    let is_known = |name: &str| known.contains(&name) || ANY.contains(&name);
    let Some((name, _)) = call.query.iter().find(|(name, _)| !is_known(name)) else {
        return Ok(());
    };
    let near = known.iter().map(|of| (edits(name, of), of)).min();
    let sentence = match near.filter(|(edits, _)| *edits <= name.len().min(2)) {
        Some((_, near)) => {
            format!("the query key `{name}` is not known here; did you mean `{near}`?")
        }
        None if known.is_empty() => {
            format!("the query key `{name}` is not known here: there is none")
        }
        None => format!(
            "the query key `{name}` is not known here; there are {}",
            known.join(", ")
        ),
    };
    Err(refuse(400, sentence))
}

/// How many letters are to be put in, left out, replaced or swapped with the next to come from one text to another.
fn edits(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    let is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    match is_swapped {
                        true => least.min(rows[i - 2][j - 2] + 1),
                        false => least,
                    }
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_that_differ() {
        let pairs = [
            ("form", "from", 1),
            ("frm", "from", 1),
            ("limits", "limit", 1),
            ("", "as", 2),
            ("nope", "to", 3),
        ];
        for (a, b, count) in pairs {
            assert_eq!(edits(a, b), count, "{a} {b}");
        }
    }
}
