//! CoAP: a request and its response a call, by datagrams, in the clear or by OSCORE, or on a connection.
//!
//! With more than one call under way NSTART is as many: a client that speaks for several devices.

use std::collections::BTreeMap;

use weir_coap::session::{CallId, Event};
use weir_coap::wire::{Code, Message, Number as OptionNumber, set_path};

use super::{Caller, Ended, Number, Service};
use weir_bench_model::clock::now_ns;
use weir_bench_peers::Traffic;
use weir_bench_peers::coap::{Coap, CoapOver};

/// A client that knows one server.
pub(super) struct Calls {
    coap: Coap,
    request: Message,
    calls: BTreeMap<CallId, Number>,
    wait_ns: u64,
}

impl Calls {
    pub(super) fn open(service: &Service<'_>, over: CoapOver, put: bool) -> Result<Self, String> {
        let mut own = Self {
            coap: Coap::open(&service.peer, over, service.depth as u16)?,
            request: request(service, put)?,
            calls: BTreeMap::new(),
            wait_ns: service.peer.wait.as_nanos() as u64,
        };
        if over == CoapOver::Secured {
            own.show_freshness()?;
        }
        Ok(own)
    }

    /// Asks for the resource, and again with what the server wants back, so that it believes what follows
    /// (RFC 8613 appendix B.1.2). Whether there is such a resource yet does not matter.
    fn show_freshness(&mut self) -> Result<(), String> {
        let mut ask = self.request.clone();
        ask.code = Code::GET;
        ask.options.remove(OptionNumber::URI_QUERY);
        self.coap.ask_fresh(ask)?;
        Ok(())
    }

    /// The end of a call, if an event is one.
    fn ended(&mut self, event: &Event<()>) -> Result<Option<Ended>, String> {
        match event {
            Event::Response(call, (), answer) => match self.calls.remove(call) {
                Some(number) => {
                    self.coap.check(answer)?;
                    Ok(Some(Ended::Answered(number, answer.payload.to_vec())))
                }
                None => Ok(None),
            },
            Event::Failed(call, _) => Ok(self.calls.remove(call).map(Ended::Lost)),
            _ => Ok(None),
        }
    }
}

impl Caller for Calls {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        if self.calls.is_empty() {
            self.coap.renew_port()?;
        }
        let request = self.request.clone().with_payload(message.to_vec());
        self.calls.insert(self.coap.request(request, true)?, number);
        Ok(self.coap.send_due()?)
    }

    fn next(&mut self) -> Result<Ended, String> {
        let end = now_ns() + self.wait_ns;
        while now_ns() < end {
            while let Some(event) = self.coap.next_event()? {
                if let Some(ended) = self.ended(&event)? {
                    return Ok(ended);
                }
            }
            self.coap.receive()?;
        }
        let first = self.calls.pop_first();
        let (call, number) = first.ok_or("no call is under way")?;
        self.coap.cancel(call);
        Ok(Ended::Lost(number))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.coap.traffic()?)
    }
}

/// A request without its payload.
fn request(service: &Service<'_>, put: bool) -> Result<Message, String> {
    let (path, number) = (service.path, service.coding.number());
    let mut message = Message::new(if put { Code::PUT } else { Code::POST });
    let options = &mut message.options;
    let set = set_path(options, OptionNumber::URI_PATH, path);
    set.map_err(|_| format!("`{path}` is no path"))?;
    match number {
        Some(number) => options.set_uint(OptionNumber::CONTENT_FORMAT, number),
        // Protobuf has no number among the Content-Formats; the gateway is told by the query.
        None if !put => options.push(OptionNumber::URI_QUERY, b"as=protobuf"),
        None => {}
    }
    Ok(message)
}
