//! The receiver's half of QoS 1 and 2 (section 4.3): what has come and is not acknowledged yet.

use crate::wire::{Publish, QoS, ReasonCode};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Messages received.
#[derive(Default)]
pub(super) struct Inbound {
    /// Not acknowledged yet, in the order in which they came.
    order: VecDeque<Pending>,
    /// QoS 2 messages whose release has not come, ascending by identifier.
    received: Vec<Received>,
    /// How many count against the receive maximum.
    counted: u16,
}

struct Pending {
    packet_id: u16,
    qos: QoS,
    done: Option<ReasonCode>,
}

#[derive(Clone, Copy)]
struct Received {
    packet_id: u16,
    /// Whether it came on this connection and counts against the receive maximum.
    counts: bool,
}

/// What becomes of a PUBLISH.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is new.
    New,
    /// It came before and was acknowledged: acknowledge it again.
    Again,
    /// It came before on another connection: the driver knows whether it was taken.
    Resent,
    /// It came before and will be acknowledged.
    Waits,
    /// There are more than the receive maximum.
    TooMany,
}

impl Inbound {
    /// Goes on with these QoS 2 messages of an earlier connection.
    pub(super) fn resume(received: &[u16]) -> Self {
        let received = received.iter().map(|&packet_id| Received {
            packet_id,
            counts: false,
        });
        let mut received: Vec<Received> = received.collect();
        received.sort_unstable_by_key(|received| received.packet_id);
        Self {
            order: VecDeque::new(),
            received,
            counted: 0,
        }
    }

    /// QoS 2 messages whose release has not come.
    pub(super) fn received(&self) -> Vec<u16> {
        self.received.iter().map(|of| of.packet_id).collect()
    }

    /// Messages that wait for their acknowledgment.
    pub(super) fn waiting(&self) -> usize {
        self.order.len()
    }

    fn find(&self, packet_id: u16) -> Result<usize, usize> {
        self.received
            .binary_search_by_key(&packet_id, |of| of.packet_id)
    }

    /// Takes a PUBLISH of QoS 1 or 2.
    pub(super) fn arrive(&mut self, publish: &Publish<'_>, receive_max: u16) -> Arrival {
        let (packet_id, qos) = (publish.packet_id, publish.qos);
        let found = self.find(packet_id);
        if qos == QoS::ExactlyOnce
            && let Ok(at) = found
        {
            // [MQTT-4.3.3-10]
            let counted = core::mem::replace(&mut self.received[at].counts, true);
            self.counted += u16::from(!counted);
            if !counted {
                let done = None;
                self.order.push_back(Pending {
                    packet_id,
                    qos,
                    done,
                });
                return Arrival::Resent;
            }
            let waits = self.order.iter().any(|of| of.packet_id == packet_id);
            return if waits {
                Arrival::Waits
            } else {
                Arrival::Again
            };
        }
        // [MQTT-3.3.4-7]
        if self.counted >= receive_max {
            return Arrival::TooMany;
        }
        self.counted += 1;
        if let (QoS::ExactlyOnce, Err(at)) = (qos, found) {
            let counts = true;
            self.received.insert(at, Received { packet_id, counts });
        }
        self.order.push_back(Pending {
            packet_id,
            qos,
            done: None,
        });
        Arrival::New
    }

    /// Notes how a message went.
    pub(super) fn settle(&mut self, packet_id: u16, code: ReasonCode) {
        let mut waiting = self.order.iter_mut();
        if let Some(of) = waiting.find(|of| of.packet_id == packet_id && of.done.is_none()) {
            of.done = Some(code);
        }
    }

    /// The next acknowledgment due: none overtakes another [MQTT-4.6.0-2] [MQTT-4.6.0-3]. It has the
    /// identifier of its message [MQTT-2.2.1-5], which means a new one then [MQTT-4.3.2-5].
    pub(super) fn next_due(&mut self) -> Option<(u16, QoS, ReasonCode)> {
        let code = self.order.front()?.done?;
        let Pending { packet_id, qos, .. } = self.order.pop_front()?;
        if self.order.is_empty() {
            self.order = VecDeque::new();
        }
        match qos {
            // [MQTT-4.3.3-9]
            QoS::ExactlyOnce if code.is_failure() => _ = self.forget(packet_id),
            QoS::ExactlyOnce => {}
            _ => self.counted -= 1,
        }
        Some((packet_id, qos, code))
    }

    fn forget(&mut self, packet_id: u16) -> bool {
        let Ok(at) = self.find(packet_id) else {
            return false;
        };
        self.counted -= u16::from(self.received.remove(at).counts);
        if self.received.is_empty() {
            self.received = Vec::new();
        }
        true
    }

    /// Takes a PUBREL; says whether there was such a message. From then on the identifier stands for a
    /// new one [MQTT-4.3.3-12].
    pub(super) fn release(&mut self, packet_id: u16) -> bool {
        self.forget(packet_id)
    }
}
