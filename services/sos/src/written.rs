//! Observations as the body of an answer: whole where they are few or cannot be sent before they are whole,
//! else piece by piece.

use crate::bindings::Form;
use crate::exception::Exception;
use crate::limits::{BEGUN_BYTES, BEGUN_PARTS};
use crate::observations::Observed;
use crate::params::Version;
use crate::room::Room;
use bytes::Bytes;
use weir_binding::{BrokenOff, Opened, Response, Source};
use weir_codec::document::write_escaped;

/// The answer that observations are.
pub(crate) fn written(
    form: &Form,
    name: &str,
    version: Version,
    observed: Observed,
    room: &mut Room,
) -> Result<Opened, Exception> {
    let bare = observed.is_text() && form.is_bare();
    let media = if bare { observed.media() } else { form.media() };
    let (head, tail) = match bare {
        true => Default::default(),
        false => form.around(observed.action()),
    };
    let mut rest = Rest {
        escapes: observed.is_text() && !bare,
        observed,
        tail: Some(tail),
    };
    let streams = bare || form.streams();
    let (mut body, mut parts) = (head.into_bytes(), 0);
    while let Some(part) = rest.part()? {
        match body.is_empty() {
            true => body = part,
            false => body.extend_from_slice(&part),
        }
        parts += 1;
        if streams && (body.len() >= BEGUN_BYTES || parts >= BEGUN_PARTS) {
            let head = Response::with_body(200, media, body).header("vary", "accept");
            return Ok(Opened::Begun(head, Box::new(rest)));
        }
        if !streams {
            room.check(&rest.observed)?;
        }
    }
    room.take(&rest.observed);
    if bare {
        return Ok(Opened::Whole(Response::with_body(200, media, body)));
    }
    let xml =
        String::from_utf8(body).map_err(|_| Exception::internal("an answer was not UTF-8"))?;
    Ok(Opened::Whole(form.whole(200, name, version, xml)))
}

/// What is still to be written.
struct Rest {
    observed: Observed,
    /// What stands after all.
    tail: Option<String>,
    /// Whether it is text within XML.
    escapes: bool,
}

impl Rest {
    fn part(&mut self) -> Result<Option<Vec<u8>>, Exception> {
        match self.observed.next()? {
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
