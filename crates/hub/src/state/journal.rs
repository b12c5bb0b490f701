//! Which descriptions changed lately: datastreams by topic and entities by key, so that whoever keeps a
//! view of them brings it up to date without reading all again.

use crate::limits::JOURNAL_MAX;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

/// The newest changes, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) revision: u64,
    recent: VecDeque<Arc<str>>,
    /// Who waits for a change.
    waiting: Vec<Waker>,
}

/// What changed since a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The revision now.
    pub revision: u64,
    /// Topics of datastreams and keys of entities, oldest change first; `None` where they are no longer
    /// known, and all is to be read again.
    pub names: Option<Vec<Arc<str>>>,
}

impl Journal {
    /// Notes that the description of a topic or key changed.
    pub(crate) fn note(&mut self, name: &str) {
        self.revision += 1;
        if self.recent.len() == JOURNAL_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(name.into());
        self.waiting.drain(..).for_each(Waker::wake);
    }

    pub(crate) fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    pub(crate) fn since(&self, revision: u64) -> Changed {
        let behind = self.revision.checked_sub(revision);
        let known = behind.filter(|&behind| behind <= self.recent.len() as u64);
        Changed {
            revision: self.revision,
            names: known.map(|behind| {
                let skipped = self.recent.len() - behind as usize;
                self.recent.iter().skip(skipped).cloned().collect()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn changes_are_told_from_where_one_left_or_all_is_new() {
        let mut journal = Journal::default();
        assert_eq!(journal.since(u64::MAX).names, None);
        journal.note("a");
        journal.note("b");
        let told = journal.since(1);
        assert_eq!((told.revision, told.names.unwrap().len()), (2, 1));
        (0..JOURNAL_MAX).for_each(|_| journal.note("c"));
        assert_eq!(journal.since(1).names, None);
        assert_eq!(journal.since(2).names.unwrap().len(), JOURNAL_MAX);
    }
}
