//! Answers that still hold: what was read of `/live` is the same as long as the log's head is.
//!
//! What it deliberately does not do: let anybody read what it may not. Who asks is found out each time,
//! and an answer is for whom it was made. The decision worth arguing: nothing tells these answers that
//! they are old; each is held against the head when it is wanted, which costs less than the reading does.

use crate::wire::{Code, Message, Number};
use std::collections::HashMap;
use std::sync::Arc;
use weir_hub::{Grants, Principal};
use weir_model::Cursor;

/// Answers kept; beyond, all are forgotten.
const ANSWERS_MAX: usize = 1024;
/// Largest body kept, bytes.
const BODY_BYTES_MAX: usize = 1024;

/// Answers by the options of their requests.
#[derive(Default)]
pub(super) struct Known {
    answers: HashMap<Box<[u8]>, Answered>,
}

/// An answer.
struct Answered {
    head: Cursor,
    /// Kept, so that no other grants come to lie where these did.
    grants: Arc<Grants>,
    name: Arc<str>,
    service: &'static str,
    message: Message,
}

/// Says whether a request's answer depends on nothing but who asks, its options and the log.
// [RFC7252-5.5-1]
pub(super) fn may_be_known(request: &Message) -> bool {
    let mut path = request.options.all(Number::URI_PATH);
    request.code == Code::GET && path.next() == Some(b"live")
}

impl Known {
    /// The answer to this request, where it holds at this head, and which service gave it.
    pub(super) fn find(
        &self,
        request: &Message,
        principal: &Principal,
        head: Cursor,
    ) -> Option<(&'static str, Message)> {
        if !may_be_known(request) {
            // What is published with the options of a request that is known is no such request.
            return None;
        }
        let answered = self.answers.get(request.options.as_bytes())?;
        let holds = answered.head == head
            && Arc::ptr_eq(&answered.grants, &principal.grants)
            && answered.name == principal.name;
        holds.then(|| (answered.service, answered.message.clone()))
    }

    /// Keeps an answer that was read at this head or later.
    pub(super) fn keep(
        &mut self,
        request: &Message,
        principal: &Principal,
        head: Cursor,
        (service, message): (&'static str, Message),
    ) {
        if message.payload.len() > BODY_BYTES_MAX {
            return;
        }
        if self.answers.len() >= ANSWERS_MAX {
            self.answers.clear();
        }
        let answered = Answered {
            head,
            grants: principal.grants.clone(),
            name: principal.name.clone(),
            service,
            message,
        };
        let options = request.options.as_bytes();
        match self.answers.get_mut(options) {
            Some(known) => *known = answered,
            None => drop(self.answers.insert(options.into(), answered)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::set_path;

    fn get(path: &str) -> Message {
        let mut message = Message::new(Code::GET);
        set_path(&mut message.options, Number::URI_PATH, path).unwrap_or_default();
        message
    }

    #[test]
    fn an_answer_begins_with_for_whom_and_what_it_was_made() {
        let mut known = Known::default();
        let one = Principal::unrestricted();
        let other = Principal {
            grants: Arc::new(Grants::all()),
            ..one.clone()
        };
        let (head, later) = (Cursor::new(1, 1), Cursor::new(1, 2));
        let answer = Message::new(Code::CONTENT).with_payload("21.5");
        known.keep(&get("/live/a"), &one, head, ("live", answer.clone()));
        assert_eq!(
            known.find(&get("/live/a"), &one, head),
            Some(("live", answer))
        );
        assert_eq!(known.find(&get("/live/a"), &one, later), None);
        assert_eq!(known.find(&get("/live/a"), &other, head), None);
        assert_eq!(known.find(&get("/live/b"), &one, head), None);
        let post = Message {
            code: Code::POST,
            ..get("/live/a").with_payload("22.5")
        };
        assert_eq!(known.find(&post, &one, head), None, "it is published");
    }

    #[test]
    fn no_more_is_kept_than_is_allowed() {
        let mut known = Known::default();
        let (who, head) = (Principal::unrestricted(), Cursor::new(1, 1));
        let large = Message::new(Code::CONTENT).with_payload(vec![0; BODY_BYTES_MAX + 1]);
        known.keep(&get("/live/a"), &who, head, ("live", large));
        assert!(known.answers.is_empty());
        for number in 0..=ANSWERS_MAX {
            known.keep(
                &get(&format!("/live/{number}")),
                &who,
                head,
                ("live", Message::new(Code::CONTENT)),
            );
        }
        assert_eq!(known.answers.len(), 1);
    }

    #[test]
    fn what_is_published_or_not_live_is_asked_anew() {
        assert!(may_be_known(&get("/live/a")));
        assert!(!may_be_known(&get("/catalog/a")));
        assert!(
            may_be_known(&get("/live/a").with_payload("x")),
            "it means nothing"
        );
        let post = Message {
            code: Code::POST,
            ..get("/live/a")
        };
        assert!(!may_be_known(&post));
    }
}
