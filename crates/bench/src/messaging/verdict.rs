//! What of our broker is divided by every other's.

use crate::ratios::Compared;

/// What is compared, by metric and figure.
pub(super) const COMPARED: [Compared; 5] = [
    ("t_transfer", "t_transfer_p50", |round| round.p50),
    ("t_transfer", "t_transfer_mean", |round| round.mean),
    ("message_rate", "message_rate", |round| round.mean),
    ("server_cpu", "server_cpu", |round| round.mean),
    ("server_memory_peak", "server_memory_peak", |round| {
        round.mean
    }),
];
