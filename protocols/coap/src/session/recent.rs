//! A table that forgets what was touched longest ago.

use alloc::collections::BTreeMap;
use weir_sansio::{Duration, Instant};

/// Values by key, with what they weigh and when they were touched.
#[derive(Clone, Debug)]
pub(super) struct Recent<K, V> {
    places: BTreeMap<K, u64>,
    entries: BTreeMap<u64, Entry<K, V>>,
    next: u64,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Entry<K, V> {
    key: K,
    value: V,
    bytes: usize,
    touched: Instant,
}

impl<K: Ord + Clone, V> Recent<K, V> {
    pub(super) fn new() -> Self {
        Self {
            places: BTreeMap::new(),
            entries: BTreeMap::new(),
            next: 0,
            bytes: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What all of them weigh.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The value, without touching it.
    pub(super) fn peek(&self, key: &K) -> Option<&V> {
        let place = self.places.get(key)?;
        self.entries.get(place).map(|entry| &entry.value)
    }

    /// The value to change, without touching it.
    pub(super) fn peek_mut(&mut self, key: &K) -> Option<&mut V> {
        let place = self.places.get(key)?;
        self.entries.get_mut(place).map(|entry| &mut entry.value)
    }

    /// The value, touched.
    pub(super) fn touch(&mut self, now: Instant, key: &K) -> Option<&mut V> {
        let place = self.places.get_mut(key)?;
        let mut entry = self.entries.remove(place)?;
        entry.touched = now;
        self.next += 1;
        *place = self.next;
        let entry = self.entries.entry(self.next).or_insert(entry);
        Some(&mut entry.value)
    }

    /// Puts a value in the place of another of the same key.
    pub(super) fn put(&mut self, now: Instant, key: K, value: V, bytes: usize) {
        self.remove(&key);
        self.next += 1;
        self.bytes += bytes;
        self.places.insert(key.clone(), self.next);
        let entry = Entry {
            key,
            value,
            bytes,
            touched: now,
        };
        self.entries.insert(self.next, entry);
    }

    /// Says that a value weighs more than it did.
    pub(super) fn grow(&mut self, key: &K, bytes: usize) {
        let place = self.places.get(key);
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) {
            entry.bytes += bytes;
            self.bytes += bytes;
        }
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.places.remove(key)?;
        let entry = self.entries.remove(&place)?;
        self.bytes -= entry.bytes;
        Some(entry.value)
    }

    /// Forgets what was touched longest ago until no more is kept than this.
    pub(super) fn shrink(&mut self, count_max: usize, bytes_max: usize) {
        while self.len() > count_max || self.bytes > bytes_max {
            let Some(oldest) = self.entries.values().next() else {
                return;
            };
            let key = oldest.key.clone();
            self.remove(&key);
        }
    }

    /// Forgets what was not touched for so long.
    pub(super) fn expire(&mut self, now: Instant, age: Duration) {
        while let Some(oldest) = self.entries.values().next() {
            if now.since(oldest.touched) < age {
                return;
            }
            let key = oldest.key.clone();
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_touched_longest_ago_is_forgotten_first() {
        let at = Instant::from_nanos;
        let mut recent = Recent::new();
        (0..4u64).for_each(|key| recent.put(at(key), key, key, 10));
        assert_eq!(recent.touch(at(9), &0), Some(&mut 0));
        recent.shrink(3, 100);
        assert_eq!((recent.peek(&0), recent.peek(&1)), (Some(&0), None));
        recent.grow(&3, 5);
        recent.shrink(3, 25);
        assert_eq!((recent.len(), recent.bytes), (2, 25));
        recent.expire(at(9), Duration::from_nanos(6));
        assert_eq!((recent.len(), recent.bytes), (1, 10));
        assert_eq!(recent.remove(&0), Some(0));
        assert_eq!((recent.len(), recent.bytes), (0, 0));
    }
}
