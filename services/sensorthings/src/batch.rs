//! `POST /$batch`: many requests in one (18-088 section 11), as `multipart/mixed` or as JSON (OData JSON
//! format 4.01 section 19).
//!
//! The requests are done one after another, each as if it had come alone; those of a change set or an
//! atomicity group are drafted together and done all or none. What a request made is known to those after
//! it as `$` and its Content-ID. The decision worth arguing: after the first that fails nothing more is
//! done, unless the client prefers `continue-on-error` (OData 4.01 section 11.4.1.4).

mod json;
mod multipart;
mod reference;
mod set;
mod step;
mod written;

use crate::fault::{Fault, Result};
use crate::limits::BATCH_BYTES_MAX;
use crate::service::SensorThings;
use reference::Places;
pub(crate) use reference::is_batch;
use std::collections::VecDeque;
use std::task::{Context, Poll, ready};
use step::{Asked, Done, Step};
use weir_hub::Ticket;
use weir_service::{
    Answer, Busy, Call, Counted, Gathered, Length, Outcome, Pending, Response, Service, hand_over,
    hand_over_next,
};

/// Reads a batch and begins it.
// [STA-A.4.1.1-1]
pub(crate) fn answer(service: &SensorThings, call: Call) -> Result<Answer> {
    let declared = call.header("content-type").unwrap_or_default();
    let (media, _) = declared.split_once(';').unwrap_or((declared, ""));
    let form = match &*media.trim().to_ascii_lowercase() {
        "multipart/mixed" => Form::Multipart,
        "application/json" => Form::Json,
        other => {
            let problem = format!("a batch is multipart/mixed or application/json, not `{other}`");
            return Err(Fault::new(415, problem));
        }
    };
    let (declared, body) = (declared.to_owned(), call.body.clone());
    let read = move || match form {
        Form::Multipart => multipart::read(&declared, &body),
        Form::Json => json::read(&body),
    };
    let reading = hand_over(&*call.workers, Length::Short, read).map_err(|Busy| busy())?;
    Ok(Answer::Later(Box::new(Run {
        goes_on: prefers_to_go_on(&call),
        service: service.clone(),
        call,
        reading: Some(reading),
        writing: None,
        steps: VecDeque::new(),
        under_way: None,
        done: Vec::new(),
        bytes: 0,
        places: Places::default(),
        form,
    })))
}

fn busy() -> Fault {
    Fault::new(503, "too many questions wait: try again")
}

/// `Prefer: continue-on-error`, also with the prefix of OData 4.0.
fn prefers_to_go_on(call: &Call) -> bool {
    let prefer = call.header("prefer").unwrap_or_default();
    prefer.split([',', ';']).any(|said| {
        let said = said.trim();
        let said = said.strip_prefix("odata.").unwrap_or(said);
        matches!(said, "continue-on-error" | "continue-on-error=true")
    })
}

#[derive(Clone, Copy)]
enum Form {
    Multipart,
    Json,
}

/// A batch on its way.
struct Run {
    service: SensorThings,
    /// The batch itself, whose principal and address its requests share.
    call: Call,
    /// Long batches are read and answered where nobody's messages wait.
    reading: Option<Outcome<Result<Vec<Step>>>>,
    writing: Option<Outcome<Response>>,
    steps: VecDeque<Step>,
    under_way: Option<(Step, UnderWay)>,
    done: Vec<Done>,
    /// Bytes of their bodies.
    bytes: usize,
    places: Places,
    goes_on: bool,
    form: Form,
}

enum Begun {
    Done(Vec<Response>),
    UnderWay(UnderWay),
}

enum UnderWay {
    One(Box<dyn Pending>),
    Set(Outcome<set::Drafted>),
    /// A set that is done once it is on disk.
    Disk(Ticket, Vec<Response>),
}

impl Pending for Run {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        if let Some(reading) = &mut self.reading {
            match ready!(reading.poll(cx)).unwrap_or_else(|| Err(broken_off())) {
                Ok(steps) => self.steps = steps.into(),
                Err(fault) => return Poll::Ready(fault.response()),
            }
            self.reading = None;
        }
        if self.writing.is_none() {
            ready!(self.run(cx));
            let (done, form) = (std::mem::take(&mut self.done), self.form);
            let memory = self.call.workers.memory().clone();
            let written = move || {
                let written = match form {
                    Form::Multipart => written::multipart(&done),
                    Form::Json => written::json(&done),
                };
                written.counted(&memory)
            };
            // Much was done: however many wait, that is told.
            match hand_over_next(&*self.call.workers, written) {
                Ok(outcome) => self.writing = Some(outcome),
                Err(Busy) => return Poll::Ready(broken_off().response()),
            }
        }
        let Some(writing) = &mut self.writing else {
            return Poll::Pending;
        };
        let written = ready!(writing.poll(cx));
        Poll::Ready(written.unwrap_or_else(|| broken_off().response()))
    }
}

