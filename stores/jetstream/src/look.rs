//! Whether the stream still has what was read of it.
//!
//! Servers that lose what they had acknowledged leave a stream that ends earlier, and goes on from there: its
//! sequences come to stand for other records. So both are looked at: where it ends, all the time, and, after
//! each new connection, whether the last record that was read is still the same. The mark of the stream is looked at,
//! too.

use crate::api::{self, Standing};
use crate::limits::LOOKS_SHORT_MAX;
use crate::mark::RecordsMark;
use crate::state::{Read, Shared};
use crate::wire::Message;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::{Arc, mpsc};
use std::task::Waker;
use std::time::Instant;
use weir_storage::LogFault;

/// An answer.
enum Seen {
    Standing(Standing),
    /// A record as the stream has it: its sequence, and its bytes in base64.
    Kept(u64, String),
}

impl Seen {
    fn of(answer: &Value) -> Option<Self> {
        let kept = &answer["message"];
        match kept["seq"].as_u64() {
            Some(sequence) => Some(Self::Kept(sequence, kept["data"].as_str()?.into())),
            None => api::standing(answer).map(Self::Standing).ok(),
        }
    }
}

/// Looks at the stream, of which one is under way at a time.
pub(crate) struct Looks<'a> {
    shared: &'a Shared,
    inbox: String,
    seen: mpsc::Receiver<Seen>,
    /// Sequence of the last record taken before the look that is under way.
    taken: u64,
    /// How many looks in a row have shown an end before that.
    short: u32,
    /// What was read last before the connection that is there now, until the stream shows that it has it.
    unproved: Vec<Read>,
}

impl<'a> Looks<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        let (answers, seen) = mpsc::channel();
        let (_, inbox) = shared.nats.inbox(Arc::new(move |message: Message| {
            let answer: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
            // Nobody looks any more at the end.
            let _ended = Seen::of(&answer).map(|it| answers.send(it));
        }));
        Self {
            shared,
            inbox,
            seen,
            taken: shared.head(),
            short: 0,
            unproved: Vec::new(),
        }
    }

    /// There is a new connection.
    pub(crate) fn connected(&mut self) {
        self.unproved = self.shared.state().newest.of_before();
        self.ask_for_records();
    }

    /// Asks how the stream stands.
    pub(crate) fn ask(&mut self) {
        // What is answered is compared with what was taken before it was asked.
        self.taken = self.shared.head();
        self.send("INFO", b"");
        self.ask_for_records();
    }

    fn ask_for_records(&self) {
        for (sequence, _) in &self.unproved {
            self.send("MSG.GET", json!({"seq": sequence}).to_string().as_bytes());
        }
    }

    fn send(&self, what: &str, body: &[u8]) {
        let subject = format!("$JS.API.STREAM.{what}.{}", self.shared.names.stream);
        let answer = format!("{}.a", self.inbox);
        self.shared.nats.send((&subject, &answer), &[], body);
    }

    /// Takes what was answered.
    pub(crate) fn take(&mut self) {
        while let Ok(seen) = self.seen.try_recv() {
            match seen {
                Seen::Standing(standing) => self.take_standing(&standing),
                Seen::Kept(sequence, bytes) => self.take_kept(sequence, &bytes),
            }
        }
    }

    fn take_standing(&mut self, standing: &Standing) {
        let shared = self.shared;
        shared.state().seen = Some(Instant::now());
        if let Err(later) = standing.mark.check(&shared.names.stream) {
            return shared.end(LogFault::Failed(later.to_string()));
        }
        // An earlier weir that started at the same time put its own in the place of this one's.
        if let RecordsMark::Earlier(marked) = &standing.mark {
            self.send("UPDATE", marked.to_string().as_bytes());
        }
        if standing.epoch == shared.epoch && standing.last >= self.taken {
            let mut state = shared.state();
            state.first = standing.first;
            let waiting = state.ends.note(standing.last);
            drop(state);
            waiting.into_iter().for_each(Waker::wake);
            self.short = 0;
            return;
        }
        self.short += 1;
        if self.short == LOOKS_SHORT_MAX {
            self.lost(&format!(
                "ends at {:x}-{:x}, and records up to {} were read of it",
                standing.epoch,
                standing.last,
                shared.cursor(self.taken),
            ));
        }
    }

    fn take_kept(&mut self, sequence: u64, bytes: &str) {
        let asked = self
            .unproved
            .iter()
            .position(|(asked, _)| *asked == sequence);
        let asked = asked.map(|at| self.unproved.swap_remove(at));
        if asked.is_some_and(|(_, read)| STANDARD.encode(read) != bytes) {
            let cursor = self.shared.cursor(sequence);
            self.lost(&format!(
                "has another record at {cursor} than was read there"
            ));
        }
    }

    /// Nothing more is taken of a stream that lost what was acknowledged, or told.
    fn lost(&self, shown: &str) {
        let lost = format!(
            "the stream {} {shown}: it was made anew, or its servers lost what they had \
             acknowledged",
            self.shared.names.stream
        );
        self.shared.end(LogFault::Failed(lost));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]
    use super::*;

    #[test]
    fn an_answer_is_a_record_or_how_the_stream_stands_or_nothing() {
        let kept = json!({"message": {"subject": "weir.a", "seq": 7, "data": "AAE="}});
        assert!(matches!(Seen::of(&kept), Some(Seen::Kept(7, data)) if data == "AAE="));
        let state = json!({"config": {"name": "weir"}, "state": {"first_seq": 2, "last_seq": 9}});
        assert!(matches!(Seen::of(&state), Some(Seen::Standing(it)) if it.last == 9));
        // A record that retention dropped, or a leader that is not there yet.
        let none =
            json!({"error": {"code": 404, "err_code": 10037, "description": "no message found"}});
        assert!(Seen::of(&none).is_none());
    }
}
