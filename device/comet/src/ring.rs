//! The ring of notifications: each is here once, whoever it goes to.

use crate::answer;
use crate::limits::{FRAME_BYTES_MAX, ITEMS_MAX};
use crate::slice::Slice;

/// A notification, as it was published.
#[derive(Clone, Copy)]
struct Item<const BYTES: usize> {
    /// Number of the resource and one; zero where nothing was published.
    topic: u8,
    length: u8,
    bytes: [u8; BYTES],
}

/// The last notifications of all topics, in `ITEMS` slots that are used one after the other.
#[repr(C)]
pub(crate) struct Ring<const ITEMS: usize, const BYTES: usize> {
    published: u32,
    /// The slot that is written next.
    next: u8,
    items: [Item<BYTES>; ITEMS],
}

/// The notification does not fit: its slot, or with its framing [`FRAME_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl<const ITEMS: usize, const BYTES: usize> Ring<ITEMS, BYTES> {
    const SIZE: () = assert!(
        ITEMS >= 2 && ITEMS <= ITEMS_MAX && ITEMS.is_power_of_two() && BYTES <= FRAME_BYTES_MAX
    );
    const MASK: u8 = ITEMS as u8 - 1;

    pub(crate) const fn new() -> Self {
        let () = Self::SIZE;
        let item = Item {
            topic: 0,
            length: 0,
            bytes: [0; BYTES],
        };
        Self {
            items: [item; ITEMS],
            next: 0,
            published: 0,
        }
    }

    /// Whether a notification fits a slot, and with its framing the limit.
    pub(crate) fn fits(&self, text: &[u8]) -> bool {
        let mut frame = Slice::counting();
        answer::framed(&mut frame, u32::MAX, text, true);
        text.len() <= BYTES && frame.length() <= FRAME_BYTES_MAX
    }

    /// Writes a notification that fits into the next slot.
    pub(crate) fn put(&mut self, topic: u8, text: &[u8]) -> Result<(), TooLong> {
        let slot = self.next;
        let item = self.items.get_mut(usize::from(slot)).ok_or(TooLong)?;
        let place = item.bytes.get_mut(..text.len()).ok_or(TooLong)?;
        place.copy_from_slice(text);
        (item.topic, item.length) = (topic + 1, text.len() as u8);
        self.next = self.after(slot, 1);
        self.published = self.published.wrapping_add(1);
        Ok(())
    }

    pub(crate) fn next(&self) -> u8 {
        self.next
    }

    /// The number of the last notification; the first had 1.
    pub(crate) fn published(&self) -> u32 {
        self.published
    }

    /// The slot `steps` after another.
    pub(crate) fn after(&self, slot: u8, steps: u8) -> u8 {
        slot.wrapping_add(steps) & Self::MASK
    }

    /// How many slots were written since this one was next.
    pub(crate) fn behind(&self, slot: u8) -> u8 {
        self.next.wrapping_sub(slot) & Self::MASK
    }

    /// The number of a slot's notification; the slot that is written next holds the oldest.
    pub(crate) fn number(&self, slot: u8) -> u32 {
        let newer = self.behind(slot).wrapping_sub(1) & Self::MASK;
        self.published.wrapping_sub(newer.into())
    }

    /// A slot's bytes, where it holds a notification of the topic.
    pub(crate) fn item(&self, slot: u8, topic: u8) -> Option<&[u8]> {
        let item = self.items.get(usize::from(slot))?;
        let bytes = item.bytes.get(..usize::from(item.length))?;
        (item.topic == topic + 1).then_some(bytes)
    }

    /// The slot of the topic's newest notification.
    pub(crate) fn newest(&self, topic: u8) -> Option<u8> {
        let steps = 1..ITEMS as u8;
        steps
            .map(|back| self.before(back))
            .find(|&slot| self.item(slot, topic).is_some())
    }

    /// The slot that was written so many times ago.
    fn before(&self, back: u8) -> u8 {
        self.next.wrapping_sub(back) & Self::MASK
    }

    /// Where a listener of the topic goes on that has all up to `since`: the slot after it, or where that
    /// is gone the newest.
    pub(crate) fn resume(&self, topic: u8, since: u32) -> u8 {
        let behind = self.published.wrapping_sub(since);
        if (behind as usize) < ITEMS {
            return self.before(behind as u8);
        }
        self.newest(topic).unwrap_or(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(published: u32) -> Ring<4, 8> {
        let mut ring = Ring::new();
        for number in 1..=published {
            let text = number.to_be_bytes();
            ring.put((number % 2) as u8, &text).expect("room");
        }
        ring
    }

    #[test]
    fn a_slot_knows_its_number() {
        let ring = ring(10);
        for number in 7..=10u32 {
            let slot = ((number - 1) % 4) as u8;
            assert_eq!(ring.number(slot), number);
            let item = ring.item(slot, (number % 2) as u8);
            assert_eq!(item, Some(&number.to_be_bytes()[..]));
            assert_eq!(ring.item(slot, (number % 2 + 1) as u8), None);
        }
    }

    #[test]
    fn the_newest_of_a_topic_is_found_while_it_is_there() {
        let ring = ring(10);
        assert_eq!(ring.newest(0).map(|slot| ring.number(slot)), Some(10));
        assert_eq!(ring.newest(1).map(|slot| ring.number(slot)), Some(9));
        assert_eq!(ring.newest(2), None);
        assert_eq!(Ring::<4, 8>::new().newest(0), None);
    }

    #[test]
    fn who_resumes_gets_what_is_missing_or_the_newest() {
        let ring = ring(10);
        assert_eq!(ring.resume(0, 10), ring.next());
        assert_eq!(ring.number(ring.resume(0, 8)), 9);
        assert_eq!(ring.number(ring.resume(0, 7)), 8);
        assert_eq!(ring.number(ring.resume(0, 6)), 10);
        assert_eq!(ring.number(ring.resume(1, 11)), 9);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(!ring(0).fits(&[0; 9]));
        let wide = Ring::<2, 255>::new();
        assert!(wide.fits(&[b'a'; 200]));
        // Each line of an event has a name of its own.
        assert!(!wide.fits(&[b'\n'; 200]));
    }
}