fn broken_off() -> Fault {
    Fault::new(500, "the work broke off; the gateway's log says why")
}

impl Run {
    /// Does one step after the other.
    fn run(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some((step, mut at)) = self.under_way.take() {
                match self.go_on(&mut at, cx) {
                    Poll::Pending => {
                        self.under_way = Some((step, at));
                        return Poll::Pending;
                    }
                    Poll::Ready(None) => self.under_way = Some((step, at)),
                    Poll::Ready(Some(responses)) => self.note(step, responses),
                }
                continue;
            }
            match self.steps.pop_front() {
                Some(step) => self.begin(step),
                None => return Poll::Ready(()),
            }
        }
    }

    /// One turn of what is under way: the answers, or nothing where it went on to wait for the disk.
    fn go_on(&mut self, at: &mut UnderWay, cx: &mut Context<'_>) -> Poll<Option<Vec<Response>>> {
        let broken = || (vec![broken_off().response()], None);
        Poll::Ready(Some(match at {
            UnderWay::One(pending) => vec![ready!(pending.poll(cx))],
            UnderWay::Set(outcome) => match ready!(outcome.poll(cx)).unwrap_or_else(broken) {
                (responses, Some(ticket)) => {
                    *at = UnderWay::Disk(ticket, responses);
                    return Poll::Ready(None);
                }
                (responses, None) => responses,
            },
            UnderWay::Disk(ticket, responses) => match ready!(ticket.poll(cx)) {
                Ok(_) => std::mem::take(responses),
                Err(fault) => vec![Fault::from(fault).response(); responses.len()],
            },
        }))
    }

    fn begin(&mut self, step: Step) {
        if let Some(refused) = self.refused(&step) {
            return self.end(step, &refused);
        }
        let begun = match &step {
            Step::One(asked) => self.one(asked),
            Step::Set(all) => self.set(all),
        };
        match begun {
            Ok(Begun::Done(responses)) => self.note(step, responses),
            Ok(Begun::UnderWay(at)) => self.under_way = Some((step, at)),
            Err(fault) => self.end(step, &fault),
        }
    }

    fn one(&self, asked: &Asked) -> Result<Begun> {
        let call = self.places.call(asked, &self.call)?;
        match self.service.call(call) {
            Answer::Now(response) => Ok(Begun::Done(vec![response])),
            Answer::Later(pending) => Ok(Begun::UnderWay(UnderWay::One(pending))),
            Answer::Pieces(pieces) => {
                let memory = self.call.workers.memory().clone();
                let gathered = Gathered::new(pieces, BATCH_BYTES_MAX, memory);
                Ok(Begun::UnderWay(UnderWay::One(Box::new(gathered))))
            }
            Answer::Stream(_) | Answer::Socket(_) => {
                Err(Fault::bad("a request of a batch has one answer"))
            }
        }
    }

    fn set(&self, all: &[Asked]) -> Result<Begun> {
        let work = set::work(&self.service, &self.call, all, &self.places);
        let outcome = hand_over(&*self.call.workers, Length::Short, work);
        Ok(Begun::UnderWay(UnderWay::Set(
            outcome.map_err(|Busy| busy())?,
        )))
    }

    fn end(&mut self, step: Step, fault: &Fault) {
        let responses = vec![fault.response(); step.asked().len()];
        self.note(step, responses);
    }

    /// Why a step is not begun at all.
    fn refused(&self, step: &Step) -> Option<Fault> {
        let failed = |name: &String| self.done.iter().find_map(|done| done.failure_of(name));
        let mut needed = step.asked().iter().flat_map(|asked| &asked.depends_on);
        let found = needed.find_map(|name| failed(name).map(|status| (name, status)));
        found.map(|(name, status)| {
            Fault::new(
                424,
                format!("`{name}`, on which it depends, ended with {status}"),
            )
        })
    }

    fn note(&mut self, step: Step, mut responses: Vec<Response>) {
        responses
            .iter_mut()
            .for_each(|response| self.keep(response));
        let failed = responses.iter().any(|response| response.status >= 400);
        for (asked, response) in step.asked().iter().zip(&responses) {
            self.places.note(asked, response);
        }
        self.done.push(Done { step, responses });
        if failed && !self.goes_on {
            self.steps.clear();
        }
    }

    /// What was read is told as far as there is room for it.
    fn keep(&mut self, response: &mut Response) {
        let bytes = self.bytes + response.body.len();
        if bytes > BATCH_BYTES_MAX && response.status == 200 {
            let problem =
                format!("the answers of a batch end at {BATCH_BYTES_MAX} bytes: ask alone");
            *response = Fault::new(413, problem).response();
        }
        self.bytes += response.body.len();
    }
}
