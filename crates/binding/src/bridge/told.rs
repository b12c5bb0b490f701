//! What people see of a bridge: log, metrics, and its state at `$SYS/broker/connection/NAME/state`, where
//! Mosquitto's bridges have theirs.

use crate::{Gateway, Metric};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_hub::{Gap, Media, Publish, Quality};
use weir_model::Cursor;

static CONNECTED: Metric = Metric {
    name: "weir_bridge_connected",
    counts: false,
    help: "Whether a bridge has its connection.",
};
static BEHIND: Metric = Metric {
    name: "weir_bridge_behind_records",
    counts: false,
    help: "Records of the log that a bridge has not looked at for what goes out.",
};
static RECEIVED: Metric = Metric {
    name: "weir_bridge_received_messages_total",
    counts: true,
    help: "Messages that came in by a bridge.",
};
static SENT: Metric = Metric {
    name: "weir_bridge_sent_messages_total",
    counts: true,
    help: "Messages that went out by a bridge.",
};
static REFUSED: Metric = Metric {
    name: "weir_bridge_refused_messages_total",
    counts: true,
    help: "Messages that the other side of a bridge, or this one, did not take.",
};
static LOOPED: Metric = Metric {
    name: "weir_bridge_looped_messages_total",
    counts: true,
    help: "Messages that came back to where they had been.",
};
static GAPS: Metric = Metric {
    name: "weir_bridge_gaps_total",
    counts: true,
    help: "Times that a bridge found messages gone from the log before they went out.",
};

/// Lines of the log a second about messages that go no further; all are counted.
const LINES_PER_SECOND_MAX: u64 = 16;

/// Where a bridge tells how it is.
pub struct Told {
    name: String,
    context: Arc<dyn Gateway>,
    connected: Arc<AtomicU64>,
    behind: Arc<AtomicU64>,
    /// Messages that came in.
    pub received: Arc<AtomicU64>,
    /// Messages that went out.
    pub sent: Arc<AtomicU64>,
    /// Messages that came back to where they had been.
    pub looped: Arc<AtomicU64>,
    refused: Arc<AtomicU64>,
    gaps: Arc<AtomicU64>,
    /// The second in which a message was last said to go no further, and how many were.
    second: AtomicU64,
    lines: AtomicU64,
    /// What was last said of a failure to connect.
    last: String,
}

/// Counts one.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Where a bridge's state is told.
pub fn state_topic(name: &str) -> String {
    format!("$SYS/broker/connection/{name}/state")
}

impl Told {
    /// Of the bridge of this name.
    pub fn new(name: &str, context: Arc<dyn Gateway>) -> Self {
        let meter = |metric| context.meter(metric, &format!("bridge=\"{name}\""));
        Self {
            name: name.into(),
            context: context.clone(),
            connected: meter(&CONNECTED),
            behind: meter(&BEHIND),
            received: meter(&RECEIVED),
            sent: meter(&SENT),
            looped: meter(&LOOPED),
            refused: meter(&REFUSED),
            gaps: meter(&GAPS),
            second: AtomicU64::new(0),
            lines: AtomicU64::new(0),
            last: String::new(),
        }
    }

    /// The bridge's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether there is a connection.
    pub fn state(&self, connected: bool) {
        self.connected
            .store(u64::from(connected), Ordering::Relaxed);
        let media = Media::Opaque("text/plain".into());
        let body = if connected { "1" } else { "0" };
        let mut publish = Publish::new(state_topic(&self.name), media, body);
        publish.quality = Quality::AtMostOnce;
        publish.retain = true;
        let gateway = self.context.hub().internal().at(self.context.now());
        // It is told again when it changes; the metric says it too.
        drop(gateway.publish(publish));
    }

    /// Tells that there is a connection, to what and in which version.
    pub fn connected(&mut self, url: &str, version: &str) {
        self.last.clear();
        tracing::info!(bridge = self.name, "connected to {url}, {version}");
        self.state(true);
    }

    /// Tells why there is no connection: once for each reason that follows another.
    pub fn lost(&mut self, reason: &str, wait: weir_sansio::Duration) {
        let seconds = wait.as_secs_f32();
        if self.last == reason {
            tracing::debug!(
                bridge = self.name,
                "{reason}; next attempt in {seconds:.1} s"
            );
            return;
        }
        tracing::warn!(
            bridge = self.name,
            "{reason}; next attempt in {seconds:.1} s"
        );
        self.last = reason.into();
    }

    /// Tells how many records a bridge has not looked at that is so far.
    pub fn measure(&self, reached: Cursor) -> u64 {
        let (_, committed) = self.context.hub().positions();
        let behind = committed.sequence().saturating_sub(reached.sequence());
        self.behind.store(behind, Ordering::Relaxed);
        behind
    }

    /// Tells of a message, in words, that goes no further.
    pub fn refused(&self, what: &str, reason: &str) {
        count(&self.refused);
        let second = (self.context.now().nanos() / 1_000_000_000) as u64;
        if self.second.swap(second, Ordering::Relaxed) != second {
            self.lines.store(0, Ordering::Relaxed);
        }
        if self.lines.fetch_add(1, Ordering::Relaxed) < LINES_PER_SECOND_MAX {
            tracing::warn!(bridge = self.name, "{what} goes no further: {reason}");
        }
    }

    /// Tells that messages are gone that should have gone out.
    pub fn gap(&self, gap: &Gap) {
        count(&self.gaps);
        let reason = gap.reason.name();
        let records = gap
            .count
            .map_or("some".to_owned(), |count| count.to_string());
        tracing::error!(
            bridge = self.name,
            "{records} records are gone from the log (reason: {reason}) before their messages went out"
        );
    }

    /// Tells people of what they should look at.
    pub fn warn(&self, sentence: &str) {
        tracing::warn!(bridge = self.name, "{sentence}");
    }
}

/// A bridge that ends has no connection.
impl Drop for Told {
    fn drop(&mut self) {
        self.state(false);
    }
}
