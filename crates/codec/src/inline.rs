//! A list whose first items need no heap, for the reference tables of formats that have such.

use alloc::vec::Vec;

/// `N` items on the stack, all others on the heap.
pub(crate) struct Inline<T, const N: usize> {
    short: [T; N],
    len: usize,
    long: Vec<T>,
}

impl<T: Copy + Default, const N: usize> Default for Inline<T, N> {
    fn default() -> Self {
        let short = [T::default(); N];
        let (len, long) = (0, Vec::new());
        Self { short, len, long }
    }
}

impl<T: Copy, const N: usize> Inline<T, N> {
    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.len + self.long.len()
    }

    /// Adds an item at the end.
    pub(crate) fn push(&mut self, item: T) {
        match self.short.get_mut(self.len) {
            Some(room) => {
                *room = item;
                self.len += 1;
            }
            None => self.long.push(item),
        }
    }

    /// The item with this index.
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        match index.checked_sub(N) {
            Some(index) => self.long.get(index).copied(),
            None => self.short[..self.len].get(index).copied(),
        }
    }

    /// The index of the first item for which `is_before` does not hold, where all before it do.
    pub(crate) fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        let short = self.short[..self.len].partition_point(&mut is_before);
        if short == N {
            N + self.long.partition_point(is_before)
        } else {
            short
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_on_the_stack_and_behind_it() {
        let mut list = Inline::<u32, 3>::default();
        (0..7).for_each(|number| list.push(number * 10));
        assert_eq!(list.len(), 7);
        assert_eq!(
            [list.get(2), list.get(3), list.get(7)],
            [Some(20), Some(30), None]
        );
        for wanted in 0..70 {
            let index = list.partition_point(|&item| item < wanted);
            assert_eq!(index, wanted.div_ceil(10) as usize, "{wanted}");
        }
    }
}
