//! Observations as the body of an answer: whole where they are few or cannot be sent before they are whole,
//! else piece by piece.
//!
//! The decision worth arguing: an answer is not begun before it has enough to send, however much is read for that, so
//! that what would cost too much is still refused with an exception. Meanwhile each page is a job by itself.

use crate::bindings::Form;
use crate::exception::Exception;
use crate::limits::{BEGUN_BYTES, BEGUN_PARTS};
use crate::observed::Observed;
use crate::params::Version;
use crate::room::{Room, too_costly};
use bytes::Bytes;
use weir_codec::document::write_escaped;
use weir_service::{BrokenOff, Opened, Response, Source};

/// How far an answer is.
pub(crate) enum Progress {
    /// It is whole, or begun.
    Opened(Opened),
    /// More is to be read before it can begin.
    Unfinished(Box<Unfinished>),
}

/// An answer that is not begun yet.
pub(crate) struct Unfinished {
    form: Form,
    name: String,
    version: Version,
    media: &'static str,
    bare: bool,
    body: Vec<u8>,
    rest: Rest,
}

/// The answer that observations are.
pub(crate) fn written(
    form: &Form,
    name: &str,
    version: Version,
    observed: Observed,
    room: &mut Room,
) -> Result<Progress, Exception> {
    let bare = observed.is_text() && form.is_bare();
    let (head, tail) = if bare {
        Default::default()
    } else {
        form.around(observed.action())
    };
    let unfinished = Unfinished {
        form: form.clone(),
        name: name.to_owned(),
        version,
        media: if bare { observed.media() } else { form.media() },
        bare,
        body: head.into_bytes(),
        rest: Rest {
            escapes: observed.is_text() && !bare,
            unwanted_max: room.unwanted,
            observed,
            tail: Some(tail),
        },
    };
    if bare || form.streams() {
        unfinished.begin(BEGUN_PARTS)
    } else {
        unfinished.finish(room).map(Progress::Opened)
    }
}

impl Unfinished {
    /// Reads another page towards the beginning; what is refused is the answer.
    pub(crate) fn go_on(self) -> Progress {
        let (form, name, version) = (self.form.clone(), self.name.clone(), self.version);
        let refused = |exception| Opened::Whole(form.exception(&name, version, &exception));
        let begun = self.begin(1);
        begun.unwrap_or_else(|exception| Progress::Opened(refused(exception)))
    }

    /// Reads at most so many parts.
    fn begin(mut self, parts: usize) -> Result<Progress, Exception> {
        for _ in 0..parts {
            let Some(part) = self.rest.part()? else {
                return self.whole().map(Progress::Opened);
            };
            self.take(part);
            if self.body.len() >= BEGUN_BYTES {
                let head = Response::with_body(200, self.media, self.body);
                let head = head.header("vary", "accept");
                let opened = Opened::Begun(head, Box::new(self.rest));
                return Ok(Progress::Opened(opened));
            }
        }
        Ok(Progress::Unfinished(Box::new(self)))
    }

    /// Reads all, as far as there is room.
    fn finish(mut self, room: &mut Room) -> Result<Opened, Exception> {
        while let Some(part) = self.rest.part()? {
            self.take(part);
            room.check(&self.rest.observed)?;
        }
        room.take(&self.rest.observed);
        self.whole()
    }

    fn take(&mut self, part: Vec<u8>) {
        if self.body.is_empty() {
            self.body = part
        } else {
            self.body.extend_from_slice(&part)
        }
    }

    fn whole(self) -> Result<Opened, Exception> {
        if self.bare {
            return Ok(Opened::Whole(Response::with_body(
                200, self.media, self.body,
            )));
        }
        let xml = String::from_utf8(self.body)
            .map_err(|_| Exception::internal("an answer was not UTF-8"))?;
        let whole = self.form.whole(200, &self.name, self.version, xml);
        Ok(Opened::Whole(whole))
    }
}

/// What is still to be written.
struct Rest {
    observed: Observed,
    /// What stands after all.
    tail: Option<String>,
    /// Whether it is text within XML.
    escapes: bool,
    unwanted_max: usize,
}

impl Rest {
    fn part(&mut self) -> Result<Option<Vec<u8>>, Exception> {
        let part = self.observed.next()?;
        if self.observed.costs_more_than(self.unwanted_max) {
            return Err(too_costly(self.unwanted_max));
        }
        match part {
            Some(part) if self.escapes => Ok(Some(escaped(&part))),
            Some(part) => Ok(Some(part)),
            None => Ok(self.tail.take().map(String::into_bytes)),
        }
    }
}

impl Source for Rest {
    fn next(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        let part = self.part();
        let part = part.map_err(|exception| BrokenOff(exception.text))?;
        Ok(part.map(Bytes::from))
    }
}

fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    write_escaped(&String::from_utf8_lossy(text), &mut out);
    out.into_bytes()
}
