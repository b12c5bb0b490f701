//! The links of an entity by navigation. Of one entity they are few and of all many, so they take no more
//! memory than they need: a list in the order of the names.

use crate::id::Id;
use std::ops::Index;

/// The links.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Links(Vec<(&'static str, Vec<Id>)>);

impl Links {
    /// Those of a navigation.
    pub(crate) fn get(&self, name: &str) -> Option<&Vec<Id>> {
        let place = self.place(name).ok()?;
        Some(&self.0[place].1)
    }

    /// Those of a navigation, to be changed.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Vec<Id>> {
        let place = self.place(name).ok()?;
        Some(&mut self.0[place].1)
    }

    /// Sets those of a navigation.
    pub(crate) fn insert(&mut self, name: &'static str, ids: Vec<Id>) {
        match self.place(name) {
            Ok(place) => self.0[place].1 = ids,
            Err(place) => {
                self.0.reserve_exact(1);
                self.0.insert(place, (name, ids));
            }
        }
    }

    /// Takes those of a navigation out.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Vec<Id>> {
        let place = self.place(name).ok()?;
        Some(self.0.remove(place).1)
    }

    /// All, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Vec<Id>)> {
        self.0.iter().map(|(name, ids)| (*name, ids))
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (*known).cmp(name))
    }
}

impl<const N: usize> From<[(&'static str, Vec<Id>); N]> for Links {
    fn from(all: [(&'static str, Vec<Id>); N]) -> Self {
        let mut links = Self(Vec::with_capacity(N));
        for (name, ids) in all {
            links.insert(name, ids);
        }
        links
    }
}

/// None are as none there.
impl Index<&str> for Links {
    type Output = Vec<Id>;

    fn index(&self, name: &str) -> &Vec<Id> {
        const NONE: &Vec<Id> = &Vec::new();
        self.get(name).unwrap_or(NONE)
    }
}
