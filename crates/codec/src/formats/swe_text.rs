//! `swe-text`: a block of values of SWE Common's TextEncoding (OGC 08-094r1 section 9.2), with lines
//! that say what the values are.
//!
//! A bare block, as the Sensor Observation Service's GetResult answers, says nothing of what it
//! holds. So a line that begins with `#` and goes on as a JSON object describes the records after
//! it: the names of the datastream (`topic`, `sensor`, `type`, `unit`), `fields`, the names of the
//! tokens in their order, and where they differ from `,`, the line feed and `.`, `tokenSeparator`,
//! `blockSeparator` and `decimalSeparator`. Where there are several datastreams, each has its line,
//! and records begin with the number of theirs, counted from 0, as a `swe:DataChoice` has it: the
//! field `stream`. Without any such line records are a time and a result, or a result alone.
//!
//! The first line says with `elementCount` how many records follow, as a `swe:DataArray` does: a block
//! has no other end, so that a cut one is known by it. Counts of several lines are added up.
//!
//! The decision worth arguing: these lines are written always. They cost one line a datastream, and
//! without them a block means nothing to who did not ask for it.
#![cfg(feature = "swe-text")]

use crate::error::DecodeError;
use crate::format::Format;
use crate::infoset::{Atom, Emit, Name};
use crate::limits::SWE_STREAMS_ON_STACK;
use crate::names::Names;
use crate::number::{TimeWriter, write_f64};
use crate::rows::{Rows, read_text};
use crate::syntax::json::Json;
use crate::syntax::json_text::write_string;
use crate::syntax::{Key, Pull};
use crate::vocabulary::iso_time::TimeReader;
use crate::vocabulary::swe::array::set_separator;
use crate::vocabulary::swe::block_read::{BlockReader, Record, Shared};
use crate::vocabulary::swe::block_write::{Fields, write_record};
use crate::vocabulary::swe::{Kind, Role, Separators};
use alloc::vec::Vec;
use core::cmp::Ordering;
use memchr::memchr;
use weir_model::batch::{Naming, StreamView};
use weir_model::{Batch, BatchBuilder, KeptNames, Limits};

pub(crate) const FORMAT: Format = Format {
    text: true,
    ..Format::new("swe-text", "text/plain;profile=swe", encode, decode)
};

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    append(batch, &mut 0, out);
}

/// Appends another part of a block, where `described` datastreams have their lines already; its own are
/// numbered from there.
pub fn append(batch: &Batch, described: &mut usize, out: &mut Vec<u8>) {
    let first = *described;
    *described += batch.stream_count();
    let mut fields = Fields::default();
    batch.rows().for_each(|row| fields.add(&row));
    let several = batch.stream_count() > 1;
    for index in 0..batch.stream_count() {
        let count = (index == 0).then_some(batch.len());
        write_description(&batch.stream(index), several, count, &fields, out);
    }
    let mut tokens = Tokens {
        out,
        times: TimeWriter::default(),
    };
    for (index, row) in batch.rows().enumerate() {
        if several {
            tokens.content(Atom::Id("", first + batch.stream_of(index)));
            tokens.content(Atom::Text(","));
        }
        write_record(&row, &fields, &mut tokens);
        tokens.content(Atom::Text("\n"));
    }
}

/// Appends a record of time and result for each observation, each behind a line feed: what GetResult of the
/// Sensor Observation Service answers, whose template says what they are.
pub fn append_results(batch: &Batch, out: &mut Vec<u8>) {
    let fields = Fields::default();
    let mut tokens = Tokens {
        out,
        times: TimeWriter::default(),
    };
    for row in batch.rows() {
        tokens.content(Atom::Text("\n"));
        write_record(&row, &fields, &mut tokens);
    }
}

fn write_description(
    stream: &StreamView<'_>,
    several: bool,
    count: Option<usize>,
    fields: &Fields,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"#{");
    let topic = (stream.naming != Naming::Sent).then_some(stream.topic);
    for (role, text) in [
        (Role::Topic, topic),
        (Role::Sensor, stream.sensor),
        (Role::Type, stream.property),
        (Role::Unit, stream.unit),
    ] {
        if let Some(text) = text {
            write_string(role.name(), out);
            out.push(b':');
            write_string(text, out);
            out.push(b',');
        }
    }
    if let Some(count) = count {
        out.extend_from_slice(b"\"elementCount\":");
        write_f64(count as f64, out);
        out.push(b',');
    }
    out.extend_from_slice(b"\"fields\":[");
    let number = several.then_some(Role::Stream);
    for role in number.into_iter().chain(fields.roles()) {
        write_string(role.name(), out);
        out.push(b',');
    }
    // There are two fields at least, so a comma stands last.
    out.pop();
    out.extend_from_slice(b"]}\n");
}

