//! The sender's half of QoS 1 and 2 (section 4.3): what was sent and is not acknowledged yet.

use crate::wire::{QoS, ReasonCode};
use alloc::collections::VecDeque;

/// By what the driver finds a message again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Token {
    /// Its place in the driver's log.
    pub cursor: u64,
    /// For which subscription it was sent.
    pub subscription: u32,
    /// Which of the packets that were made of it.
    pub part: u32,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Sent with QoS 1: PUBACK is awaited [MQTT-4.3.2-3].
    Puback,
    /// Sent with QoS 2: PUBREC is awaited [MQTT-4.3.3-3].
    Pubrec,
    /// Released: PUBCOMP is awaited, and the message is not needed any more [MQTT-4.3.3-5].
    Pubcomp,
}

/// A message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Its packet identifier.
    pub packet_id: u16,
    /// How far it is.
    pub stage: Stage,
    /// By what it is found again.
    pub token: Token,
}

/// Messages under way, in the order in which they were first sent [MQTT-4.6.0-1].
#[derive(Default)]
pub(super) struct Outbound {
    entries: VecDeque<Entry>,
    last_id: u16,
    /// How many the peer takes at once.
    quota: u16,
    /// How many count against it.
    used: u16,
}

struct Entry {
    flight: InFlight,
    /// Whether it was sent on this connection and counts against the quota.
    sent: bool,
}

/// What an acknowledgment means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The message is done.
    Done(Token),
    /// It is to be released.
    Release(Token),
    /// It was released before: do so again.
    Again,
    /// No such message.
    Unknown,
    /// The acknowledgment is not of the message's quality of service, or out of order.
    Wrong,
}

impl Outbound {
    /// Goes on with what was under way on an earlier connection; the quota begins anew [MQTT-4.9.0-1].
    pub(super) fn resume(entries: &[InFlight], quota: u16) -> Self {
        let entries = entries.iter().map(|&flight| Entry {
            flight,
            sent: false,
        });
        let entries: VecDeque<Entry> = entries.collect();
        Self {
            last_id: entries.back().map_or(0, |entry| entry.flight.packet_id),
            entries,
            quota,
            used: 0,
        }
    }

    /// The same with the identifier that was given last.
    pub(super) fn behind(self, last_id: u16) -> Self {
        Self { last_id, ..self }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &InFlight> {
        self.entries.iter().map(|entry| &entry.flight)
    }

    /// The identifier that was given last.
    pub(super) fn last_id(&self) -> u16 {
        self.last_id
    }

    /// How many more may be sent now [MQTT-3.3.4-9] [MQTT-4.9.0-2].
    pub(super) fn room(&self) -> u16 {
        self.quota.saturating_sub(self.used)
    }

    /// Notes a message as sent and gives it an identifier that no other has; `None` where there is no
    /// room.
    pub(super) fn send(&mut self, qos: QoS, token: Token) -> Option<u16> {
        if self.room() == 0 {
            return None;
        }
        let packet_id = self.unused_id();
        let stage = match qos {
            QoS::ExactlyOnce => Stage::Pubrec,
            _ => Stage::Puback,
        };
        self.used += 1;
        self.entries.push_back(Entry {
            flight: InFlight {
                packet_id,
                stage,
                token,
            },
            sent: true,
        });
        Some(packet_id)
    }

    /// A message of an earlier connection that has not been sent again.
    fn stale(&self, token: &Token) -> Option<usize> {
        self.entries.iter().position(|entry| {
            !entry.sent && entry.flight.stage != Stage::Pubcomp && entry.flight.token == *token
        })
    }

    /// Says whether a message of an earlier connection is still to be sent again.
    pub(super) fn is_stale(&self, token: &Token) -> bool {
        self.stale(token).is_some()
    }

    /// Says whether any is.
    pub(super) fn has_stale(&self) -> bool {
        let waits = |entry: &Entry| !entry.sent && entry.flight.stage != Stage::Pubcomp;
        self.entries.iter().any(waits)
    }

    /// Notes one as sent again; `None` where there is no such one, or no room.
    pub(super) fn resend(&mut self, token: &Token) -> Option<InFlight> {
        if self.room() == 0 {
            return None;
        }
        let at = self.stale(token)?;
        self.used += 1;
        self.entries[at].sent = true;
        Some(self.entries[at].flight)
    }

    /// Forgets those that were not sent again and cannot be found any more.
    pub(super) fn abandon(&mut self, lost: impl Fn(&Token) -> bool) {
        self.entries.retain(|entry| {
            entry.sent || entry.flight.stage == Stage::Pubcomp || !lost(&entry.flight.token)
        });
    }

    // [MQTT-2.2.1-4] [MQTT-4.3.2-1] [MQTT-4.3.3-1]
    fn unused_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            if self.find(self.last_id).is_none() {
                return self.last_id;
            }
        }
    }

    fn done(&mut self, at: usize) -> Progress {
        let Some(entry) = self.entries.remove(at) else {
            return Progress::Unknown;
        };
        self.used -= u16::from(entry.sent);
        if self.entries.is_empty() {
            self.entries = VecDeque::new();
        }
        Progress::Done(entry.flight.token)
    }

    fn find(&self, packet_id: u16) -> Option<(usize, Stage)> {
        let of_id = |entry: &Entry| entry.flight.packet_id == packet_id;
        let at = self.entries.iter().position(of_id)?;
        Some((at, self.entries[at].flight.stage))
    }

    /// Takes a PUBACK: done however it went [MQTT-4.4.0-2] [MQTT-4.8.2-6].
    pub(super) fn puback(&mut self, packet_id: u16) -> Progress {
        match self.find(packet_id) {
            None => Progress::Unknown,
            Some((at, Stage::Puback)) => self.done(at),
            Some(_) => Progress::Wrong,
        }
    }

    /// Takes a PUBREC.
    pub(super) fn pubrec(&mut self, packet_id: u16, code: ReasonCode) -> Progress {
        match self.find(packet_id) {
            None => Progress::Unknown,
            Some((_, Stage::Puback)) => Progress::Wrong,
            // [MQTT-4.4.0-2]
            Some((at, _)) if code.is_failure() => self.done(at),
            Some((_, Stage::Pubcomp)) => Progress::Again,
            // [MQTT-4.3.3-4] [MQTT-4.3.3-6]
            Some((at, Stage::Pubrec)) => {
                let flight = &mut self.entries[at].flight;
                flight.stage = Stage::Pubcomp;
                Progress::Release(flight.token)
            }
        }
    }

    /// Takes a PUBCOMP.
    pub(super) fn pubcomp(&mut self, packet_id: u16) -> Progress {
        match self.find(packet_id) {
            None => Progress::Unknown,
            Some((at, Stage::Pubcomp)) => self.done(at),
            Some(_) => Progress::Wrong,
        }
    }
}
