//! CoAP: a request and its response a call, by datagrams, in the clear or by OSCORE, or on a connection.
//!
//! With more than one call under way NSTART is as many: a client that speaks for several devices.

use std::collections::BTreeMap;

use weir_coap::session::{CallId, Event};
use weir_coap::wire::{Code, Message, Number as OptionNumber, set_path};

use super::{Caller, Ended, Number, Service};
use weir_bench_load::datagrams::{challenge, refusal};
use weir_bench_model::clock::now_ns;
use weir_bench_peers::Traffic;
use weir_bench_peers::coap::{Carrier, CoapOver};

/// A client that knows one server.
pub(super) struct Coap {
    carrier: Carrier,
    request: Message,
    calls: BTreeMap<CallId, Number>,
    wait_ns: u64,
}

impl Coap {
    pub(super) fn open(service: &Service<'_>, over: CoapOver, put: bool) -> Result<Self, String> {
        let mut coap = Self {
            carrier: Carrier::open(&service.peer, over, service.depth as u16)?,
            request: request(service, put)?,
            calls: BTreeMap::new(),
            wait_ns: service.peer.wait.as_nanos() as u64,
        };
        if over == CoapOver::Secured {
            coap.show_freshness()?;
        }
        Ok(coap)
    }

    /// Asks for the resource, and again with what the server wants back, so that it believes what follows
    /// (RFC 8613 appendix B.1.2). Whether there is such a resource yet does not matter.
    fn show_freshness(&mut self) -> Result<(), String> {
        let mut ask = self.request.clone();
        ask.code = Code::GET;
        ask.options.remove(OptionNumber::URI_QUERY);
        if let Some(echo) = challenge(&self.asked(ask.clone())?) {
            ask.options.push(OptionNumber::ECHO, &echo);
            if challenge(&self.asked(ask)?).is_some() {
                return Err("the server does not believe that the client is fresh".into());
            }
        }
        Ok(())
    }

    fn asked(&mut self, message: Message) -> Result<Message, String> {
        let wanted = self.carrier.request(message, true);
        let wanted = wanted.ok_or("too many requests are under way")?;
        let end = now_ns() + self.wait_ns;
        while now_ns() < end {
            while let Some(event) = self.carrier.next_event()? {
                match event {
                    Event::Response(call, (), answer) if call == wanted => return Ok(answer),
                    Event::Failed(call, failure) if call == wanted => {
                        return Err(failure.to_string());
                    }
                    _ => {}
                }
            }
            self.carrier.receive()?;
        }
        Err("no response in time".into())
    }

    /// The end of a call, if an event is one.
    fn ended(&mut self, event: &Event<()>) -> Result<Option<Ended>, String> {
        match event {
            Event::Response(call, (), answer) => match self.calls.remove(call) {
                Some(number) => {
                    check(answer)?;
                    Ok(Some(Ended::Answered(number, answer.payload.to_vec())))
                }
                None => Ok(None),
            },
            Event::Failed(call, _) => Ok(self.calls.remove(call).map(Ended::Lost)),
            _ => Ok(None),
        }
    }
}

impl Caller for Coap {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        if self.calls.is_empty() {
            self.carrier.renew_port()?;
        }
        let request = self.request.clone().with_payload(message.to_vec());
        let call = self.carrier.request(request, true);
        self.calls
            .insert(call.ok_or("too many requests are under way")?, number);
        Ok(self.carrier.send_due()?)
    }

    fn next(&mut self) -> Result<Ended, String> {
        let end = now_ns() + self.wait_ns;
        while now_ns() < end {
            while let Some(event) = self.carrier.next_event()? {
                if let Some(ended) = self.ended(&event)? {
                    return Ok(ended);
                }
            }
            self.carrier.receive()?;
        }
        let first = self.calls.pop_first();
        let (call, number) = first.ok_or("no call is under way")?;
        self.carrier.cancel(call);
        Ok(Ended::Lost(number))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.carrier.traffic()?)
    }
}

/// Whether an answer was a success; an error is what the server says instead.
fn check(answer: &Message) -> Result<(), String> {
    refusal(answer).map_or(Ok(()), |said| Err(format!("answered {said}")))
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
