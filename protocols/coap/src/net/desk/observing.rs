//! How what a request reads is watched, where it is observed.

use super::super::translate::{call_of, message_of};
use super::super::watch::{Changes, Key, Watching, beginning, is_of_messages, resumed_at};
use super::{Asked, Desk, Machine, watch_of};
use crate::wire::{Code, Message};
use weir_binding::{Answer, Response};
use weir_hub::Principal;
use weir_sansio::Instant;

impl Desk {
    pub(super) fn watch_plugtest(&self, asked: &Asked, version: u64) -> Watching {
        let key = Key::of(&asked.message, None);
        match key.filter(|key| self.sources.contains_key(key)) {
            Some(key) => Watching::Shared(key),
            None => Watching::Own(Key::of(&asked.message, None), Changes::Plugtest(version)),
        }
    }

    /// How what a request reads can be watched.
    pub(super) fn watching(&self, request: &Message, principal: &Principal) -> Option<Watching> {
        let key = Key::of(request, Some(principal));
        match key {
            Some(key) if self.sources.contains_key(&key) => Some(Watching::Shared(key)),
            key => {
                let changes = self.changes(request, principal)?;
                Some(Watching::Own(key, changes))
            }
        }
    }

    /// The answer to who is told messages as they come: where they begin.
    pub(super) fn beginning(&self, watching: Option<&Watching>) -> Option<Message> {
        let changes = match watching? {
            Watching::Own(_, changes) => changes,
            Watching::Shared(key) => {
                let number = self.sources.get(key)?;
                &watch_of(&self.waiting, *number)?.changes
            }
        };
        match changes {
            Changes::Messages(delivery, _) => Some(beginning(delivery)),
            _ => None,
        }
    }

    /// Answers with what a service said, and goes on to watch what it is observed for.
    pub(super) fn conclude(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        mut asked: Asked,
        response: Response,
        principal: Principal,
    ) {
        if asked.resumes {
            asked.watching = self.resumed(&asked.message, &response, &principal);
        }
        // What is not published yet is observed as what is empty: RFC 7641 section 4.1 leaves it open.
        let message = if asked.watching.is_some() && response.status == 404 {
            Message::new(Code::CONTENT)
        } else {
            message_of(&asked.message, response)
        };
        self.answered(machine, now, asked, message, Some(principal));
    }

    /// How a request is watched from where the answer to what it missed ends; not yet, where more was
    /// missed than one answer holds: who asks again with its tag misses nothing.
    fn resumed(
        &self,
        request: &Message,
        response: &Response,
        principal: &Principal,
    ) -> Option<Watching> {
        let header = |wanted| {
            let mut headers = response.headers.iter();
            headers.find(|(name, _)| *name == wanted)
        };
        if !matches!(response.status, 200 | 204) || header("weir-more").is_some() {
            return None;
        }
        let (_, cursor) = header("weir-cursor")?;
        let changes = self.changes(&resumed_at(request, cursor), principal)?;
        Some(Watching::Own(None, changes))
    }

    /// The changes of what a request reads, where they are told.
    pub(super) fn changes(&self, request: &Message, principal: &Principal) -> Option<Changes> {
        let mut call = call_of(request, principal.clone(), &*self.shared.context).ok()?;
        let by_message = call.query.iter().any(|(name, _)| is_of_messages(name));
        for (name, value) in [("stream", ""), ("bare", ""), ("policy", "conflate")] {
            if call.query(name).is_none() {
                call.query.push((name.to_owned(), value.to_owned()));
            }
        }
        call.query.retain(|(name, _)| name != "wait");
        let Ok((Answer::Stream(stream), _)) = self.call_service(call) else {
            return None;
        };
        let media = stream.head.headers.iter();
        let media = media.filter(|(name, _)| *name == "content-type");
        let format = media
            .filter_map(|(_, media)| weir_codec::by_media(media))
            .next();
        let delivery = Box::new(stream.delivery);
        Some(if by_message {
            Changes::Messages(delivery, format.is_some_and(|format| format.text))
        } else {
            Changes::Live(delivery)
        })
    }
}
