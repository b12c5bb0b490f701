//! Which strings were written before, for formats that write the second one as a reference.
//!
//! The decision worth arguing: a table of fixed size on the stack, in which a newer string takes the
//! place of an older one with the same hash. A string that was forgotten is written again, which
//! every reader takes; so writing needs no heap, and its time does not depend on what was written.

/// Strings remembered.
const SLOTS: usize = 256;

/// `T` says how to find the string again, and which number it has.
pub(crate) struct KnownStrings<T> {
    slots: [Option<T>; SLOTS],
}

impl<T: Copy> KnownStrings<T> {
    pub(crate) fn new() -> Self {
        let slots = [None; SLOTS];
        Self { slots }
    }

    /// What is known of this string; else `new` takes its place.
    pub(crate) fn find_or_put(
        &mut self,
        text: &str,
        is_same: impl FnOnce(T) -> bool,
        new: T,
    ) -> Option<T> {
        let slot = &mut self.slots[hash(text.as_bytes()) as usize % SLOTS];
        let found = slot.filter(|&known| is_same(known));
        if found.is_none() {
            *slot = Some(new);
        }
        found
    }
}

/// FNV-1a, folded, since its low bits alone are poor.
fn hash(bytes: &[u8]) -> u32 {
    let step = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = bytes.iter().fold(0x811C_9DC5, step);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_found_again_and_never_another() {
        let names: [&str; 5] = ["a", "b", "", "heating/substation-3", "a"];
        let mut known = KnownStrings::new();
        let mut found = [None; 5];
        for (index, name) in names.into_iter().enumerate() {
            found[index] = known
                .find_or_put(name, |(_, text)| text == name, (index, name))
                .map(|(index, _)| index);
        }
        assert_eq!(found, [None, None, None, None, Some(0)]);
    }
}
