//! What is said of a word that is none of those that are known: the nearest of them, so that who misspelt one need not
//! look through all.

use crate::call::Call;

/// `did you mean `from`?`, or all of them where none is near.
pub fn nearest(word: &str, known: &[&str]) -> String {
    let near = known.iter().map(|of| (edits(word, of), of)).min();
    match near.filter(|(edits, _)| *edits <= word.len().min(2)) {
        Some((_, near)) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there is none".into(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// Keys that any query may have: a credential (RFC 6750 section 2.3), and the binding's own.
const ANY: [&str; 2] = ["access_token", "compress"];

/// Whether a query has no key but these, each once but for those of `lists`; an error is a sentence. Who misspells
/// `from` would be given all of the past, and of two that differ one would be passed over.
pub fn check_keys(call: &Call, known: &[&str], lists: &[&str]) -> Result<(), String> {
    for (index, (name, _)) in call.query.iter().enumerate() {
        if !known.contains(&name.as_str()) && !ANY.contains(&name.as_str()) {
            let near = nearest(name, known);
            return Err(format!("the query key `{name}` is not known here; {near}"));
        }
        let is_again = call.query[..index].iter().any(|(before, _)| before == name);
        if is_again && !lists.contains(&name.as_str()) {
            return Err(format!("the query key `{name}` is given twice"));
        }
    }
    Ok(())
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

    #[test]
    fn the_nearest_is_offered_and_all_where_none_is_near() {
        let known = ["from", "to", "limit"];
        assert_eq!(nearest("form", &known), "did you mean `from`?");
        assert_eq!(nearest("colour", &known), "known here: from, to, limit");
        assert_eq!(nearest("x", &[]), "there is none");
    }
}
