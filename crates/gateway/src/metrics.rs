//! `/metrics` in the Prometheus text format.

use crate::traffic::Traffic;
use std::fmt::Write;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use weir_binding::Response;
use weir_hub::{Hub, Policy};

/// All metrics now.
pub(crate) fn respond(hub: &Hub, traffic: &Traffic) -> Response {
    let mut page = Page::default();
    publishing(hub, &mut page);
    delivery(hub, &mut page);
    transport(traffic, &mut page);
    Response::with_body(200, "text/plain; version=0.0.4; charset=utf-8", page.text)
}

fn publishing(hub: &Hub, page: &mut Page) {
    let counts = hub.counts();
    page.counter(
        "weir_published_messages",
        "Messages accepted.",
        counts.published_messages,
    );
    page.counter(
        "weir_published_observations",
        "Observations accepted.",
        counts.published_observations,
    );
    page.counter(
        "weir_published_bytes",
        "Bytes of bodies accepted.",
        counts.published_bytes,
    );
    page.counter(
        "weir_repeated",
        "Publishes recognised by idempotency key.",
        counts.repeated,
    );
    page.counter("weir_refused", "Publishes refused.", counts.refused);
    problems(hub, page);
    let (head, committed) = hub.positions();
    page.gauge(
        "weir_log_head",
        "Sequence of the last record appended.",
        head.sequence(),
    );
    page.gauge(
        "weir_log_committed",
        "Sequence of the last record on disk.",
        committed.sequence(),
    );
    page.gauge(
        "weir_log_available",
        "Whether nothing is known that keeps records from being kept.",
        u64::from(hub.trouble().is_none()),
    );
    page.gauge(
        "weir_history_applied",
        "Sequence of the last record whose observations the history has for good.",
        hub.applied().sequence(),
    );
    let help = "Damages found on disk, at the start and since.";
    page.head("weir_damage_total", "counter", help);
    for (of, count) in ["log", "history"].iter().zip(hub.damage()) {
        page.line(&format!("weir_damage_total{{of=\"{of}\"}}"), count);
    }
}

/// Messages that are not kept as they were meant, by cause; and those of which anything was not understood, by kind.
fn problems(hub: &Hub, page: &mut Page) {
    let [(_, refused), (_, bytes), (_, parts)] = hub.problems();
    let help = "Publishes refused, by cause; what waits is counted at each attempt.";
    by(
        page,
        ("weir_refused_messages_total", help),
        "cause",
        &refused,
    );
    let help = "Messages of which only the bytes are kept, by cause.";
    by(page, ("weir_unread_messages_total", help), "cause", &bytes);
    let all = bytes.iter().zip(&parts);
    let all = all.map(|(&(kind, whole), (_, part))| (kind, whole + part));
    let help = "Messages that were taken and not understood, or not in all parts, by kind.";
    by(
        page,
        ("weir_problems_total", help),
        "kind",
        &all.collect::<Vec<_>>(),
    );
}

fn by(page: &mut Page, (name, help): (&str, &str), label: &str, counts: &[(&str, u64)]) {
    page.head(name, "counter", help);
    for (word, count) in counts {
        page.line(&format!("{name}{{{label}=\"{word}\"}}"), *count);
    }
}

fn delivery(hub: &Hub, page: &mut Page) {
    let counts = hub.counts();
    let (datastreams, groups, bytes) = hub.gauges();
    page.counter(
        "weir_delivered_messages",
        "Messages handed over.",
        counts.delivered_messages,
    );
    page.counter(
        "weir_delivered_bytes",
        "Bytes handed over.",
        counts.delivered_bytes,
    );
    page.counter("weir_gaps", "Gaps told to subscribers.", counts.gaps);
    page.counter(
        "weir_uncompared_observations",
        "Observations that `where`, `agg` or `unit` left out: their unit cannot be converted.",
        counts.uncompared,
    );
    page.head(
        "weir_missed_messages_total",
        "counter",
        "Messages missed by slow subscribers.",
    );
    for ((policy, _), missed) in Policy::ALL.iter().zip(counts.missed) {
        page.line(
            &format!("weir_missed_messages_total{{policy=\"{policy}\"}}"),
            missed,
        );
    }
    page.gauge("weir_subscribers", "Subscribers now.", counts.subscribers);
    page.gauge("weir_groups", "Groups of subscribers now.", groups as u64);
    page.gauge(
        "weir_queue_bytes",
        "Bytes in the groups' queues.",
        bytes as u64,
    );
    memory(hub, page);
    page.gauge(
        "weir_datastreams",
        "Datastreams in the catalog.",
        datastreams as u64,
    );
    let (held, most) = hub.catalog_bytes();
    page.gauge(
        "weir_catalog_bytes",
        "Bytes of names, descriptions and last values.",
        held as u64,
    );
    page.gauge(
        "weir_catalog_max_bytes",
        "The most that they may be.",
        most as u64,
    );
}

