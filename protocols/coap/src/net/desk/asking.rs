//! What a request is asked of: CoAP's own resources, conditions, and services.

use super::super::translate::{call_of, message_of};
use super::super::{condition, discovery};
use super::Desk;
use crate::wire::{Code, Message, Number, path_of};
use weir_binding::{Answer, Call, Counted, Gathered, Response};
use weir_hub::Principal;

impl Desk {
    /// Resources that are CoAP's own.
    pub(super) fn own(&self, request: &Message, principal: &Principal) -> Option<Message> {
        let path = path_of(&request.options);
        if path == discovery::PATH {
            let mut links = discovery::links(&*self.shared.context, principal);
            if let Some(plugtest) = &self.shared.plugtest {
                links.extend(plugtest.links());
            }
            return Some(discovery::answer(request, &links));
        }
        (path == "/" && request.code == Code::GET).then(greeting)
    }

    /// The answer to a request whose condition does not hold.
    // [RFC7252-5.10.8-1]
    pub(super) fn unfulfilled(&self, request: &Message, principal: &Principal) -> Option<Message> {
        if !condition::is_made(&request.options) {
            return None;
        }
        let get = condition::reading(request);
        let found = match self.ask_service(&get, principal) {
            Ok((Answer::Now(response), _)) if response.status == 200 => {
                Some(message_of(&get, response))
            }
            _ => None,
        };
        let tag = |found: &Message| found.options.first(Number::ETAG).map(<[u8]>::to_vec);
        let tag = found.map(|found| tag(&found).unwrap_or_default());
        condition::check(&request.options, tag.as_deref()).err()
    }

    pub(super) fn ask_service(
        &self,
        request: &Message,
        principal: &Principal,
    ) -> Result<(Answer, &'static str), Message> {
        let call = call_of(request, principal.clone(), &*self.shared.context)?;
        self.call_service(call)
    }

    pub(super) fn call_service(&self, call: Call) -> Result<(Answer, &'static str), Message> {
        let Some(service) = self.shared.context.service(&call.path) else {
            let reason = format!("nothing is served at {}: try /live or /catalog", call.path);
            return Err(Message::diagnostic(Code::NOT_FOUND, &reason));
        };
        let (path, pages) = (call.path.clone(), service.mounts().contains(&"/"));
        match service.call(call) {
            Answer::Now(response) if pages && matches!(response.status, 404 | 405) => {
                let reason = format!("no resource `{path}`: a topic is at /live{path}");
                Err(Message::diagnostic(Code::NOT_FOUND, &reason))
            }
            // Blocks are cut from a whole body.
            Answer::Pieces(pieces) => {
                let memory = self.shared.context.hub().answers().clone();
                let gathered = Gathered::new(pieces, self.shared.limits().body_bytes, memory);
                Ok((Answer::Later(Box::new(gathered)), service.name()))
            }
            Answer::Now(response) => {
                let response = response.counted(self.shared.context.hub().answers());
                Ok((Answer::Now(response), service.name()))
            }
            answer => Ok((answer, service.name())),
        }
    }

    pub(super) fn note(&self, request: &Message, service: &'static str, response: &Response) {
        let published = matches!(request.code, Code::POST | Code::PUT) && response.status == 204;
        if published && path_of(&request.options).starts_with("/live/") {
            self.tally.receive(1);
        }
        self.shared.context.answered(service, response.status);
    }
}

/// What answers who asks for nothing.
fn greeting() -> Message {
    let text =
        "weir: GET /.well-known/core lists what there is; observe /live/{topic}, POST to publish";
    let mut message = Message::new(Code::CONTENT).with_payload(text);
    message.options.push_uint(Number::CONTENT_FORMAT, 0);
    message
}
