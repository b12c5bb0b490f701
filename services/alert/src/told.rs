//! What people see of an alert: log and metrics.

use crate::plan::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_binding::{Gateway, Metric, bridge::count};
use weir_hub::{Gap, Uncompared};

static TAKEN: Metric = Metric {
    name: "weir_alert_messages_total",
    counts: true,
    help: "Messages that the address of an alert took.",
};
static REFUSED: Metric = Metric {
    name: "weir_alert_refused_messages_total",
    counts: true,
    help: "Messages that the address of an alert refused for good.",
};
static WAITING: Metric = Metric {
    name: "weir_alert_waiting",
    counts: false,
    help: "Whether an alert waits for its address to take a message.",
};
static GAPS: Metric = Metric {
    name: "weir_alert_gaps_total",
    counts: true,
    help: "Times that an alert found messages gone from the log before it had looked at them.",
};

static UNCOMPARED: Metric = Metric {
    name: "weir_alert_uncompared_observations_total",
    counts: true,
    help: "Observations that an alert did not look at: their unit cannot be converted to its own.",
};

/// Where an alert tells how it is.
pub(crate) struct Told {
    plan: Arc<Plan>,
    taken: Arc<AtomicU64>,
    refused: Arc<AtomicU64>,
    waiting: Arc<AtomicU64>,
    gaps: Arc<AtomicU64>,
    uncompared: Arc<AtomicU64>,
    /// What of this was told.
    known: Uncompared,
    /// Why it waits, as it was said last.
    last: String,
}

impl Told {
    pub(crate) fn new(plan: &Arc<Plan>, context: &dyn Gateway) -> Self {
        let of = |metric| context.meter(metric, &format!(r#"alert="{}""#, plan.name));
        Self {
            plan: plan.clone(),
            taken: of(&TAKEN),
            refused: of(&REFUSED),
            waiting: of(&WAITING),
            gaps: of(&GAPS),
            uncompared: of(&UNCOMPARED),
            known: Uncompared::default(),
            last: String::new(),
        }
    }

    pub(crate) fn taken(&mut self) {
        count(&self.taken);
        self.goes_on();
    }

    /// The message that is refused is in the log at its cursor.
    pub(crate) fn refused(&mut self, cursor: &str, reason: &str) {
        count(&self.refused);
        let (alert, url) = (&self.plan.name, &self.plan.shown);
        tracing::error!(
            alert,
            url,
            cursor,
            reason,
            "an alert is refused and not told again"
        );
        self.goes_on();
    }

    fn goes_on(&mut self) {
        self.waiting.store(0, Ordering::Relaxed);
        if !std::mem::take(&mut self.last).is_empty() {
            let (alert, url) = (&self.plan.name, &self.plan.shown);
            tracing::info!(alert, url, "the address takes alerts again");
        }
    }

    /// Once for each reason that follows another.
    pub(crate) fn waits(&mut self, reason: String) {
        self.waiting.store(1, Ordering::Relaxed);
        if reason != self.last {
            let (alert, url) = (&self.plan.name, &self.plan.shown);
            tracing::warn!(alert, url, reason, "an alert waits for its address");
            self.last = reason;
        }
    }

    /// Observations could not be compared; once for each reason that follows another.
    pub(crate) fn uncompared(&mut self, now: Uncompared) {
        let more = now.count.saturating_sub(self.known.count);
        self.uncompared.fetch_add(more, Ordering::Relaxed);
        if let Some(why) = now.last.as_ref().filter(|_| more > 0)
            && now.last != self.known.last
        {
            let (alert, reason) = (&self.plan.name, why.to_string());
            tracing::warn!(alert, reason, "an alert cannot compare observations");
        }
        self.known = now;
    }

    /// A subscription begins, which may count from the start or be that of others, too.
    pub(crate) fn begins(&mut self, known: Uncompared) {
        self.known.count = known.count;
    }

    pub(crate) fn gap(&self, gap: &Gap) {
        count(&self.gaps);
        let (alert, reason, missing) = (&self.plan.name, gap.reason.name(), gap.count);
        tracing::error!(
            alert,
            reason,
            missing,
            "messages were gone before this alert looked at them"
        );
    }
}
