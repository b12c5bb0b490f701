//! What may still be held and looked at for answers that are sent whole: one answer, or all of a batch.

use crate::exception::{Code, Exception};
use crate::limits::{BATCH_BYTES_MAX, UNWANTED_MAX, WHOLE_LOOKED_AT_MAX, WHOLE_OBSERVATIONS_MAX};
use crate::observed::Observed;

/// What is left.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) observations: usize,
    /// Observations that are read to find those that are wanted.
    pub(crate) looked_at: usize,
    pub(crate) bytes: usize,
    /// Observations that an answer in pieces may cost without giving them.
    pub(crate) unwanted: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            observations: WHOLE_OBSERVATIONS_MAX,
            looked_at: WHOLE_LOOKED_AT_MAX,
            bytes: BATCH_BYTES_MAX,
            unwanted: UNWANTED_MAX,
        }
    }
}

impl Room {
    /// Refuses more than is left; what was looked at for it is spent nevertheless.
    // [SOS2-8.3-6]
    pub(crate) fn check(&mut self, observed: &Observed) -> Result<(), Exception> {
        let many = observed.count() > self.observations;
        if many || observed.looked_at() > self.looked_at {
            self.looked_at = self.looked_at.saturating_sub(observed.looked_at());
            let (max, what) = if many {
                (WHOLE_OBSERVATIONS_MAX, "observations")
            } else {
                (WHOLE_LOOKED_AT_MAX, "observations to look at")
            };
            return Err(too_large(max, what));
        }
        Ok(())
    }

    /// Spends what an answer took.
    pub(crate) fn take(&mut self, observed: &Observed) {
        self.observations = self.observations.saturating_sub(observed.count());
        self.looked_at = self.looked_at.saturating_sub(observed.looked_at());
    }

    /// Spends the bytes of an answer, or refuses them.
    pub(crate) fn take_bytes(&mut self, bytes: usize) -> Result<(), Exception> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or_else(|| too_large(BATCH_BYTES_MAX, "bytes"))?;
        Ok(())
    }
}

/// A filter picks so little that too much would be read for it.
// [SOS2-8.3-11]
pub(crate) fn too_costly(max: usize) -> Exception {
    let sentence = format!(
        "more than {max} observations would be read that are not given: name datastreams, or a period, \
         that hold less"
    );
    Exception {
        locator: None,
        ..Exception::new(Code::ResponseExceedsSizeLimit, "", sentence)
    }
}

/// More is asked for than is answered at once.
fn too_large(max: usize, what: &str) -> Exception {
    let sentence = format!("more than {max} {what} in an answer or a batch: ask for less");
    Exception {
        locator: None,
        ..Exception::new(Code::ResponseExceedsSizeLimit, "", sentence)
    }
}