/// Tokens as they are.
struct Tokens<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
}

impl Emit for Tokens<'_> {
    fn start(&mut self, _name: Name<'static>) {}

    fn attribute(&mut self, _name: Name<'static>, _value: Atom<'_>) {}

    fn end(&mut self, _name: Name<'static>) {}

    fn content(&mut self, value: Atom<'_>) {
        match value {
            Atom::Text(text) => self.out.extend_from_slice(text.as_bytes()),
            Atom::Number(number) | Atom::Result(number) => write_f64(number, self.out),
            Atom::Bool(true) => self.out.extend_from_slice(b"true"),
            Atom::Bool(false) => self.out.extend_from_slice(b"false"),
            Atom::Time(time) => self.times.write(time, self.out),
            Atom::Id(_, number) => write_f64(number as f64, self.out),
            // Records are made of the atoms above.
            Atom::Json(_) | Atom::JsonString(_) | Atom::Name(_) | Atom::Pair(..) => {}
        }
    }
}

/// What a line that begins with `#` describes.
#[derive(Clone, Copy)]
struct Stream {
    names: KeptNames,
    record: Record,
}

/// The datastreams described so far.
struct Streams {
    few: [Stream; SWE_STREAMS_ON_STACK],
    many: Vec<Stream>,
    count: usize,
    /// Records that were said to follow, if that was said.
    promised: Option<usize>,
}

impl Streams {
    fn new() -> Self {
        let none = Stream {
            names: KeptNames::NONE,
            record: Record::default(),
        };
        Self {
            few: [none; SWE_STREAMS_ON_STACK],
            many: Vec::new(),
            count: 0,
            promised: None,
        }
    }

    fn push(&mut self, stream: Stream) {
        match self.few.get_mut(self.count) {
            Some(room) => *room = stream,
            None => self.many.push(stream),
        }
        self.count += 1;
    }

    fn at(&self, index: usize) -> Option<&Stream> {
        let described = self.few[..self.count.min(SWE_STREAMS_ON_STACK)].get(index);
        described.or_else(|| self.many.get(index.checked_sub(SWE_STREAMS_ON_STACK)?))
    }
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    read_text(bytes, limits, |text| decode_text(text, out, limits))
}

fn decode_text(text: &str, out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    let before = out.len();
    let mut rows = Rows::new(out, limits);
    let mut separators = Separators::new(",", "\n");
    let mut streams = Streams::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with('#') {
            let line = &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())];
            read_description(line, at, &mut separators, &mut streams, &mut rows, limits)?;
            at += line.len() + 1;
            continue;
        }
        let block = &rest[..block_len(rest)];
        read_block(block, at, &separators, &streams, &mut rows, limits)?;
        at += block.len();
    }
    match streams
        .promised
        .map(|count| count.cmp(&(rows.len() - before)))
    {
        None | Some(Ordering::Equal) => Ok(()),
        Some(Ordering::Greater) => Err(DecodeError::truncated(text.len())),
        Some(Ordering::Less) => {
            let what = "the end, after as many records as elementCount says";
            Err(DecodeError::expected(text.len(), what))
        }
    }
}

/// Records reach up to a line that begins with `#`.
fn block_len(text: &str) -> usize {
    let marks = memchr::memchr_iter(b'#', text.as_bytes());
    let mut begins_line = marks.filter(|&at| text.as_bytes()[..at].last() == Some(&b'\n'));
    begins_line.next().unwrap_or(text.len())
}

fn read_description(
    line: &str,
    at: usize,
    separators: &mut Separators,
    streams: &mut Streams,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let mut json = Json::new(&line[1..], limits);
    let read = read_members(&mut json, separators, &mut streams.promised, rows);
    let record = read.and_then(|record| json.finish().map(|()| record));
    let record = record.map_err(|error| DecodeError {
        at: at + 1 + error.at,
        ..error
    })?;
    let names = rows.keep();
    streams.push(Stream { names, record });
    Ok(())
}

