//! Requests over HTTP: which endpoint they are for, and which action of it.

use crate::discovery::answer;
use crate::discovery::message::{Asked, Question, Said, body};
use crate::eventing::{MANAGER, requests};
use crate::limits::{AT_ONCE_BYTES, ENVELOPE_BYTES_MAX};
use crate::message::{Fault, Message};
use crate::metadata::{self, HOSTED, Wanted};
use crate::names::{EVENTING, EXCHANGE, TRANSFER};
use crate::{House, PATH};
use std::sync::Arc;
use weir_binding::{Answer, Call, Next, Response, answer_then};
use weir_codec::document::addressing::Properties;
use weir_codec::document::{read_xml, write_escaped};

const WSDL: &str = include_str!("../wsdl/device.wsdl");
/// Where the operations are that the hosted service has too.
const OPERATIONS: &str = "/soap/observations";

impl House {
    /// What is long to read is read off the network's threads.
    pub(crate) fn answered(self: &Arc<Self>, call: Call) -> Answer {
        if (AT_ONCE_BYTES..=ENVELOPE_BYTES_MAX).contains(&call.body.len()) {
            let (own, workers) = (self.clone(), call.workers.clone());
            return answer_then(&*workers, move || match own.answered_here(call) {
                Answer::Now(response) => Next::Answer(response),
                Answer::Later(pending) => Next::Wait(pending),
                _ => Next::Answer(Response::text(500, "no whole answer")),
            });
        }
        self.answered_here(call)
    }

    fn answered_here(&self, call: Call) -> Answer {
        let asks_wsdl = call.query("wsdl").is_some() || call.query("WSDL").is_some();
        let below = call.path.strip_prefix(MANAGER);
        let manages = below.is_some_and(|id| id.starts_with('/'));
        match (call.method.as_str(), call.path.as_str()) {
            ("GET", HOSTED) if asks_wsdl => Answer::Now(wsdl(&call)),
            ("POST", PATH) => self.asked(&call, Self::device_asked),
            ("POST", HOSTED) if self.is_operation(&call) => self.operated(call),
            ("POST", HOSTED) => self.asked(&call, Self::hosted_asked),
            ("POST", _) if manages => self.asked(&call, |own, call, message| {
                requests::manage(&own.subscriptions, call, message)
            }),
            (_, PATH | HOSTED) => {
                let sentence = "POST an envelope of SOAP 1.2 here";
                Answer::Now(Response::text(405, sentence).header("allow", "POST"))
            }
            (_, other) => Answer::Now(Response::text(404, format!("no resource `{other}`"))),
        }
    }

    fn asked(
        &self,
        call: &Call,
        run: impl Fn(&Self, &Call, &Message) -> Result<Response, Fault>,
    ) -> Answer {
        Answer::Now(match Message::read(call) {
            Err(refused) => *refused,
            Ok(message) => {
                run(self, call, &message).unwrap_or_else(|fault| message.form.fault(&fault))
            }
        })
    }

    /// What is asked of the device: its metadata, and whether it is the one (a directed probe, WS-Discovery
    /// 1.1 section 5.2, DPWS 1.1 section 3.1).
    fn device_asked(&self, call: &Call, message: &Message) -> Result<Response, Fault> {
        let (device, form) = (self.device(call.now), &message.form);
        if message.action_of(TRANSFER) == Some("Get") {
            let (base, all) = (call.origin_or_local(), Wanted::default());
            let sections = metadata::of_device(&device, form.generation, &base, &all);
            return Ok(form.answer(&format!("{TRANSFER}/GetResponse"), &sections));
        }
        if message.action_of(EXCHANGE) == Some("GetMetadata/Request") {
            let (base, wanted) = (call.origin_or_local(), Wanted::of(message.body.as_ref()));
            let sections = metadata::of_device(&device, form.generation, &base, &wanted);
            return Ok(form.answer(&format!("{EXCHANGE}/GetMetadata/Response"), &sections));
        }
        let Ok(question) = Question::of(&message.envelope) else {
            return Err(message.unknown());
        };
        let generation = question.generation;
        if let Asked::Probe { rule: None, .. } = question.asked {
            let reason = "the scopes' matching rule is not known here";
            let fault = Fault::named("MatchingRuleNotSupported", generation.discovery, reason);
            return Err(fault.by(format!("{}/fault", generation.discovery)));
        }
        let (said, found) = match (&question.asked, answer(&device, &question.asked)) {
            (_, Some(said)) => (said, true),
            (Asked::Probe { .. }, None) => (Said::ProbeMatches, false),
            (Asked::Resolve(_), None) => (Said::ResolveMatches, false),
        };
        let action = format!("{}/{}", generation.discovery, said.name());
        let reached = vec![format!("{}{PATH}", call.origin_or_local())];
        let device = found.then_some(&*device);
        Ok(form.answer(&action, &body(said, generation, device, &reached)))
    }

    fn hosted_asked(&self, call: &Call, message: &Message) -> Result<Response, Fault> {
        let form = &message.form;
        if message.action_of(EXCHANGE) == Some("GetMetadata/Request") {
            let device = self.device(call.now);
            let (base, wanted) = (call.origin_or_local(), Wanted::of(message.body.as_ref()));
            let sections = metadata::of_hosted(&device, form.generation, &base, &wanted);
            return Ok(form.answer(&format!("{EXCHANGE}/GetMetadata/Response"), &sections));
        }
        if message.action_of(EVENTING) != Some("Subscribe") {
            return Err(message.unknown());
        }
        let desk = requests::Desk {
            hub: &self.hub,
            subscriptions: &self.subscriptions,
            sinks: &self.settings.sinks,
            base: &call.origin_or_local(),
        };
        requests::subscribe(&desk, call, message)
    }

    /// Says whether an envelope is for the plain web service: its actions are none of the profile's, or it is
    /// longer than theirs may be. It answers for itself what is no envelope.
    fn is_operation(&self, call: &Call) -> bool {
        if call.body.len() > ENVELOPE_BYTES_MAX {
            return true;
        }
        let of_profile = |action: &str| {
            let known = [TRANSFER, EXCHANGE, EVENTING];
            known.iter().any(|uri| action.starts_with(uri))
        };
        let Ok(envelope) = read_xml(&call.body) else {
            return true;
        };
        let action = Properties::of(&envelope).action;
        !action.as_deref().is_some_and(of_profile)
    }

    fn operated(&self, mut call: Call) -> Answer {
        call.path = OPERATIONS.into();
        self.operations.call(call)
    }
}

fn wsdl(call: &Call) -> Response {
    let mut escaped = String::new();
    write_escaped(&call.origin_or_local(), &mut escaped);
    let text = WSDL.replace("@BASE@", &escaped);
    Response::with_body(200, "text/xml; charset=utf-8", text)
}
