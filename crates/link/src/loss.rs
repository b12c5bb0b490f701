//! Which packets are lost.

use crate::random::Random;

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
}

impl Loss {
    /// Share of packets lost in the long run.
    pub fn mean(self) -> f64 {
        match self {
            Loss::None => 0.0,
            Loss::Bernoulli(probability) => probability,
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
}

impl Losing {
    pub(crate) fn new(loss: Loss) -> Self {
        let is_bad = false;
        Self { loss, is_bad }
    }

    /// Whether the next packet is lost.
    pub(crate) fn next(&mut self, random: &mut Random) -> bool {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: u32 = 400_000;

    fn lost(loss: Loss) -> (f64, f64) {
        let (mut losing, mut random) = (Losing::new(loss), Random::new(7));
        let (mut lost, mut bursts, mut before) = (0u32, 0u32, false);
        for _ in 0..PACKETS {
            let now = losing.next(&mut random);
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (
            f64::from(lost) / f64::from(PACKETS),
            f64::from(lost) / f64::from(bursts.max(1)),
        )
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
}
