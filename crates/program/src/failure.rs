//! Why a command did not do what it was asked.

/// Why a command did not do what it was asked: a sentence and an exit code.
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) sentence: String,
}

impl Failure {
    /// The answer is no.
    pub(crate) fn no(sentence: impl ToString) -> Self {
        Self {
            code: 1,
            sentence: sentence.to_string(),
        }
    }

    /// The question was not understood.
    pub(crate) fn usage(sentence: impl ToString) -> Self {
        Self {
            code: 2,
            sentence: sentence.to_string(),
        }
    }
}
