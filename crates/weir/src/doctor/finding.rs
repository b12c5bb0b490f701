//! Something that was looked at.

/// How grave something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Good,
    Look,
    Bad,
}

/// What was found, as a sentence.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) level: Level,
    pub(super) sentence: String,
}

impl Finding {
    pub(super) fn good(sentence: impl Into<String>) -> Self {
        Self::new(Level::Good, sentence)
    }

    pub(super) fn look(sentence: impl Into<String>) -> Self {
        Self::new(Level::Look, sentence)
    }

    pub(super) fn bad(sentence: impl Into<String>) -> Self {
        Self::new(Level::Bad, sentence)
    }

    /// Good, or to be looked at.
    pub(super) fn of(is_good: bool, sentence: impl Into<String>) -> Self {
        let level = if is_good { Level::Good } else { Level::Look };
        Self::new(level, sentence)
    }

    fn new(level: Level, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { level, sentence }
    }
}
