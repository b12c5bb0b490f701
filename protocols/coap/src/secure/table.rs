//! A table that keeps at least the last so many things that were touched, and at most twice as many.

use std::collections::BTreeMap;

/// Values by key in two generations; the older one is forgotten whole.
#[derive(Clone, Debug)]
pub(super) struct Table<K, V> {
    young: BTreeMap<K, V>,
    old: BTreeMap<K, V>,
    count: usize,
}

impl<K: Ord + Copy, V> Table<K, V> {
    pub(super) fn new(count: usize) -> Self {
        Self {
            young: BTreeMap::new(),
            old: BTreeMap::new(),
            count,
        }
    }

    pub(super) fn put(&mut self, key: K, value: V) {
        self.old.remove(&key);
        if self.young.len() >= self.count {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    pub(super) fn holds(&self, key: K) -> bool {
        self.young.contains_key(&key) || self.old.contains_key(&key)
    }

    /// The value, touched.
    pub(super) fn touch(&mut self, key: K) -> Option<&mut V> {
        if let Some(value) = self.old.remove(&key) {
            self.put(key, value);
        }
        self.young.get_mut(&key)
    }

    pub(super) fn remove(&mut self, key: K) -> Option<V> {
        self.young.remove(&key).or_else(|| self.old.remove(&key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_stays_and_twice_the_count_is_the_most() {
        let mut table = Table::new(10);
        for key in 0..1000 {
            table.put(key, key);
            assert_eq!(table.touch(0), Some(&mut 0));
        }
        assert!(table.young.len() + table.old.len() <= 20);
        assert!((991..1000).all(|key| table.touch(key).is_some()));
        assert_eq!(table.touch(5), None);
        assert_eq!(table.remove(0), Some(0));
        assert_eq!(table.touch(0), None);
    }
}
