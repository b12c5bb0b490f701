//! A table whose numbers are given once: what asks for one that is gone finds nothing, not a stranger.
//!
//! What it deliberately does not do: give memory back. It is as large as it once had to be, so that a
//! request that comes and goes allocates nothing.

use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub(super) struct Slots<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Place<T> {
    /// How often the place was used before.
    round: u32,
    value: Option<T>,
}

impl<T> Slots<T> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Puts a value in; the number finds it again.
    pub(super) fn insert(&mut self, value: T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                round: 0,
                value: None,
            });
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        place.value = Some(value);
        u64::from(place.round) << 32 | u64::from(index)
    }

    fn place(&mut self, number: u64) -> Option<&mut Place<T>> {
        let place = self.places.get_mut(number as u32 as usize)?;
        (u64::from(place.round) == number >> 32).then_some(place)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.place(number)?.value.as_mut()
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let place = self.place(number)?;
        let value = place.value.take()?;
        place.round = place.round.wrapping_add(1);
        self.free.push(number as u32);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_finds_its_value_until_that_is_gone() {
        let mut slots = Slots::new();
        let (one, two) = (slots.insert('a'), slots.insert('b'));
        assert_eq!((slots.remove(one), slots.len()), (Some('a'), 1));
        let three = slots.insert('c');
        assert_eq!((three as u32, slots.len()), (one as u32, 2));
        assert_eq!(slots.get_mut(one), None);
        assert_eq!(slots.remove(one), None);
        assert_eq!(slots.get_mut(two), Some(&mut 'b'));
        assert_eq!(slots.get_mut(three), Some(&mut 'c'));
        assert_eq!(slots.get_mut(7), None);
    }
}
