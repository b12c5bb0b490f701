//! GWT-RPC answers written.
//!
//! The observations are gone through twice: for the tokens, then for the strings, which have the same
//! numbers both times; so neither list is kept. The tokens are written forwards, since an object's
//! number counts from the first, and turned round where they stand.

use super::{ARRAY_LIST, DIGITS, EXTRA, OBSERVATION, OK, PLACE, TIMESTAMP};
use super::{KIND_BOOL, KIND_JSON, KIND_NULL, KIND_NUMBER, KIND_TEXT};
use crate::known_strings::KnownStrings;
use crate::number::write_f64;
use alloc::vec::Vec;
use weir_model::batch::Naming;
use weir_model::{Batch, Extra, Observation, Place, Time, Value};

pub(super) fn encode(batch: &Batch, out: &mut Vec<u8>) {
    out.extend_from_slice(OK.as_bytes());
    out.push(b'[');
    let start = out.len();
    Writer::new(out, Part::Tokens).list(batch);
    turn_round(&mut out[start..]);
    out.extend_from_slice(b",[");
    Writer::new(out, Part::Strings).list(batch);
    out.extend_from_slice(b"],0,7]");
}

/// Reverses the order of tokens between commas.
fn turn_round(tokens: &mut [u8]) {
    tokens.reverse();
    tokens
        .split_mut(|&byte| byte == b',')
        .for_each(<[u8]>::reverse);
}

/// What is written of the observations.
#[derive(PartialEq, Eq)]
enum Part {
    Tokens,
    Strings,
}

struct Writer<'o, 'b> {
    out: &'o mut Vec<u8>,
    part: Part,
    known: KnownStrings<(i64, &'b str)>,
    strings: i64,
    objects: i64,
    /// The last instant and place, and the numbers of their objects.
    time: Option<(Time, i64)>,
    place: Option<(Place, i64)>,
    /// Whether nothing was written yet.
    first: bool,
}

impl<'o, 'b> Writer<'o, 'b> {
    fn new(out: &'o mut Vec<u8>, part: Part) -> Self {
        Self {
            out,
            part,
            known: KnownStrings::new(),
            strings: 0,
            objects: 0,
            time: None,
            place: None,
            first: true,
        }
    }

    /// Writes one token or string of the part that is written, behind a comma.
    fn put(&mut self, part: Part, write: impl FnOnce(&mut Vec<u8>)) {
        if self.part != part {
            return;
        }
        if !core::mem::replace(&mut self.first, false) {
            self.out.push(b',');
        }
        write(self.out);
    }

    fn int(&mut self, number: i64) {
        // Numbers of strings and objects are far below what a double holds exactly.
        self.put(Part::Tokens, |out| write_f64(number as f64, out));
    }

    fn double(&mut self, number: f64) {
        self.put(Part::Tokens, |out| write_f64(number, out));
    }

    fn long(&mut self, number: i64) {
        self.put(Part::Tokens, |out| write_long(number, out));
    }

    fn string(&mut self, text: &'b str) {
        let new = (self.strings + 1, text);
        let found = self
            .known
            .find_or_put(text, |(_, known)| known == text, new);
        if found.is_none() {
            self.strings += 1;
            self.put(Part::Strings, |out| write_string(text, out));
        }
        self.int(found.unwrap_or(new).0);
    }

    fn optional(&mut self, text: Option<&'b str>) {
        match text {
            Some(text) => self.string(text),
            None => self.int(0),
        }
    }

    /// Begins an object; gives its number.
    fn object(&mut self, class: &'static str) -> i64 {
        self.string(class);
        self.objects += 1;
        self.objects
    }

    fn list(&mut self, batch: &'b Batch) {
        self.object(ARRAY_LIST);
        self.int(batch.len() as i64);
        for row in batch.rows() {
            self.observation(&row);
        }
    }

    /// Fields in the order of their names.
    fn observation(&mut self, row: &Observation<'b>) {
        self.object(OBSERVATION);
        if row.extra.is_empty() {
            self.int(0)
        } else {
            self.extra(&row.extra)
        }
        let (kind, number, text) = parts(row.value);
        self.int(kind);
        self.double(number);
        self.place(row.place);
        self.optional(row.sensor);
        self.optional(text);
        self.time(row.time);
        self.optional(Some(row.topic).filter(|_| row.naming != Naming::Sent));
        self.optional(row.property);
        self.optional(row.unit);
    }

    fn extra(&mut self, extra: &Extra<'b>) {
        self.object(EXTRA);
        self.time(extra.end);
        self.optional(extra.feature);
        self.optional(extra.parameters);
        self.optional(extra.quality);
        self.time(extra.result_time);
        self.time(extra.valid.map(|(from, _)| from));
        self.time(extra.valid.map(|(_, to)| to));
    }

    fn place(&mut self, place: Option<Place>) {
        let Some(place) = place else {
            return self.int(0);
        };
        // By their bits: a zero has a sign.
        let bits = |place: &Place| [place.latitude, place.longitude].map(f64::to_bits);
        let same = |(known, _): &(Place, i64)| bits(known) == bits(&place);
        if let Some((_, number)) = self.place.filter(same) {
            return self.int(-number);
        }
        self.place = Some((place, self.object(PLACE)));
        self.double(place.latitude);
        self.double(place.longitude);
    }

    /// Milliseconds since the epoch and the nanoseconds of the second (GWT, java.sql.Timestamp).
    fn time(&mut self, time: Option<Time>) {
        let Some(time) = time else {
            return self.int(0);
        };
        if let Some((_, number)) = self.time.filter(|(known, _)| *known == time) {
            return self.int(-number);
        }
        self.time = Some((time, self.object(TIMESTAMP)));
        self.long(time.nanos().div_euclid(1_000_000));
        self.int(time.nanos().rem_euclid(1_000_000_000));
    }
}

fn parts(value: Value<'_>) -> (i64, f64, Option<&str>) {
    match value {
        Value::Null => (KIND_NULL, 0.0, None),
        Value::Number(number) => (KIND_NUMBER, number, None),
        Value::Bool(truth) => (KIND_BOOL, f64::from(u8::from(truth)), None),
        Value::Text(text) => (KIND_TEXT, 0.0, Some(text)),
        Value::Json(json) => (KIND_JSON, 0.0, Some(json)),
    }
}

/// Six bits a digit, from the highest that is not zero.
fn write_long(number: i64, out: &mut Vec<u8>) {
    let bits = number as u64;
    let digits = (64 - bits.leading_zeros()).div_ceil(6).max(1);
    out.push(b'\'');
    for place in (0..digits).rev() {
        out.push(DIGITS[(bits >> (6 * place) & 63) as usize]);
    }
    out.push(b'\'');
}

/// A literal of JavaScript in quotes. Format characters and line separators are escaped, since older
/// engines drop or refuse them.
fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            ' '..='~' => out.push(character as u8),
            '\0'..='\u{9F}'
            | '\u{AD}'
            | '\u{600}'..='\u{605}'
            | '\u{2000}'..='\u{206F}'
            | '\u{E000}'..='\u{F8FF}'
            | '\u{FEFF}'
            | '\u{FFF0}'..='\u{FFFF}' => write_escape(character as u16, out),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

fn write_escape(code: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(b"0123456789ABCDEF"[usize::from(code >> shift & 15)]);
    }
}
