//! How much of an experiment a run measures: its effort, and the cells that are wanted.

/// How much time a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Minutes: the chief cells, short steps, few rounds.
    Quick,
    /// All cells, steps of seconds, enough rounds for confidence intervals.
    Full,
}

impl Effort {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// Whether a cell's name contains each word that is wanted, or of several wishes with commas between them each word of
/// one; a semicolon behind a word lets `subscribers=10;` mean ten and not ten thousand, and `!link=` is wanted where
/// there is no `link=`.
pub fn wants(only: &str, cell: &str) -> bool {
    let cell = format!("{cell};");
    let has = |word: &str| match word.strip_prefix('!') {
        Some(word) => !cell.contains(word),
        None => cell.contains(word),
    };
    let has_each = |wish: &str| wish.split_whitespace().all(has);
    let mut wishes = only.split(',').filter(|wish| !wish.trim().is_empty());
    only.trim_matches([',', ' ']).is_empty() || wishes.any(has_each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_met_by_all_of_its_words() {
        let cell = "link=3g;place=native;data=caps;file=1";
        for only in [
            "",
            "link=3g",
            "data=caps place=native",
            "data=obs, data=caps",
            "!data=obs",
            "file=1;",
        ] {
            assert!(wants(only, cell), "{only}");
        }
        for only in [
            "data=caps data=obs",
            "!link=",
            "data=caps !place=native",
            "file=10",
        ] {
            assert!(!wants(only, cell), "{only}");
        }
    }
}