fn read_members(
    json: &mut Json<'_>,
    separators: &mut Separators,
    promised: &mut Option<usize>,
    rows: &mut Rows<'_>,
) -> Result<Record, DecodeError> {
    let mut record = None;
    BatchBuilder::begin(rows);
    let (mut map, mut names) = (json.map()?, Names::default());
    while let Some(key) = json.new_key(&mut map, &mut names)? {
        let member = member(key);
        if let (Member::Unknown, Key::Text(name)) = (&member, key) {
            rows.pass_over(name);
        }
        match member {
            Member::Fields => record = Some(read_fields(json)?),
            Member::Count => {
                *promised = Some(promised.unwrap_or(0).saturating_add(read_count(json)?))
            }
            Member::Name(role) => set_name(role, json.text()?, rows),
            Member::Separator(which) => {
                let start = json.at();
                let text = json.text()?;
                let set = match which {
                    Which::Token => set_separator(text, &mut separators.token),
                    Which::Block => set_separator(text, &mut separators.block),
                    Which::Decimal => text.bytes().next().map(|byte| separators.decimal = byte),
                };
                let what = "a separator of 1 to 16 bytes";
                set.ok_or_else(|| DecodeError::expected(start, what))?;
            }
            Member::Unknown => json.skip()?,
        }
    }
    Ok(record.unwrap_or_else(plain_record))
}

enum Member {
    Fields,
    Count,
    Name(Role),
    Separator(Which),
    Unknown,
}

enum Which {
    Token,
    Block,
    Decimal,
}

fn member(key: Key<'_>) -> Member {
    let Key::Text(name) = key else {
        return Member::Unknown;
    };
    match name {
        "fields" => Member::Fields,
        "elementCount" => Member::Count,
        "tokenSeparator" => Member::Separator(Which::Token),
        "blockSeparator" => Member::Separator(Which::Block),
        "decimalSeparator" => Member::Separator(Which::Decimal),
        _ => match Role::named(name) {
            Some(role @ (Role::Topic | Role::Sensor | Role::Type | Role::Unit)) => {
                Member::Name(role)
            }
            _ => Member::Unknown,
        },
    }
}

fn read_count(json: &mut Json<'_>) -> Result<usize, DecodeError> {
    let start = json.at();
    let number = json.number()?;
    let count = Some(number as usize).filter(|&count| count as f64 == number);
    count.ok_or_else(|| DecodeError::expected(start, "a number of records"))
}

fn set_name(role: Role, text: &str, rows: &mut Rows<'_>) {
    match role {
        Role::Topic => rows.topic(Naming::Topic, text),
        Role::Sensor => rows.sensor(text),
        Role::Type => rows.property(text),
        _ => rows.unit(text),
    }
}

fn read_fields(json: &mut Json<'_>) -> Result<Record, DecodeError> {
    let start = json.at();
    let mut record = Record::default();
    let mut array = json.array()?;
    while json.item(&mut array)? {
        let at = json.at();
        let role = Role::named(json.text()?).unwrap_or(Role::Skip);
        record.push(role, at)?;
    }
    match record.result_count() {
        1 => Ok(record),
        _ => Err(DecodeError::expected(start, "fields with one `value`")),
    }
}

/// Time and result.
fn plain_record() -> Record {
    let mut record = Record::default();
    for role in [Role::Time, Role::Value(Kind::Any)] {
        // Two fields are within the limit.
        let _fits = record.push(role, 0);
    }
    record
}

/// A result alone.
fn bare_record() -> Record {
    let mut record = Record::default();
    let _fits = record.push(Role::Value(Kind::Any), 0);
    record
}

fn read_block(
    block: &str,
    at: usize,
    separators: &Separators,
    streams: &Streams,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let mut reader = BlockReader {
        separators,
        shared: Shared::default(),
        limits,
        rules: &[],
        times: TimeReader::default(),
        count: 0,
    };
    let Some(last) = streams
        .count
        .checked_sub(1)
        .and_then(|last| streams.at(last))
    else {
        let several = block.contains(separators.token.as_str());
        let record = if several {
            plain_record()
        } else {
            bare_record()
        };
        return reader.read(block, at, &record, &[KeptNames::NONE], rows);
    };
    if last.record.roles().first() != Some(&Role::Stream) {
        return reader.read(block, at, &last.record, &[last.names], rows);
    }
    reader.read_choice(block, at, rows, |number| {
        let stream = streams.at(number)?;
        Some((&stream.record, stream.names))
    })
}
