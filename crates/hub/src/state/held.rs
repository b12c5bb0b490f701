//! How many topic filters the groups hold, all together and by who began them.

use crate::fault::Fault;
use crate::limits::{FILTERS_HELD_BY_ONE_MAX, FILTERS_HELD_MAX};
use std::collections::HashMap;
use std::sync::Arc;

/// The count.
#[derive(Debug, Default)]
pub(crate) struct Held {
    all: usize,
    by_owner: HashMap<Arc<str>, usize>,
}

impl Held {
    /// Counts a group's filters, or refuses it.
    pub(crate) fn take(&mut self, owner: &Arc<str>, filters: usize) -> Result<(), Fault> {
        if self.all + filters > FILTERS_HELD_MAX {
            return Err(Fault::Crowded {
                what: "topic filters of all subscriptions",
                limit: FILTERS_HELD_MAX,
            });
        }
        let own = self.by_owner.get(owner).copied().unwrap_or(0) + filters;
        if own > FILTERS_HELD_BY_ONE_MAX {
            return Err(Fault::Crowded {
                what: "topic filters of one principal's subscriptions",
                limit: FILTERS_HELD_BY_ONE_MAX,
            });
        }
        self.all += filters;
        self.by_owner.insert(owner.clone(), own);
        Ok(())
    }

    /// Gives back what was taken.
    pub(crate) fn give_back(&mut self, owner: &Arc<str>, filters: usize) {
        self.all -= filters;
        if let Some(own) = self.by_owner.get_mut(owner) {
            *own -= filters;
            if *own == 0 {
                self.by_owner.remove(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_principal_cannot_hold_all_that_there_is_room_for() {
        let mut held = Held::default();
        let owner = |number: usize| Arc::<str>::from(number.to_string());
        let many = FILTERS_HELD_BY_ONE_MAX;
        assert_eq!(held.take(&owner(0), many), Ok(()));
        let crowded = |taken: Result<(), Fault>| matches!(taken, Err(Fault::Crowded { .. }));
        assert!(crowded(held.take(&owner(0), 1)));
        let others = FILTERS_HELD_MAX / many;
        assert!((1..others).all(|number| held.take(&owner(number), many).is_ok()));
        assert!(crowded(held.take(&owner(others), 1)));
        held.give_back(&owner(0), many);
        assert_eq!(held.take(&owner(others), 1), Ok(()));
        assert_eq!(held.take(&owner(0), many - 1), Ok(()));
    }
}
