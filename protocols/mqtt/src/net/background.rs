//! What is due without a connection: delayed wills, sessions that end, `$SYS`.

use super::House;
use super::connection::{forget, publish_will, remember};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use weir_binding::Context as Gateway;
use weir_carrier::clock::{Timer, now};
use weir_hub::{Media, Principal, Publish, Quality, Request};
use weir_model::Time;
use weir_sansio::{Duration, Instant};

/// Runs until it is dropped.
pub(super) async fn run(house: Arc<House>, context: Arc<dyn Gateway>) {
    let mut chores = Chores {
        started: context.now(),
        timer: Timer::default(),
        sys_at: Instant::START,
        house,
        context,
    };
    poll_fn(|cx| chores.poll(cx)).await;
}

struct Chores {
    house: Arc<House>,
    context: Arc<dyn Gateway>,
    started: Time,
    timer: Timer,
    /// When `$SYS` is due.
    sys_at: Instant,
}

impl Chores {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            while let Some((id, stored)) = self.house.sessions.take_due(self.context.now()) {
                self.settle(&id, *stored);
            }
            let sys_secs = self.house.settings.sys_secs;
            if sys_secs > 0 && now() >= self.sys_at {
                self.sys_at = now() + Duration::from_secs(self.tell_sys(sys_secs));
            }
            let due = self.house.sessions.next_due(cx.waker());
            let wait = due.map(|due| due.nanos().saturating_sub(self.context.now().nanos()));
            let wait = wait.map(|nanos| Duration::from_nanos(nanos.max(0) as u64));
            let at = wait.map_or(Instant::NEVER, |wait| {
                now() + wait + Duration::from_millis(1)
            });
            let at = if sys_secs > 0 {
                at.min(self.sys_at)
            } else {
                at
            };
            if !self.timer.poll_due(cx, at) {
                return Poll::Pending;
            }
        }
    }

    /// Does what is due of a session without a connection.
    fn settle(&self, id: &Arc<str>, mut stored: super::record::Stored) {
        let now = self.context.now();
        let ended = stored.ends().is_some_and(|end| end <= now);
        // [MQTT-3.1.2-8]: the will is due, or the session ends before.
        let due = ended || stored.will_due().is_some_and(|due| due <= now);
        if let Some(will) = stored.will.take_if(|_| due) {
            publish_will(&*self.context, &will.message);
        }
        match ended {
            true => {
                forget(&*self.context, id);
                self.house.sessions.put_back(id, None);
            }
            false => {
                drop(remember(&*self.context, id, stored.write()));
                self.house.sessions.put_back(id, Some(stored));
            }
        }
    }

    /// Publishes `$SYS`; says in how many seconds again. Where nobody speaks MQTT there is nothing to tell.
    fn tell_sys(&self, sys_secs: u32) -> u64 {
        let connections = &self.house.sessions.counts.connections;
        if connections.load(Ordering::Relaxed) == 0 {
            return 1;
        }
        self.publish_sys();
        u64::from(sys_secs)
    }

    fn publish_sys(&self) {
        let counts = &self.house.sessions.counts;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed).to_string();
        let (connected, away) = self.house.sessions.clients();
        let (retained, retained_bytes) = self.context.hub().retained_counts();
        let uptime = (self.context.now().nanos() - self.started.nanos()) / 1_000_000_000;
        let topics = [
            (
                "broker/version",
                concat!("weir ", env!("CARGO_PKG_VERSION")).to_owned(),
            ),
            ("broker/uptime", format!("{uptime} seconds")),
            ("broker/clients/connected", connected.to_string()),
            ("broker/clients/disconnected", away.to_string()),
            ("broker/clients/total", (connected + away).to_string()),
            ("broker/connections/total", read(&counts.connections)),
            ("broker/subscriptions/count", read(&counts.subscriptions)),
            ("broker/messages/received", read(&counts.received)),
            ("broker/messages/sent", read(&counts.sent)),
            ("broker/publish/messages/received", read(&counts.received)),
            ("broker/publish/messages/sent", read(&counts.sent)),
            ("broker/publish/messages/dropped", read(&counts.refused)),
            ("broker/bytes/received", read(&counts.bytes_received)),
            ("broker/bytes/sent", read(&counts.bytes_sent)),
            ("broker/retained messages/count", retained.to_string()),
            ("broker/store/messages/bytes", retained_bytes.to_string()),
        ];
        for (topic, value) in topics {
            self.publish(&format!("$SYS/{topic}"), value);
        }
    }

    fn publish(&self, topic: &str, value: String) {
        let media = Media::Opaque("text/plain".into());
        let mut publish = Publish::new(topic, media, value);
        publish.quality = Quality::AtMostOnce;
        publish.retain = true;
        let principal = Principal::gateway();
        let request = Request::Publish(publish);
        // It is told again in a while.
        drop(
            self.context
                .hub()
                .open(self.context.now(), &principal, request),
        );
    }
}
