//! What people see of the domain: log, metrics, and samples set aside at `$SYS/dds/refused`.

use super::participant::shown;
use crate::limits::TOLD_PER_SECOND;
use rustdds::{
    DataReaderStatus, DomainParticipantStatusEvent as Seen, GUID, LostReason, QosPolicies,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_binding::{Gateway, Metric, Tally};
use weir_hub::{Media, Publish, Quality};

static PARTICIPANTS: Metric = Metric {
    name: "weir_dds_participants",
    counts: false,
    help: "Other participants of the DDS domain.",
};
static LOST: Metric = Metric {
    name: "weir_dds_participants_lost_total",
    counts: true,
    help: "DDS participants that left: disposed of, or silent for longer than their lease.",
};
static MATCHED: Metric = Metric {
    name: "weir_dds_endpoints",
    counts: false,
    help: "Writers and readers of other participants that exchange samples with weir's.",
};
static INCOMPATIBLE: Metric = Metric {
    name: "weir_dds_incompatible_total",
    counts: true,
    help: "Endpoints that offered less, or requested more, than weir's of the topic.",
};
static REFUSED: Metric = Metric {
    name: "weir_dds_refused_samples_total",
    counts: true,
    help: "Samples set aside: not decoded, or not taken by the hub.",
};
static MISSED: Metric = Metric {
    name: "weir_dds_deadlines_missed_total",
    counts: true,
    help: "Times that a writer kept a deadline not that weir's reader requested.",
};
static SILENT: Metric = Metric {
    name: "weir_dds_writers_silent_total",
    counts: true,
    help: "Writers whose participant was silent for longer than its lease.",
};

/// Where the domain is told of.
pub(super) struct Told {
    context: Arc<dyn Gateway>,
    pub(super) tally: Arc<Tally>,
    participants: Arc<AtomicU64>,
    writers: Arc<AtomicU64>,
    readers: Arc<AtomicU64>,
    lost: [Arc<AtomicU64>; 2],
    incompatible: Arc<AtomicU64>,
    undecodable: Arc<AtomicU64>,
    untaken: Arc<AtomicU64>,
    missed: Arc<AtomicU64>,
    silent: Arc<AtomicU64>,
    /// Other participants, by the beginning of their GUIDs.
    known: HashSet<[u8; 12]>,
    /// The pair's participants.
    own: [GUID; 2],
    /// Endpoints that were matched, and whether they write.
    matched: HashMap<GUID, bool>,
    /// How many more may be told one by one before the next tick.
    left: u32,
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Told {
    pub(super) fn new(context: Arc<dyn Gateway>, domain: u16, own: [GUID; 2]) -> Self {
        let of = |metric, rest: &str| context.meter(metric, &format!(r#"domain="{domain}"{rest}"#));
        Self {
            tally: context.tally("dds", "dds"),
            participants: of(&PARTICIPANTS, ""),
            writers: of(&MATCHED, r#",kind="writer""#),
            readers: of(&MATCHED, r#",kind="reader""#),
            lost: [
                of(&LOST, r#",reason="disposed""#),
                of(&LOST, r#",reason="silent""#),
            ],
            incompatible: of(&INCOMPATIBLE, ""),
            undecodable: of(&REFUSED, r#",reason="undecodable""#),
            untaken: of(&REFUSED, r#",reason="untaken""#),
            missed: of(&MISSED, ""),
            silent: of(&SILENT, ""),
            known: HashSet::new(),
            own,
            matched: HashMap::new(),
            left: TOLD_PER_SECOND,
            context,
        }
    }

    /// A second has gone by.
    pub(super) fn tick(&mut self) {
        self.left = TOLD_PER_SECOND;
    }

    /// A sample that cannot be decoded is set aside.
    pub(super) fn undecodable(&mut self, writer: &GUID, reason: &str, head: &[u8]) {
        count(&self.undecodable);
        self.set_aside(writer, reason, head);
    }

    /// A sample that the hub does not take is set aside.
    pub(super) fn untaken(&mut self, writer: &GUID, reason: &str, head: &[u8]) {
        count(&self.untaken);
        self.set_aside(writer, reason, head);
    }

    fn set_aside(&mut self, writer: &GUID, reason: &str, head: &[u8]) {
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        self.left = left;
        let writer = shown(writer);
        tracing::warn!(writer, reason, "a DDS sample was set aside");
        let head = hexadecimal(head);
        let reason = reason.replace('\\', "\\\\").replace('"', "\\\"");
        let text = format!(r#"{{"writer":"{writer}","reason":"{reason}","head":"{head}"}}"#);
        let media = Media::Opaque("application/json".into());
        let mut publish = Publish::new("$SYS/dds/refused", media, text);
        publish.quality = Quality::AtMostOnce;
        publish.retain = true;
        let gateway = self.context.hub().internal().at(self.context.now());
        // The log has said it already.
        drop(gateway.publish(publish));
    }

    /// What the reader's status says.
    // [DDS-2.2.3.7-1]
    pub(super) fn of_reader(&self, status: &DataReaderStatus) {
        if matches!(status, DataReaderStatus::RequestedDeadlineMissed { .. }) {
            count(&self.missed);
        }
    }

    /// What was seen of the domain.
    pub(super) fn of_domain(&mut self, seen: &Seen) {
        match seen {
            Seen::ParticipantDiscovered { dpd } => {
                self.discovered(&dpd.guid);
            }
            Seen::ParticipantLost { id, reason } => {
                let is_silent = matches!(reason, LostReason::Timeout { .. });
                self.departed(id.as_ref(), is_silent);
            }
            Seen::RemoteReaderMatched { remote_reader, .. } => self.matched(remote_reader, false),
            Seen::RemoteWriterMatched { remote_writer, .. } => self.matched(remote_writer, true),
            Seen::ReaderLost { guid, .. } | Seen::WriterLost { guid, .. } => self.unmatched(guid),
            Seen::RemoteReaderQosIncompatible {
                remote_reader: endpoint,
                requested_qos,
                offered_qos,
                ..
            }
            | Seen::RemoteWriterQosIncompatible {
                remote_writer: endpoint,
                requested_qos,
                offered_qos,
                ..
            } => self.incompatible(endpoint, offered_qos, requested_qos),
            _ => {}
        }
    }

    fn incompatible(&self, endpoint: &GUID, offered: &QosPolicies, requested: &QosPolicies) {
        count(&self.incompatible);
        let endpoint = shown(endpoint);
        let policy = offered.compliance_failure_wrt(requested);
        let policy = policy.map_or_else(String::new, |policy| format!("{policy:?}"));
        tracing::warn!(
            endpoint,
            policy,
            "a DDS endpoint is no match: of this policy less is offered than requested"
        );
    }

    fn is_own(&self, seen: &GUID) -> bool {
        self.own.iter().any(|own| own.prefix == seen.prefix)
    }

    fn discovered(&mut self, participant: &GUID) {
        let bytes = participant.to_bytes();
        if self.is_own(participant) {
            return;
        }
        if let Some(prefix) = bytes.first_chunk()
            && self.known.insert(*prefix)
        {
            let participant = hexadecimal(prefix);
            tracing::info!(participant, "a DDS participant was discovered");
        }
        self.show();
    }

    fn departed(&mut self, prefix: &[u8], is_silent: bool) {
        let Ok(prefix) = <[u8; 12]>::try_from(prefix) else {
            return;
        };
        if self.known.remove(&prefix) {
            count(&self.lost[usize::from(is_silent)]);
            let participant = hexadecimal(&prefix);
            tracing::info!(participant, is_silent, "a DDS participant left");
        }
        let gone = (self.matched).extract_if(|endpoint, _| endpoint.to_bytes()[..12] == prefix);
        let writers = gone.filter(|(_, writes)| *writes).count();
        if is_silent {
            // RTPS has a lease of its own for a writer, which the stack does not tell of; AUTOMATIC ones end here.
            self.silent.fetch_add(writers as u64, Ordering::Relaxed);
        }
        self.show();
    }

    /// Those of discovery and weir's own are left out.
    fn matched(&mut self, endpoint: &GUID, writes: bool) {
        if endpoint.entity_id.kind().is_user_defined() && !self.is_own(endpoint) {
            self.matched.insert(*endpoint, writes);
            self.show();
        }
    }

    fn unmatched(&mut self, endpoint: &GUID) {
        self.matched.remove(endpoint);
        self.show();
    }

    fn show(&self) {
        let participants = self.known.len() as u64;
        self.participants.store(participants, Ordering::Relaxed);
        let writers = self.matched.values().filter(|writes| **writes).count();
        self.writers.store(writers as u64, Ordering::Relaxed);
        let readers = self.matched.len() - writers;
        self.readers.store(readers as u64, Ordering::Relaxed);
    }
}
