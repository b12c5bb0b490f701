//! Which packets are lost.

use crate::time::Nanos;
use weir_random::Random;

/// How a direction loses packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// None.
    None,
    /// Each packet for itself, with this probability.
    Bernoulli(f64),
    /// Two states (Gilbert 1960, Elliott 1963), looked at once a packet: all is well in the good one.
    GilbertElliott {
        /// Probability that a good state turns bad before a packet.
        to_bad: f64,
        /// Probability that a bad state turns good before a packet; its reciprocal is the mean burst.
        to_good: f64,
        /// Probability that a packet is lost in the bad state.
        in_bad: f64,
    },
    /// The same two states in time, as radio fades: they change while nobody sends, too, so that a
    /// packet sent again after a second is not lost because the one before it was.
    Fading {
        /// Share of the time in the bad state, in which every packet is lost.
        share: f64,
        /// How long a bad state lasts in the mean.
        fade: Nanos,
    },
}

impl Loss {
    /// Share of packets lost in the long run.
    pub fn mean(self) -> f64 {
        match self {
            Loss::None => 0.0,
            Loss::Bernoulli(probability) => probability,
            Loss::Fading { share, .. } => share,
            Loss::GilbertElliott {
                to_bad,
                to_good,
                in_bad,
            } => in_bad * to_bad / (to_bad + to_good),
        }
    }

    /// Whether every probability is one, and the states can be left.
    pub(crate) fn is_sound(self) -> bool {
        let sound = |probability: f64| (0.0..=1.0).contains(&probability);
        match self {
            Loss::None => true,
            Loss::Bernoulli(probability) => sound(probability),
            Loss::Fading { share, fade } => (0.0..1.0).contains(&share) && fade > 0,
            Loss::GilbertElliott {
                to_bad,
                to_good,
                in_bad,
            } => [to_bad, to_good, in_bad].into_iter().all(sound) && to_good > 0.0,
        }
    }
}

/// Loss as it goes on.
#[derive(Clone, Debug)]
pub(crate) struct Losing {
    loss: Loss,
    is_bad: bool,
    /// When the state was looked at.
    seen: Nanos,
}

impl Losing {
    pub(crate) fn new(loss: Loss) -> Self {
        Self {
            loss,
            is_bad: false,
            seen: 0,
        }
    }

    /// Whether the next packet is lost, which is sent at a time that is not before the last one's.
    pub(crate) fn next(&mut self, now: Nanos, random: &mut Random) -> bool {
        match self.loss {
            Loss::None => false,
            Loss::Bernoulli(probability) => random.chance(probability),
            Loss::GilbertElliott {
                to_bad,
                to_good,
                in_bad,
            } => {
                let turns = if self.is_bad { to_good } else { to_bad };
                self.is_bad ^= random.chance(turns);
                self.is_bad && random.chance(in_bad)
            }
            Loss::Fading { share, fade } => {
                let passed = now.saturating_sub(std::mem::replace(&mut self.seen, now));
                self.is_bad = random.chance(self.bad_after(passed, share, fade));
                self.is_bad
            }
        }
    }

    /// Probability of the bad state after a time in a Markov chain of two states: what is known of
    /// them falls off at the sum of both rates, and the share of the long run remains.
    fn bad_after(&self, passed: Nanos, share: f64, fade: Nanos) -> f64 {
        let known = f64::from(u8::from(self.is_bad));
        let rates = 1.0 / (fade as f64 * (1.0 - share));
        share + (known - share) * (-(passed as f64) * rates).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: u32 = 400_000;

    /// Share lost and mean burst of packets that are sent so far from each other.
    fn lost_every(gap: Nanos, loss: Loss) -> (f64, f64) {
        let (mut losing, mut random) = (Losing::new(loss), Random::new(7));
        let (mut lost, mut bursts, mut before) = (0u32, 0u32, false);
        for packet in 0..PACKETS {
            let now = losing.next(u64::from(packet) * gap, &mut random);
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (
            f64::from(lost) / f64::from(PACKETS),
            f64::from(lost) / f64::from(bursts.max(1)),
        )
    }

    fn lost(loss: Loss) -> (f64, f64) {
        lost_every(0, loss)
    }

    /// Four standard deviations of a share of independent packets.
    fn within(share: f64, mean: f64, spread: f64) -> bool {
        (share - mean).abs() < 4.0 * spread * (mean * (1.0 - mean) / f64::from(PACKETS)).sqrt()
    }

    #[test]
    fn independent_losses_have_the_share_asked_for() {
        for mean in [0.001, 0.01, 0.05, 0.5] {
            let (share, _) = lost(Loss::Bernoulli(mean));
            assert!(within(share, mean, 1.0), "{share} for {mean}");
        }
        assert_eq!(lost(Loss::None).0, 0.0);
    }

    #[test]
    fn bursts_have_their_share_and_their_length() {
        let loss = Loss::GilbertElliott {
            to_bad: 0.01,
            to_good: 0.25,
            in_bad: 1.0,
        };
        let (share, burst) = lost(loss);
        assert!(
            within(share, loss.mean(), 3.0),
            "{share} for {}",
            loss.mean()
        );
        assert!((burst - 4.0).abs() < 0.2, "mean burst {burst}");
    }
    #[test]
    fn a_fade_lasts_for_its_time_whether_or_not_anybody_sends() {
        let loss = Loss::Fading {
            share: 0.2,
            fade: 40_000_000,
        };
        let (share, burst) = lost_every(1_000_000, loss);
        assert!(within(share, 0.2, 9.0), "{share} every ms");
        assert!((burst - 40.0).abs() < 4.0, "mean burst {burst} ms");
        let (share, burst) = lost_every(1_000_000_000, loss);
        assert!(within(share, 0.2, 1.0), "{share} every second");
        assert!((burst - 1.25).abs() < 0.02, "a second apart {burst}");
    }
}
