//! CoAP: a request and its response, or a change and its notification.

use weir_coap::session::{CallId, Event};
use weir_coap::wire::{Code, Message, Number};

use super::{Device, Times};
use crate::coap::Coap;
use crate::device::job::{CoapOver, CoapWay, Method};
use crate::sockets::{Peer, Traffic};
use weir_bench_model::clock::now_ns;

/// A client's endpoint that knows one server.
pub(super) struct Echo {
    coap: Coap,
    wait_ns: u64,
    confirmable: bool,
    path: String,
    format: Option<u32>,
    way: CoapWay,
    observation: Option<CallId>,
}

/// What an exchange still waits for.
struct Waiting<'a> {
    call: CallId,
    payload: &'a [u8],
    response_ns: Option<u64>,
    echo_ns: Option<u64>,
}

impl Echo {
    pub(super) fn open(
        peer: &Peer,
        over: CoapOver,
        (path, format): (&str, Option<u32>),
        way: &CoapWay,
    ) -> Result<Self, String> {
        Ok(Self {
            coap: Coap::open(peer, over, 1)?,
            wait_ns: peer.wait.as_nanos() as u64,
            confirmable: matches!(over, CoapOver::Confirmable | CoapOver::Secured),
            path: path.into(),
            format,
            way: way.clone(),
            observation: None,
        })
    }

    fn message(&self, method: Method, payload: &[u8]) -> Message {
        let mut message = Message::new(method.code());
        for segment in self.path.split('/') {
            message.options.push(Number::URI_PATH, segment.as_bytes());
        }
        if let Some(format) = self.format {
            message.options.push_uint(method.names_format_by(), format);
        }
        message.with_payload(payload.to_vec())
    }

    /// Gives the resource a representation, and observes it.
    fn set_up(&mut self, payload: &[u8]) -> Result<(), String> {
        let change = match &self.way {
            CoapWay::Answer { prepare, .. } => *prepare,
            CoapWay::Observation { change } => Some(*change),
        };
        if let Some(method) = change {
            let answer = self.coap.ask_fresh(self.message(method, payload))?;
            self.coap.check(&answer)?;
        }
        if let CoapWay::Observation { .. } = self.way {
            let mut message = self.message(Method::Get, &[]);
            message.options.push_uint(Number::OBSERVE, 0);
            let (call, answer) = self.coap.ask(message)?;
            if answer.options.uint(Number::OBSERVE).is_none() {
                return Err("the resource cannot be observed".into());
            }
            self.observation = Some(call);
        }
        Ok(())
    }

    /// Takes an event; says whether the exchange failed.
    fn take(&self, event: Event<()>, waiting: &mut Waiting<'_>) -> Result<bool, String> {
        match event {
            Event::Response(call, (), message) if call == waiting.call => {
                self.coap.check(&message)?;
                waiting.response_ns = Some(now_ns());
                if let CoapWay::Answer { .. } = self.way {
                    if message.payload.len() != waiting.payload.len() {
                        let length = message.payload.len();
                        return Err(format!("the response carries {length} bytes"));
                    }
                    waiting.echo_ns = waiting.response_ns;
                }
            }
            Event::Notification(call, message) | Event::Response(call, (), message)
                if Some(call) == self.observation && message.payload == waiting.payload =>
            {
                waiting.echo_ns = Some(now_ns());
            }
            Event::Failed(call, _) => {
                return Ok(call == waiting.call || Some(call) == self.observation);
            }
            _ => {}
        }
        Ok(false)
    }
}

impl Device for Echo {
    fn prepare(&mut self, payload: &[u8]) -> Result<(), String> {
        self.set_up(payload)
    }

    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        let method = match &self.way {
            CoapWay::Answer { ask, .. } => *ask,
            CoapWay::Observation { change } => *change,
        };
        let message = self.message(method, payload);
        let mut waiting = Waiting {
            call: self.coap.request(message, self.confirmable)?,
            payload,
            response_ns: None,
            echo_ns: None,
        };
        let end = now_ns() + self.wait_ns;
        while now_ns() < end {
            while let Some(event) = self.coap.next_event()? {
                if self.take(event, &mut waiting)? {
                    return Ok(None);
                }
            }
            if let (Some(echo_ns), Some(response_ns)) = (waiting.echo_ns, waiting.response_ns) {
                let settled_ns = echo_ns.max(response_ns);
                return Ok(Some(Times {
                    echo_ns,
                    settled_ns,
                }));
            }
            self.coap.receive()?;
        }
        self.coap.cancel(waiting.call);
        Ok(None)
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.coap.traffic()?)
    }

    fn close(&mut self) {
        if let Some(observation) = self.observation.take() {
            self.coap.cancel(observation);
            // The server may be gone already.
            let _ = self.coap.next_event();
        }
    }
}

impl Method {
    fn code(self) -> Code {
        match self {
            Self::Get => Code::GET,
            Self::Post => Code::POST,
            Self::Put => Code::PUT,
        }
    }

    /// What is sent has a Content-Format, what is asked for an Accept (RFC 7252 section 5.10).
    fn names_format_by(self) -> Number {
        match self {
            Self::Get => Number::ACCEPT,
            Self::Post | Self::Put => Number::CONTENT_FORMAT,
        }
    }
}
