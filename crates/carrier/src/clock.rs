//! The machines' time, read here and nowhere else by what serves a socket.
#![allow(
    clippy::disallowed_methods,
    reason = "drivers give the machines their time"
)]

use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::Context;
use tokio::time::Sleep;
use weir_sansio::{Duration, Instant};

static START: LazyLock<tokio::time::Instant> = LazyLock::new(tokio::time::Instant::now);

/// The longest that a timer sleeps at once: the runtime's clock ends before the machines'.
const SLEEP_MAX: Duration = Duration::from_secs(86_400);

/// Time since the first call.
pub fn now() -> Instant {
    let start = *START;
    Instant::START + tokio::time::Instant::now().saturating_duration_since(start)
}

/// One timer of a socket; it exists only while something is due.
#[derive(Default)]
pub struct Timer {
    sleep: Option<(Pin<Box<Sleep>>, Instant)>,
}

impl Timer {
    /// Says whether the deadline has come, or wakes `cx` when it does. A timer set for an earlier time
    /// fires then and is moved on, so that deadlines that move on cost nothing.
    pub fn poll_due(&mut self, cx: &mut Context<'_>, deadline: Instant) -> bool {
        if deadline == Instant::NEVER {
            return false;
        }
        loop {
            let (sleep, at) = self.sleep.get_or_insert_with(|| {
                (
                    Box::pin(tokio::time::sleep_until(moment(deadline))),
                    deadline,
                )
            });
            if deadline < *at {
                sleep.as_mut().reset(moment(deadline));
                *at = deadline;
            }
            if sleep.as_mut().poll(cx).is_pending() {
                return false;
            }
            self.sleep = None;
            if now() >= deadline {
                return true;
            }
        }
    }
}

fn moment(at: Instant) -> tokio::time::Instant {
    let latest = now() + SLEEP_MAX;
    *START + at.min(latest).since(Instant::START)
}

/// What comes within this time.
pub async fn within<T>(time: Duration, coming: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(time, coming).await.ok()
}

/// Waits.
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