/// What is under way, and who had no room or took too long.
fn memory(hub: &Hub, page: &mut Page) {
    let memory = hub.memory();
    page.gauge(
        "weir_memory_bytes",
        "Bytes under way in memory: messages, parts of messages, answers.",
        memory.held() as u64,
    );
    page.gauge(
        "weir_memory_max_bytes",
        "The most that they may be.",
        memory.most() as u64,
    );
    page.gauge(
        "weir_arriving_bytes",
        "Bytes of them that are messages not whole yet, and requests being answered.",
        hub.arrivals().held() as u64,
    );
    page.gauge(
        "weir_answers_bytes",
        "Bytes of them that are answers not taken yet.",
        hub.answers().held() as u64,
    );
    page.head(
        "weir_memory_refused_total",
        "counter",
        "How often there was no memory for something, by what it was.",
    );
    let parts = [
        ("all", memory),
        ("arriving", hub.arrivals()),
        ("answers", hub.answers()),
    ];
    for (part, memory) in parts {
        let name = format!("weir_memory_refused_total{{part=\"{part}\"}}");
        page.line(&name, memory.refused());
    }
    page.counter(
        "weir_stalled_peers",
        "Peers given up because they took nothing of what was sent to them.",
        hub.counts().stalled,
    );
}

fn transport(traffic: &Traffic, page: &mut Page) {
    page.gauge("weir_connections", "Connections open.", traffic.open_now());
    let accepted = traffic.accepted.load(Ordering::Relaxed);
    page.counter(
        "weir_accepted_connections",
        "Connections accepted.",
        accepted,
    );
    listeners(traffic, page);
    tallies(traffic, page);
    meters(traffic, page);
    page.head(
        "weir_answers_total",
        "counter",
        "Answers by service and status.",
    );
    let answers = traffic
        .answers
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut answers: Vec<_> = answers.iter().collect();
    answers.sort();
    for ((service, status), count) in answers {
        let name = format!("weir_answers_total{{service=\"{service}\",status=\"{status}\"}}");
        page.line(&name, *count);
    }
}

fn listeners(traffic: &Traffic, page: &mut Page) {
    let help = "Connections open by listener.";
    page.head("weir_listener_connections", "gauge", help);
    let listeners = traffic
        .listeners
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for (name, open) in listeners.iter() {
        let line = format!("weir_listener_connections{{listener=\"{name}\"}}");
        page.line(&line, open.load(Ordering::Relaxed));
    }
}

/// What bindings count that have messages of their own, by scheme and direction.
fn tallies(traffic: &Traffic, page: &mut Page) {
    let tallies = traffic
        .tallies
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if tallies.is_empty() {
        return;
    }
    let help = "Messages of a binding's clients.";
    page.head("weir_binding_messages_total", "counter", help);
    for ((binding, scheme), tally) in tallies.iter() {
        for (direction, count) in [("in", tally.received()), ("out", tally.sent())] {
            let labels =
                format!("binding=\"{binding}\",scheme=\"{scheme}\",direction=\"{direction}\"");
            page.line(&format!("weir_binding_messages_total{{{labels}}}"), count);
        }
    }
}

/// Other numbers of the bindings.
fn meters(traffic: &Traffic, page: &mut Page) {
    let meters = traffic
        .meters
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut last = "";
    for ((metric, labels), value) in meters.iter() {
        if metric.name != last {
            let kind = if metric.counts { "counter" } else { "gauge" };
            page.head(metric.name, kind, metric.help);
            last = metric.name;
        }
        let line = match labels.is_empty() {
            true => metric.name.to_owned(),
            false => format!("{}{{{labels}}}", metric.name),
        };
        page.line(&line, value.load(Ordering::Relaxed));
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _infallible = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, value: u64) {
        let _infallible = writeln!(self.text, "{name} {value}");
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        let name = format!("{name}_total");
        self.head(&name, "counter", help);
        self.line(&name, value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "gauge", help);
        self.line(name, value);
    }
}
