//! When a certificate is asked for: where there is none for the names, and when two thirds of its time are
//! over.

use super::challenges::Challenges;
use super::order::order;
use super::settings::Settings;
use super::storage;
use crate::clock::now;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use weir_carrier::validity::Validity;

/// Waits after failures, the last again and again: authorities refuse who fails often for hours.
const RETRY: [Duration; 5] = [
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(600),
    Duration::from_secs(3600),
    Duration::from_secs(6 * 3600),
];
/// How often the clock is looked at, which may be set.
const LOOK: Duration = Duration::from_secs(3600);

/// Renews until it is ended.
pub(super) fn run(settings: &Settings, challenges: &Challenges, ended: &Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "no certificate is asked for"),
    };
    let (mut failures, mut is_new) = (0, false);
    loop {
        let seconds = now().nanos().div_euclid(1_000_000_000);
        let given = storage::given(&settings.storage, &settings.names);
        let mut wait = given.map_or(Duration::ZERO, |given| due_in(given, seconds));
        let was_new = std::mem::take(&mut is_new);
        if wait.is_zero() && was_new {
            // To a clock that is ahead it is over already, and the authority is not asked on and on.
            wait = LOOK;
        } else if wait.is_zero() {
            match runtime.block_on(order(settings, challenges)) {
                Ok(()) => {
                    failures = 0;
                    tracing::info!(names = ?settings.names, "a certificate was given");
                    is_new = true;
                    continue;
                }
                Err(problem) => {
                    wait = RETRY[failures.min(RETRY.len() - 1)];
                    failures += 1;
                    let again = wait.as_secs();
                    tracing::error!(%problem, "no certificate; asked for again in {again} s");
                }
            }
        }
        if ended.recv_timeout(wait.min(LOOK)) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// For how long a certificate is left as it is.
fn due_in(given: Validity, now: i64) -> Duration {
    let whole = given.until.saturating_sub(given.from).max(0);
    let due = given.until - whole / 3;
    Duration::from_secs(u64::try_from(due - now).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_renewed_when_a_third_of_its_time_is_left() {
        let given = Validity {
            from: 1000,
            until: 1090,
        };
        let due = |now| due_in(given, now).as_secs();
        assert_eq!((due(1000), due(1059), due(1060), due(5000)), (60, 1, 0, 0));
    }
}
