//! Tokens of blanked code: words, `::`, `=>`, and every other sign by itself.

/// The tokens in order.
pub(super) fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    core::iter::from_fn(move || {
        rest = rest.trim_start();
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match rest.find(|letter| !is_word(letter)) {
            Some(0) if rest.starts_with("::") || rest.starts_with("=>") => 2,
            Some(0) => rest.chars().next().map_or(0, char::len_utf8),
            Some(length) => length,
            None => rest.len(),
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        (!token.is_empty()).then_some(token)
    })
}
