//! The machines' time, read here and nowhere else.
#![allow(
    clippy::disallowed_methods,
    reason = "the driver gives the machines their time"
)]

use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::Context;
use std::time::Duration;
use tokio::time::Sleep;
use weir_sansio::Instant;

static START: LazyLock<tokio::time::Instant> = LazyLock::new(tokio::time::Instant::now);

/// Nanoseconds since the first call.
pub(super) fn now() -> Instant {
    let start = *START;
    Instant::START + tokio::time::Instant::now().saturating_duration_since(start)
}

/// One timer of a socket; a deadline that moves on costs nothing until the old one has passed.
pub(super) struct Timer {
    sleep: Pin<Box<Sleep>>,
    at: Instant,
}

impl Timer {
    pub(super) fn new() -> Self {
        let at = now() + Duration::from_secs(60);
        let sleep = Box::pin(tokio::time::sleep_until(moment(at)));
        Self { sleep, at }
    }

    /// Says whether the deadline has come, or wakes `cx` when it does.
    pub(super) fn poll_due(&mut self, cx: &mut Context<'_>, deadline: Instant) -> bool {
        if deadline < self.at {
            self.set(deadline);
        }
        while self.sleep.as_mut().poll(cx).is_ready() {
            if now() >= deadline {
                return true;
            }
            self.set(deadline);
        }
        false
    }

    fn set(&mut self, at: Instant) {
        self.at = at;
        self.sleep.as_mut().reset(moment(at));
    }
}

/// A day at most, since the runtime's clock ends before the machines'.
fn moment(at: Instant) -> tokio::time::Instant {
    const DAY: Duration = Duration::from_secs(86_400);
    *START
        + at.since(Instant::START)
            .min(now().since(Instant::START) + DAY)
}

/// Waits.
pub(super) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
