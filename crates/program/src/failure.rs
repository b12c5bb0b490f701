//! Why a command did not do what it was asked.

use std::process::ExitCode;

/// Why a command did not do what it was asked: a sentence and an exit code.
pub struct Failure {
    code: u8,
    sentence: String,
}

impl Failure {
    /// The answer is no.
    pub fn no(sentence: impl ToString) -> Self {
        Self {
            code: 1,
            sentence: sentence.to_string(),
        }
    }

    /// The question was not understood.
    pub fn usage(sentence: impl ToString) -> Self {
        Self {
            code: 2,
            sentence: sentence.to_string(),
        }
    }
    /// Says why on standard error, behind the name of the program; its exit code.
    pub fn told(&self, program: &str) -> ExitCode {
        eprintln!("{program}: {}", self.sentence);
        ExitCode::from(self.code)
    }
}
