//! Sets of characters as sorted ranges of code points.

use alloc::vec;
use alloc::vec::Vec;

/// Last code point of Unicode.
const LAST: u32 = 0x10_FFFF;

/// A set of code points: ranges, both ends within, sorted, apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Characters(Vec<(u32, u32)>);

impl Characters {
    /// One character.
    pub(super) fn one(character: char) -> Self {
        Self::range(character, character)
    }

    /// All from one character to another.
    pub(super) fn range(from: char, to: char) -> Self {
        Self(vec![(u32::from(from), u32::from(to))])
    }

    /// The characters of a string.
    pub(super) fn of(text: &str) -> Self {
        text.chars().fold(Self::default(), |set, character| {
            set.union(&Self::one(character))
        })
    }

    /// Those in one or both.
    pub(super) fn union(&self, other: &Self) -> Self {
        let mut ranges: Vec<_> = self.0.iter().chain(&other.0).copied().collect();
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }

    /// Those of all code points that are not in it.
    pub(super) fn complement(&self) -> Self {
        let mut next = 0;
        let mut ranges = Vec::new();
        for (from, to) in &self.0 {
            if *from > next {
                ranges.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Self(ranges)
    }

    /// Those in it and not in the other.
    pub(super) fn minus(&self, other: &Self) -> Self {
        self.complement().union(other).complement()
    }

    /// The characters in order, if they are less than 256 and all in the basic multilingual plane
    /// (EXI 1.0 section 7.1.10.1).
    pub(super) fn restricted(&self) -> Option<Vec<char>> {
        let count: u32 = self.0.iter().map(|(from, to)| to - from + 1).sum();
        let last = self.0.last().map_or(0, |(_, to)| *to);
        if count > 255 || last > 0xFFFF {
            return None;
        }
        let points = self.0.iter().flat_map(|(from, to)| *from..=*to);
        points.map(char::from_u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_unite_and_subtract() {
        let letters = Characters::range('a', 'e');
        assert_eq!(letters.minus(&Characters::of("bd")), Characters::of("ace"));
        assert_eq!(
            Characters::of("ba").union(&Characters::of("c")),
            Characters::range('a', 'c')
        );
    }

    #[test]
    fn only_small_sets_of_the_basic_plane_restrict() {
        let most = Characters::range('\0', '\u{FE}');
        assert_eq!(most.restricted().map(|set| set.len()), Some(255));
        assert_eq!(Characters::range('\0', '\u{FF}').restricted(), None);
        assert_eq!(Characters::one('\u{10000}').restricted(), None);
        assert_eq!(Characters::of("x").complement().restricted(), None);
    }
}
