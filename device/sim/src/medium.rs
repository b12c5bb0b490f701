//! A line that all share: both ends talk on one medium, and what overlaps is lost.
//!
//! Access is unslotted CSMA/CA as IEEE 802.15.4 has it (2006, 7.5.1.4) with its default values: an end waits
//! a random number of back-off units, listens, and talks a turnaround later if it heard nobody; otherwise
//! the back-off doubles, and after five times the packet is dropped. Who began within the turnaround is not
//! heard yet: that is how packets collide. Times are those of 802.15.4 at its rate, as bytes of this line.
//! There is no acknowledgement below TCP and CoAP: who repeats is they.

use crate::way::Way;
use weir_random::Random;

/// `aUnitBackoffPeriod`: 20 symbols of half a byte.
const BACKOFF_UNIT_BYTES: u64 = 10;
/// `aTurnaroundTime`: 12 symbols.
pub(crate) const TURNAROUND_BYTES: u64 = 6;
/// `macMinBE`, `macMaxBE`, `macMaxCSMABackoffs`.
const EXPONENTS: [u32; 2] = [3, 5];
const BACKOFFS_MAX: u32 = 4;

/// Who waits for the medium, and who talks.
#[derive(Default)]
pub(crate) struct Medium {
    ends: [End; 2],
}

#[derive(Default)]
struct End {
    /// What waits, and how often the medium was busy.
    waiting: Option<(Vec<u8>, u32)>,
    is_talking: bool,
    is_collided: bool,
}

impl Medium {
    /// Whether an end has nothing of its own under way.
    pub(crate) fn is_idle(&self, way: Way) -> bool {
        let end = &self.ends[way as usize];
        end.waiting.is_none() && !end.is_talking
    }

    /// A packet is to go; the bytes' time until the end listens.
    pub(crate) fn offer(&mut self, way: Way, packet: Vec<u8>, random: &mut Random) -> u64 {
        self.ends[way as usize].waiting = Some((packet, 0));
        back_off(0, random)
    }

    /// The end listens: nothing where it may talk, else the time until it listens again, if it does.
    pub(crate) fn sense(&mut self, way: Way, random: &mut Random) -> Sensed {
        let is_busy = self.ends.iter().any(|end| end.is_talking);
        let waiting = &mut self.ends[way as usize].waiting;
        match waiting {
            _ if !is_busy => Sensed::Clear,
            Some((_, backoffs)) if *backoffs < BACKOFFS_MAX => {
                *backoffs += 1;
                Sensed::Again(back_off(*backoffs, random))
            }
            _ => {
                *waiting = None;
                Sensed::Dropped
            }
        }
    }

    /// The end talks; where the other one does too, both are lost.
    pub(crate) fn talk(&mut self, way: Way) -> Option<Vec<u8>> {
        let (packet, _) = self.ends[way as usize].waiting.take()?;
        self.ends[way as usize].is_talking = true;
        if self.ends.iter().all(|end| end.is_talking) {
            self.ends.iter_mut().for_each(|end| end.is_collided = true);
        }
        Some(packet)
    }

    /// The end is silent again; whether its packet collided.
    pub(crate) fn end(&mut self, way: Way) -> bool {
        let end = &mut self.ends[way as usize];
        end.is_talking = false;
        std::mem::take(&mut end.is_collided)
    }
}

/// What an end hears.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sensed {
    /// Nobody.
    Clear,
    /// Somebody: it listens again after the time of so many bytes.
    Again(u64),
    /// Somebody, once too often.
    Dropped,
}

fn back_off(backoffs: u32, random: &mut Random) -> u64 {
    let [least, most] = EXPONENTS;
    let units = 1u64 << (least + backoffs).min(most);
    random.bits() % units * BACKOFF_UNIT_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_talks_at_once_collides_and_who_listens_first_waits() {
        let (mut medium, mut random) = (Medium::default(), Random::new(1));
        medium.offer(Way::In, vec![1], &mut random);
        medium.offer(Way::Out, vec![2], &mut random);
        // Both hear nobody, since neither has begun.
        assert_eq!(medium.sense(Way::In, &mut random), Sensed::Clear);
        assert_eq!(medium.sense(Way::Out, &mut random), Sensed::Clear);
        assert!(medium.talk(Way::In).is_some() && medium.talk(Way::Out).is_some());
        assert!(medium.end(Way::In) && medium.end(Way::Out));
        medium.offer(Way::In, vec![1], &mut random);
        assert!(medium.talk(Way::In).is_some());
        medium.offer(Way::Out, vec![2], &mut random);
        for _ in 0..BACKOFFS_MAX {
            let sensed = medium.sense(Way::Out, &mut random);
            assert!(matches!(sensed, Sensed::Again(0..=310)), "{sensed:?}");
        }
        assert_eq!(medium.sense(Way::Out, &mut random), Sensed::Dropped);
        assert!(!medium.end(Way::In) && medium.is_idle(Way::Out));
    }
}
