//! Transmission parameters (RFC 7252 section 4.8).

use super::random::Random;
use crate::wire::Block;
use core::time::Duration;

/// How an endpoint behaves on its network; the default is the standard's (RFC 7252 section 4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Before a message is sent again for the first time, at least.
    pub ack_timeout: Duration,
    /// Longest first wait, in thousandths of the shortest.
    pub ack_random_thousandths: u32,
    /// How often a message is sent again.
    pub retransmit_max: u8,
    /// Confirmable messages to one peer at a time.
    pub nstart: u16,
    /// Over how long answers to a group are spread.
    pub leisure: Duration,
    /// Bytes a second to a peer that does not answer.
    pub probing_rate: u32,
    /// How long a datagram may take (MAX_LATENCY).
    pub latency_max: Duration,
    /// Size exponent of the largest block sent.
    pub block_exponent: u8,
}

impl Default for Parameters {
    // [RFC7252-4.8-1] [RFC7252-4.8.1-1]
    fn default() -> Self {
        Self {
            ack_timeout: Duration::from_secs(2),
            ack_random_thousandths: 1500,
            retransmit_max: 4,
            nstart: 1,
            leisure: Duration::from_secs(5),
            probing_rate: 1,
            latency_max: Duration::from_secs(100),
            block_exponent: Block::LARGEST,
        }
    }
}

impl Parameters {
    /// The first wait for an acknowledgement, drawn anew for each message.
    // [RFC7252-4.2-5] [RFC7252-4.8.1-2]
    pub(super) fn first_timeout(&self, random: &mut Random) -> Duration {
        let spread = self.ack_random_thousandths.saturating_sub(1000);
        let thousandths = 1000 + random.below(u64::from(spread) + 1);
        self.ack_timeout * (thousandths as u32) / 1000
    }

    /// From the first transmission of a message to its last (MAX_TRANSMIT_SPAN).
    pub fn transmit_span_max(&self) -> Duration {
        self.spread(self.ack_timeout * ((1 << self.retransmit_max) - 1))
    }

    /// From the first transmission to giving up (MAX_TRANSMIT_WAIT).
    pub fn transmit_wait_max(&self) -> Duration {
        self.spread(self.ack_timeout * ((2 << self.retransmit_max) - 1))
    }

    /// For so long a Message ID of a confirmable message must not be used again (EXCHANGE_LIFETIME).
    // [RFC7252-4.8.2-1]
    pub fn exchange_lifetime(&self) -> Duration {
        self.transmit_span_max() + 2 * self.latency_max + self.ack_timeout
    }

    /// The same of a non-confirmable message (NON_LIFETIME).
    pub fn non_lifetime(&self) -> Duration {
        self.transmit_span_max() + self.latency_max
    }

    /// For so long an answer to what is not confirmable is expected before more is sent (RFC 7252 section
    /// 4.7).
    // [RFC7252-4.7-3]
    pub(super) fn probing_time(&self, bytes: usize) -> Duration {
        Duration::from_secs(bytes as u64) / self.probing_rate.max(1)
    }

    fn spread(&self, least: Duration) -> Duration {
        least * self.ack_random_thousandths / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7252 table 3.
    /// [RFC7252-4.8-1] [RFC7252-4.8.2-1]
    #[test]
    fn derived_times_are_the_standards() {
        let standard = Parameters::default();
        assert_eq!(standard.transmit_span_max().as_secs(), 45);
        assert_eq!(standard.transmit_wait_max().as_secs(), 93);
        assert_eq!(standard.exchange_lifetime().as_secs(), 247);
        assert_eq!(standard.non_lifetime().as_secs(), 145);
    }

    /// [RFC7252-4.2-5] [RFC7252-4.8.1-2]
    #[test]
    fn the_first_wait_is_drawn_between_its_bounds() {
        let standard = Parameters::default();
        let mut random = Random::new(7);
        let mut drawn: alloc::vec::Vec<_> = (0..100)
            .map(|_| standard.first_timeout(&mut random))
            .collect();
        drawn.sort();
        assert!(drawn[0] >= Duration::from_secs(2) && drawn[99] <= Duration::from_secs(3));
        assert!(drawn[0] < Duration::from_millis(2200) && drawn[99] > Duration::from_millis(2800));
    }
}
