//! What people see of the connection to the server: log and metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_binding::{Gateway, Metric, Tally};

static CONNECTED: Metric = Metric {
    name: "weir_xmpp_connected",
    counts: false,
    help: "Whether the stream to the XMPP server is open.",
};
static SUBSCRIPTIONS: Metric = Metric {
    name: "weir_xmpp_subscriptions",
    counts: false,
    help: "Subscriptions of XMPP users to nodes of this gateway.",
};
static REFUSED: Metric = Metric {
    name: "weir_xmpp_refused_total",
    counts: true,
    help: "Requests of XMPP users that were answered with an error.",
};
static SKIPPED: Metric = Metric {
    name: "weir_xmpp_skipped_total",
    counts: true,
    help: "Stanzas of XMPP users that were over a limit and not read.",
};

/// Where it is told how the stream is.
pub(super) struct Told {
    connected: Arc<AtomicU64>,
    subscriptions: Arc<AtomicU64>,
    refused: Arc<AtomicU64>,
    skipped: Arc<AtomicU64>,
    pub(super) tally: Arc<Tally>,
    /// What was last said of a failure to connect.
    last: String,
}

impl Told {
    pub(super) fn new(domain: &str, context: &Arc<dyn Gateway>) -> Self {
        let meter = |metric| context.meter(metric, &format!("domain=\"{domain}\""));
        Self {
            connected: meter(&CONNECTED),
            subscriptions: meter(&SUBSCRIPTIONS),
            refused: meter(&REFUSED),
            skipped: meter(&SKIPPED),
            tally: context.tally("xmpp", "xmpp"),
            last: String::new(),
        }
    }

    pub(super) fn connected(&mut self, domain: &str) {
        self.last.clear();
        self.connected.store(1, Ordering::Relaxed);
        tracing::info!("XMPP: {domain} is connected");
    }

    /// Tells why there is no connection: once for each reason that follows another.
    pub(super) fn lost(&mut self, reason: &str, wait: weir_sansio::Duration) {
        self.connected.store(0, Ordering::Relaxed);
        let seconds = wait.as_secs_f32();
        if self.last != reason {
            tracing::warn!("XMPP: {reason}; next attempt in {seconds:.1} s");
            self.last = reason.into();
        }
    }

    pub(super) fn subscriptions(&self, count: usize) {
        self.subscriptions.store(count as u64, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn skipped(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
    }
}
