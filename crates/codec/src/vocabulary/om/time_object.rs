//! `gml:TimeInstant` and `gml:TimePeriod`, given or referred to.

use super::{GML31, GML32, HREF, is_nil};
use crate::error::DecodeError;
use crate::infoset::{Event, Name, Pull};
use crate::limits::OM_TIMES_MAX;
use crate::vocabulary::iso_time;
use weir_model::Time;

/// Begin and end; an instant has no end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Span {
    pub(super) begin: Option<Time>,
    pub(super) end: Option<Time>,
}

/// The times given last, by the hashes of their identifiers; others may refer to them.
#[derive(Default)]
pub(super) struct TimesMet {
    met: [(u64, Span); OM_TIMES_MAX],
    next: usize,
}

impl TimesMet {
    fn keep(&mut self, id: u64, span: Span) {
        self.met[self.next] = (id, span);
        self.next = (self.next + 1) % OM_TIMES_MAX;
    }

    fn find(&self, id: u64) -> Option<Span> {
        let found = self.met.iter().find(|(own, _)| *own == id && id != 0);
        found.map(|(_, span)| *span)
    }
}

/// FNV-1a, 64 bits.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Where a position belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Begin,
    End,
}

/// Reads the rest of a property that is a time, whose start was met last.
pub(super) fn read(pull: &mut impl Pull, met: &mut TimesMet) -> Result<Span, DecodeError> {
    let mut span = Span::default();
    let mut id = None;
    let (mut side, mut position) = (Side::Begin, false);
    let mut depth = 1;
    while depth > 0 {
        match pull.next()? {
            Event::Start(name) => {
                depth += 1;
                position = name.local.ends_with("Position");
                match name.local {
                    "begin" | "beginPosition" => side = Side::Begin,
                    "end" | "endPosition" => side = Side::End,
                    _ => {}
                }
            }
            Event::Attribute(HREF) => span = referred(pull, met)?,
            Event::Attribute(name) if is_id(name) => id = id.or(Some(hash(pull.text()))),
            Event::Content if position => {
                let time = Some(read_position(pull)?);
                match side {
                    Side::Begin => span.begin = time,
                    Side::End => span.end = time,
                }
            }
            Event::End => {
                depth -= 1;
                position = false;
            }
            _ => {}
        }
    }
    if let Some(id) = id {
        met.keep(id, span);
    }
    Ok(span)
}

pub(super) fn is_id(name: Name<'_>) -> bool {
    name.local == "id" && (name.uri == GML32 || name.uri == GML31)
}

fn read_position(pull: &impl Pull) -> Result<Time, DecodeError> {
    let text = pull.text();
    let lead = text.len() - text.trim_ascii_start().len();
    let time = iso_time::parse(text.trim_ascii());
    time.map_err(|error| DecodeError::expected(pull.at() + lead + error.at, error.expected))
}

fn referred(pull: &impl Pull, met: &TimesMet) -> Result<Span, DecodeError> {
    let href = pull.text();
    if is_nil(href) {
        return Ok(Span::default());
    }
    let found = href.strip_prefix('#').and_then(|id| met.find(hash(id)));
    let what = "a time, or a reference to one of the times given last";
    found.ok_or_else(|| DecodeError::expected(pull.at(), what))
}
