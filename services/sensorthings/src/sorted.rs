//! A sorted map that is shared cheaply: a copy of it is one reference, and a change copies of what is shared
//! only the chunk that it falls into.
//!
//! It is what lets a reader keep the entities as they were while others change them. It deliberately has no
//! more operations than the view needs.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

/// Entries of a chunk, beyond which it is cut in two.
const CHUNK_MAX: usize = 256;

/// Sorted, never empty.
type Chunk<K, V> = Vec<(K, V)>;

/// The map.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<K, V> {
    chunks: Arc<Vec<Arc<Chunk<K, V>>>>,
}

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Self {
            chunks: Arc::default(),
        }
    }
}

impl<K: Ord, V> Sorted<K, V> {
    /// The value of a key.
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (chunk, found) = self.place(key);
        let entry = self.chunks.get(chunk)?.get(found.ok()?)?;
        Some(&entry.1)
    }

    /// All entries, by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let entries = self.chunks.iter().flat_map(|chunk| chunk.iter());
        entries.map(|(key, value)| (key, value))
    }

    /// The entries whose keys are said to be equal, by an order that agrees with that of the keys.
    pub(crate) fn matching<'a>(
        &'a self,
        order: impl Fn(&K) -> Ordering + 'a,
    ) -> impl Iterator<Item = (&'a K, &'a V)> {
        let ends_before = |chunk: &Arc<Chunk<K, V>>| {
            let last = chunk.last();
            last.is_some_and(|(key, _)| order(key).is_lt())
        };
        let first = self.chunks.partition_point(ends_before);
        let within = self.chunks.get(first).map_or(0, |chunk| {
            chunk.partition_point(|(key, _)| order(key).is_lt())
        });
        let chunks = self.chunks[first..].iter();
        let entries = chunks.flat_map(|chunk| chunk.iter()).skip(within);
        entries
            .take_while(move |(key, _)| order(key).is_eq())
            .map(|(key, value)| (key, value))
    }

    /// The last of the entries that are said to come first, by a border that agrees with the order of the keys.
    pub(crate) fn last_before(&self, is_before: impl Fn(&K) -> bool) -> Option<(&K, &V)> {
        let begins = |chunk: &Arc<Chunk<K, V>>| {
            let first = chunk.first();
            first.is_some_and(|(key, _)| is_before(key))
        };
        let chunk = self.chunks.partition_point(begins).checked_sub(1)?;
        let chunk = &self.chunks[chunk];
        let index = chunk.partition_point(|(key, _)| is_before(key));
        let (key, value) = chunk.get(index.checked_sub(1)?)?;
        Some((key, value))
    }

    /// The chunk in which a key is or belongs, and where in it.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> (usize, Result<usize, usize>)
    where
        K: Borrow<Q>,
    {
        let ends_before = |chunk: &Arc<Chunk<K, V>>| {
            let last = chunk.last();
            last.is_some_and(|(last, _)| last.borrow() < key)
        };
        let chunk = self.chunks.partition_point(ends_before);
        // Behind the last of all, the last chunk grows.
        let chunk = chunk.min(self.chunks.len().saturating_sub(1));
        let found = self.chunks.get(chunk).map_or(Err(0), |entries| {
            entries.binary_search_by(|(known, _)| known.borrow().cmp(key))
        });
        (chunk, found)
    }
}

impl<K: Ord + Clone, V: Clone> Sorted<K, V> {
    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let (at, found) = self.place(&key);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(at) else {
            return chunks.push(Arc::new(vec![(key, value)]));
        };
        let chunk = Arc::make_mut(chunk);
        match found {
            Ok(index) => chunk[index].1 = value,
            Err(index) => chunk.insert(index, (key, value)),
        }
        if chunk.len() > CHUNK_MAX {
            let rest = chunk.split_off(CHUNK_MAX / 2);
            chunks.insert(at + 1, Arc::new(rest));
        }
    }

    /// Removes a key with its value.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (at, found) = self.place(key);
        let index = found.ok()?;
        let chunks = Arc::make_mut(&mut self.chunks);
        let chunk = Arc::make_mut(chunks.get_mut(at)?);
        let (_, value) = chunk.remove(index);
        if chunk.is_empty() {
            chunks.remove(at);
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Numbers that look drawn at random.
    fn drawn(seed: u64) -> impl Iterator<Item = u64> {
        let next = |number: &u64| Some(number.wrapping_mul(6_364_136_223_846_793_005) + 1);
        std::iter::successors(Some(seed), next).map(|number| number >> 33)
    }

    #[test]
    fn it_holds_what_a_map_holds_and_copies_keep_what_they_had() {
        let (mut sorted, mut model) = (Sorted::default(), BTreeMap::new());
        let mut copies = Vec::new();
        for (step, number) in drawn(7).take(20_000).enumerate() {
            let key = number % 3000;
            if number % 5 < 3 {
                sorted.insert(key, number);
                model.insert(key, number);
            } else {
                assert_eq!(sorted.remove(&key), model.remove(&key));
            }
            if step % 4000 == 0 {
                copies.push((sorted.clone(), model.clone()));
            }
        }
        copies.push((sorted, model));
        for (sorted, model) in &copies {
            assert!(sorted.iter().eq(model.iter()));
            assert!((0..3000).all(|key| sorted.get(&key) == model.get(&key)));
            let tens = |key: &u64| (key / 10).cmp(&77);
            assert!(sorted.matching(tens).eq(model.range(770..780)));
            let last_before = |border: u64| sorted.last_before(move |key| *key < border);
            let all = (0..3001).step_by(7);
            assert!(
                all.into_iter()
                    .all(|it| last_before(it) == model.range(..it).next_back())
            );
        }
    }
}
