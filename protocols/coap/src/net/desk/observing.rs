//! How what a request reads is watched, where it is observed.

use super::super::translate::call_of;
use super::super::watch::{Changes, Key, Watching, beginning, is_of_messages};
use super::{Asked, Desk, watch_of};
use crate::wire::Message;
use weir_binding::Answer;
use weir_hub::Principal;

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

    /// The changes of what a request reads, where they are told.
    pub(super) fn changes(&self, request: &Message, principal: &Principal) -> Option<Changes> {
        let mut call = call_of(request, principal.clone(), &*self.shared.context).ok()?;
        let by_message = call.query.iter().any(|(name, _)| is_of_messages(name));
        for (name, value) in [("stream", ""), ("bare", ""), ("policy", "conflate")] {
            if call.query(name).is_none() {
                call.query.push((name.to_owned(), value.to_owned()));
            }
        }
        call.query
            .retain(|(name, _)| name != "wait" && (by_message || name != "since"));
        let Ok((Answer::Stream(stream), _)) = self.call_service(call) else {
            return None;
        };
        let media = stream.head.headers.iter();
        let media = media.filter(|(name, _)| *name == "content-type");
        let format = media
            .filter_map(|(_, media)| weir_codec::by_media(media))
            .next();
        let delivery = Box::new(stream.delivery);
        Some(match by_message {
            false => Changes::Live(delivery),
            true => Changes::Messages(delivery, format.is_some_and(|format| format.text)),
        })
    }
}
