//! What a bridge asks of the other broker, and what it is granted.

use super::{End, Running};
use crate::net::bridge::settings::{Line, Speaks};
use crate::wire::{PropertyList, ReasonCode, RetainHandling, SubscriptionOptions};
use weir_carrier::clock::now;

impl Running<'_> {
    /// Asks for what comes in, and ends what does not any more. A broker that does not answer is found out
    /// by the keep alive.
    pub(super) fn subscribe(&mut self, session_present: bool) -> Result<(), End> {
        let bridge = &mut *self.bridge;
        let lines = &bridge.plan.inward;
        let wanted: Vec<String> = lines.iter().map(remembered).collect();
        let before = std::mem::replace(&mut bridge.kept.subscribed, wanted);
        let wanted = &bridge.kept.subscribed;
        // 3.1.1 sends what is retained again for each SUBSCRIBE.
        if session_present && before == *wanted && bridge.speaks != Speaks::V5 {
            return Ok(());
        }
        let filter_of = |text: &String| text.split_once(' ').map(|(_, filter)| filter.to_owned());
        let still: Vec<_> = wanted.iter().filter_map(filter_of).collect();
        let ended = before.iter().filter_map(filter_of);
        let ended: Vec<_> = ended.filter(|filter| !still.contains(filter)).collect();
        let ended: Vec<&str> = ended.iter().map(String::as_str).collect();
        let broken = |fault: crate::wire::Fault| End::Lost(fault.to_string());
        if session_present && !ended.is_empty() {
            self.client.unsubscribe(now(), &ended).map_err(broken)?;
        }
        let is_v5 = bridge.speaks == Speaks::V5;
        let asked = lines.iter().map(|line| {
            let options = SubscriptionOptions {
                qos: line.qos,
                no_local: is_v5,
                retain_as_published: is_v5,
                retain_handling: if is_v5 {
                    RetainHandling::SendIfNew
                } else {
                    RetainHandling::Send
                },
            };
            (line.names.remote_filter().as_str(), options)
        });
        let asked: Vec<_> = asked.collect();
        if !asked.is_empty() {
            let none = PropertyList::default();
            self.asked = Some(
                self.client
                    .subscribe(now(), &asked, &none)
                    .map_err(broken)?,
            );
        }
        Ok(())
    }

    pub(super) fn subscribed(&mut self, codes: &[u8]) {
        self.asked = None;
        for (line, code) in self.bridge.plan.inward.iter().zip(codes) {
            let (filter, granted) = (line.names.remote_filter(), ReasonCode(*code));
            if granted.is_failure() {
                let sentence = format!("the other broker refuses `{filter}`: {granted}");
                self.bridge.told.warn(&sentence);
            } else if *code < line.qos.bits() {
                let wanted = line.qos.bits();
                let sentence =
                    format!("the other broker gives `{filter}` with QoS {code} and not {wanted}");
                self.bridge.told.warn(&sentence);
            }
        }
    }
}

/// A line as the bridge remembers what it subscribed to.
fn remembered(line: &Line) -> String {
    format!("{} {}", line.qos.bits(), line.names.remote_filter())
}
