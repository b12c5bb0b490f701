//! What is due without a connection: delayed wills, sessions that end, `$SYS`.

use super::claims::{Claims, SIGNS};
use super::house::House;
use super::record::Stored;
use super::remember::{claim, forget, put, remember, remove};
use super::will::put_off_until;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_carrier::clock::{Timer, now};
use weir_hub::{Media, Publish, Quality, Ticket};
use weir_model::Time;
use weir_sansio::{Duration, Instant};

/// Runs until it is dropped.
pub(super) async fn run(house: Arc<House>, context: Arc<dyn Gateway>) {
    let mut chores = Chores {
        started: context.now(),
        timer: Timer::default(),
        sys_at: Instant::START,
        sign_at: Instant::START,
        sign: None,
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
    /// When a sign of life is, where others share the log.
    sign_at: Instant,
    /// The last one, until the log has it.
    sign: Option<Ticket>,
}

impl Drop for Chores {
    fn drop(&mut self) {
        self.house.wills.end(&*self.context);
    }
}

impl Chores {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            while let Some((id, stored)) = self.house.sessions.take_due(self.context.now()) {
                self.settle(&id, *stored);
            }
            if now() >= self.sign_at {
                self.sign_at = self.look_after_sessions(cx);
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
            let at = at.min(self.house.wills.poll(&*self.context, cx));
            if !self.timer.poll_due(cx, at.min(self.sign_at)) {
                return Poll::Pending;
            }
        }
    }

    /// Gives a sign of life, and looks after sessions that no gateway has any more; says when again.
    fn look_after_sessions(&mut self, cx: &mut Context<'_>) -> Instant {
        let house = self.house.clone();
        let Some(claims) = house.sessions.claims() else {
            return Instant::NEVER;
        };
        // One at a time: signs that waited for the log would come all at once.
        let is_due = self
            .sign
            .as_ref()
            .is_none_or(|sign| sign.poll(cx).is_ready());
        if is_due {
            let (key, said) = claims.sign(self.context.now());
            self.sign = put(&*self.context, key, said);
        }
        for (id, owner) in claims.orphans() {
            drop(claim(claims, &*self.context, &id, &owner));
        }
        for id in claims.take_claimed() {
            self.take_up(claims, &id);
        }
        for key in claims.take_stale() {
            remove(&*self.context, key);
        }
        let gone = Duration::from_secs(house.settings.gone_secs.into());
        now() + gone / SIGNS
    }

    /// Looks after a session that was claimed, if none of this gateway's connections does.
    fn take_up(&self, claims: &Claims, id: &Arc<str>) {
        let sessions = &self.house.sessions;
        let here = sessions.owner_here(id);
        let Some(held) = claims.held_since(id) else {
            // It was ended by the gateway that had it before, and goes on here.
            if let Some(owner) = here.filter(|_| claims.is_nobodys(id)) {
                drop(claim(claims, &*self.context, id, &owner));
            }
            return;
        };
        if here.is_some() {
            return;
        }
        let left = claims.latest(id);
        let left = left.and_then(|of| Some((of.stored()?, of.gateway)));
        let Some((mut stored, gateway)) = left else {
            return forget(&self.house, &*self.context, id);
        };
        let last = claims.last_sign(&gateway);
        let last = last.unwrap_or_else(|| self.context.now());
        stored.leave_at(last, self.context.hub().positions().0);
        stored.claim = held;
        drop(remember(&self.house, &*self.context, id, &stored));
        sessions.put_back(id, Some(*stored));
    }

    /// Does what is due of a session without a connection.
    fn settle(&self, id: &Arc<str>, mut stored: Stored) {
        let now = self.context.now();
        let ended = stored.ends().is_some_and(|end| end <= now);
        // [MQTT-3.1.2-8]: the will is due, or the session ends before.
        let due = ended || stored.will_due().is_some_and(|due| due <= now);
        if let Some(will) = stored.will.take_if(|_| due) {
            let wills = &self.house.wills;
            if !wills.try_stored(&*self.context, id, &stored, &will) {
                // The session and its record have it meanwhile.
                stored.will = Some(will);
                return self.put_off(id, stored);
            }
            stored.put_off = None;
        }
        if ended {
            forget(&self.house, &*self.context, id);
            self.house.sessions.put_back(id, None);
        } else {
            drop(remember(&self.house, &*self.context, id, &stored));
            self.house.sessions.put_back(id, Some(stored));
        }
    }

    /// Comes back to a session whose will the log does not take now.
    fn put_off(&self, id: &Arc<str>, mut stored: Stored) {
        let since = stored.put_off.map_or_else(now, |(since, _)| since);
        stored.put_off = Some((since, put_off_until(self.context.now())));
        self.house.sessions.put_back(id, Some(stored));
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
        let gateway = self.context.hub().internal().at(self.context.now());
        // It is told again in a while.
        drop(gateway.publish(publish));
    }
}
