//! Energy of the board, where a radio stands for the line: a stated model, not a measurement.
//!
//! The node is the paper's kind: an MSP430F1611 at 8 MHz and a CC2420 at 0 dBm, on 3 V. Each packet of IP
//! goes in frames of IEEE 802.15.4 without compression. Currents are the typical ones of the datasheets.
//! What it deliberately does not do: start-up times, clear channel assessment, link acknowledgements.

use weir_link::Framing;

/// The paper's processor, one instruction a cycle.
pub const INSTRUCTIONS_A_SECOND: f64 = 8e6;
const VOLTS: f64 = 3.0;
/// MSP430F161x datasheet SLAS368G, page 27, 3 V, 25 degrees: active 500 uA a MHz, LPM3 2.6 uA.
const CPU_ACTIVE_MA: f64 = 0.5 * INSTRUCTIONS_A_SECOND / 1e6;
const CPU_ASLEEP_MA: f64 = 0.0026;
/// CC2420 datasheet SWRS041, electrical specifications: transmit at 0 dBm, receive, power down.
const RADIO_TRANSMIT_MA: f64 = 17.4;
const RADIO_RECEIVE_MA: f64 = 18.8;
const RADIO_ASLEEP_MA: f64 = 0.020;
/// 250 kbit/s.
const RADIO_BYTES_A_SECOND: f64 = 31_250.0;

/// Frames of 127 bytes behind 6 of the physical layer; of each, those 6, 11 of MAC and 5 of a fragment
/// (RFC 4944 section 5.3) carry nothing of the packet.
pub(crate) const FRAMES: Framing = Framing::Frames {
    bytes: 133,
    header: 22,
};

/// What a board did in a while.
pub(crate) struct Work {
    pub(crate) seconds: f64,
    pub(crate) instructions: f64,
    /// Bytes of frames, received and sent.
    pub(crate) air_bytes: [f64; 2],
}

impl Work {
    /// Millijoules where the radio sleeps whenever nothing goes over it, as if it knew when.
    pub(crate) fn energy_mj(&self) -> f64 {
        VOLTS * (self.charge_mc() + self.radio_silent() * RADIO_ASLEEP_MA)
    }

    /// Millijoules where the radio listens whenever it does not send.
    pub(crate) fn energy_listening_mj(&self) -> f64 {
        VOLTS * (self.charge_mc() + self.radio_silent() * RADIO_RECEIVE_MA)
    }

    /// Of what is the same in both: the processor, and the radio with packets.
    fn charge_mc(&self) -> f64 {
        let active = (self.instructions / INSTRUCTIONS_A_SECOND).min(self.seconds);
        let [received, sent] = self.air_bytes.map(|bytes| bytes / RADIO_BYTES_A_SECOND);
        active * CPU_ACTIVE_MA
            + (self.seconds - active) * CPU_ASLEEP_MA
            + received * RADIO_RECEIVE_MA
            + sent * RADIO_TRANSMIT_MA
    }

    fn radio_silent(&self) -> f64 {
        let busy: f64 = self.air_bytes.iter().sum();
        (self.seconds - busy / RADIO_BYTES_A_SECOND).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_second_costs_what_the_datasheets_say() {
        let work = Work {
            seconds: 1.0,
            instructions: 0.0,
            air_bytes: [0.0; 2],
        };
        assert!((work.energy_mj() - 3.0 * 0.0226).abs() < 1e-9);
        assert!((work.energy_listening_mj() - 3.0 * 18.8026).abs() < 1e-9);
    }

    #[test]
    fn a_busy_second_costs_the_radio_and_the_processor() {
        let work = Work {
            seconds: 1.0,
            instructions: 4e6,
            air_bytes: [0.0, 31_250.0],
        };
        let expected = 3.0 * (0.5 * 4.0 + 0.5 * 0.0026 + 17.4);
        assert!((work.energy_mj() - expected).abs() < 1e-9);
    }
}
