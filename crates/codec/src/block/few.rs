//! A list that needs no heap while it is short.
//!
//! A message of some dozen observations is then written and read without an allocation, and a bulk
//! one with one allocation a column. It deliberately gives out nothing but a slice.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// Up to `N` items in place, more of them on the heap.
pub(crate) struct Few<T, const N: usize> {
    inline: [T; N],
    heap: Vec<T>,
    len: usize,
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self {
            inline: [T::default(); N],
            heap: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.heap.clear();
    }

    /// Forgets what was there: `len` items of this value.
    pub(crate) fn fill(&mut self, len: usize, item: T) {
        self.clear();
        self.len = len;
        match self.inline.get_mut(..len) {
            Some(inline) => inline.fill(item),
            None => self.heap.resize(len, item),
        }
    }

    /// Room for `len` items, to be written over; what they are is not said.
    pub(crate) fn room(&mut self, len: usize) -> &mut [T] {
        if len <= N {
            self.heap.clear()
        } else {
            self.heap.resize(len, T::default())
        }
        self.len = len;
        self
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if let Some(place) = self.inline.get_mut(self.len) {
            *place = item;
        } else {
            if self.len == N {
                self.heap.extend_from_slice(&self.inline);
            }
            self.heap.push(item);
        }
        self.len += 1;
    }

    pub(crate) fn extend(&mut self, items: &[T]) {
        if self.len + items.len() <= N {
            self.inline[self.len..][..items.len()].copy_from_slice(items);
        } else {
            if self.len <= N {
                self.heap.extend_from_slice(&self.inline[..self.len]);
            }
            self.heap.extend_from_slice(items);
        }
        self.len += items.len();
    }

    /// Appends a copy of `len` items that stand at `from`.
    pub(crate) fn repeat(&mut self, from: usize, len: usize) {
        for index in from..from + len {
            let item = self[index];
            self.push(item);
        }
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        if self.len <= N {
            &self.inline[..self.len]
        } else {
            &self.heap
        }
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len <= N {
            &mut self.inline[..self.len]
        } else {
            &mut self.heap
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_items_as_it_outgrows_its_place() {
        let mut few = Few::<u32, 4>::default();
        (0..4).for_each(|item| few.push(item));
        few.extend(&[4, 5]);
        few.repeat(1, 3);
        assert_eq!(*few, [0, 1, 2, 3, 4, 5, 1, 2, 3]);
        few.room(6).copy_from_slice(&[5; 6]);
        few.room(2).copy_from_slice(&[1, 2]);
        few.extend(&[3, 4, 5]);
        assert_eq!(*few, [1, 2, 3, 4, 5]);
        few.fill(3, 7);
        few.extend(&[8]);
        few.push(9);
        assert_eq!(*few, [7, 7, 7, 8, 9]);
    }
}
