//! `protobuf`: the message of `schema/weir.proto`, written and read directly.
//!
//! Numbered fields are no tree of names, so this is no vocabulary over a syntax. Unknown fields are
//! passed over, the last of several counts (Protocol Buffers encoding guide, "Last One Wins").
#![cfg(feature = "protobuf")]

use crate::error::DecodeError;
use crate::format::Format;
use crate::lexical;
use crate::rows::{Rows, check_length, finite, set_number};
use alloc::vec::Vec;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Limits, Observation, Time, Value};

pub(crate) const FORMAT: Format = Format {
    media_also: &["application/protobuf", "application/vnd.google.protobuf"],
    ..Format::new("protobuf", "application/x-protobuf", encode, decode)
};

const OBSERVATIONS: u32 = 1;

const TOPIC: u32 = 1;
const SENSOR: u32 = 2;
const TYPE: u32 = 3;
const NUMBER: u32 = 4;
const TEXT: u32 = 5;
const TRUTH: u32 = 6;
const JSON: u32 = 7;
const NULL: u32 = 8;
const UNIT: u32 = 9;
const TIME: u32 = 10;
const LAT: u32 = 11;
const LON: u32 = 12;
const END: u32 = 13;
const RESULT_TIME: u32 = 14;
const VALID_FROM: u32 = 15;
const VALID_TO: u32 = 16;
const QUALITY: u32 = 17;
const FEATURE: u32 = 18;
const PARAMETERS: u32 = 19;

const VARINT: u32 = 0;
const FIXED_64: u32 = 1;
const BYTES: u32 = 2;
const FIXED_32: u32 = 5;

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    for row in batch.rows() {
        write_observation(&row, out);
    }
}

/// Most observations take two bytes of length: room for these is left, and corrected where not.
fn write_observation(row: &Observation<'_>, out: &mut Vec<u8>) {
    write_tag(OBSERVATIONS, BYTES, out);
    let start = out.len();
    out.extend_from_slice(&[0; 2]);
    write_fields(row, out);
    let len = out.len() - start - 2;
    let mut varint = [0; 10];
    let width = varint_into(len as u64, &mut varint);
    let end = start + 2 + len;
    out.resize(end.max(start + width + len), 0);
    out.copy_within(start + 2..end, start + width);
    out.truncate(start + width + len);
    out[start..start + width].copy_from_slice(&varint[..width]);
}

fn write_fields(row: &Observation<'_>, out: &mut Vec<u8>) {
    if row.naming != Naming::Sent {
        write_text(TOPIC, row.topic, out);
    }
    for (field, text) in [(SENSOR, row.sensor), (TYPE, row.property), (UNIT, row.unit)] {
        if let Some(text) = text {
            write_text(field, text, out);
        }
    }
    write_value(row.value, out);
    write_time(TIME, row.time, out);
    if let Some(place) = row.place {
        write_fixed(LAT, place.latitude.to_le_bytes(), out);
        write_fixed(LON, place.longitude.to_le_bytes(), out);
    }
    if !row.extra.is_empty() {
        write_extra(&row.extra, out);
    }
}

fn write_value(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Number(number) => write_fixed(NUMBER, number.to_le_bytes(), out),
        Value::Text(text) => write_text(TEXT, text, out),
        Value::Json(json) => write_text(JSON, json, out),
        Value::Bool(truth) => {
            write_tag(TRUTH, VARINT, out);
            out.push(u8::from(truth));
        }
        Value::Null => {
            write_tag(NULL, VARINT, out);
            out.push(1);
        }
    }
}

fn write_extra(extra: &Extra<'_>, out: &mut Vec<u8>) {
    write_time(END, extra.end, out);
    write_time(RESULT_TIME, extra.result_time, out);
    write_time(VALID_FROM, extra.valid.map(|(from, _)| from), out);
    write_time(VALID_TO, extra.valid.map(|(_, to)| to), out);
    let texts = [
        (QUALITY, extra.quality),
        (FEATURE, extra.feature),
        (PARAMETERS, extra.parameters),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            write_text(field, text, out);
        }
    }
}

fn write_time(field: u32, time: Option<Time>, out: &mut Vec<u8>) {
    if let Some(time) = time {
        write_fixed(field, time.nanos().to_le_bytes(), out);
    }
}

fn write_fixed(field: u32, bytes: [u8; 8], out: &mut Vec<u8>) {
    write_tag(field, FIXED_64, out);
    out.extend_from_slice(&bytes);
}

fn write_text(field: u32, text: &str, out: &mut Vec<u8>) {
    write_tag(field, BYTES, out);
    write_varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn write_tag(field: u32, wire: u32, out: &mut Vec<u8>) {
    write_varint(u64::from(field << 3 | wire), out);
}

fn write_varint(number: u64, out: &mut Vec<u8>) {
    if number < 0x80 {
        return out.push(number as u8);
    }
    let mut varint = [0; 10];
    let width = varint_into(number, &mut varint);
    out.extend_from_slice(&varint[..width]);
}

fn varint_into(mut number: u64, varint: &mut [u8; 10]) -> usize {
    let mut width = 1;
    for byte in varint.iter_mut() {
        *byte = number as u8 | 0x80;
        number >>= 7;
        if number == 0 {
            *byte &= 0x7F;
            break;
        }
        width += 1;
    }
    width
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    let mut rows = Rows::new(out, limits);
    let mut message = Fields {
        bytes,
        at: 0,
        end: bytes.len(),
        limits,
    };
    while let Some((field, wire)) = message.tag()? {
        match (field, wire) {
            (OBSERVATIONS, BYTES) => read_observation(message.nested()?, &mut rows)?,
            (_, wire) => message.skip(wire)?,
        }
    }
    Ok(())
}

fn read_observation(mut fields: Fields<'_>, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    let start = fields.at;
    rows.begin(start)?;
    let mut valid = [None; 2];
    while let Some((field, wire)) = fields.tag()? {
        match (field, wire) {
            (TOPIC, BYTES) => rows.topic(Naming::Topic, fields.text()?),
            (SENSOR, BYTES) => rows.sensor(fields.text()?),
            (TYPE, BYTES) => rows.property(fields.text()?),
            (UNIT, BYTES) => rows.unit(fields.text()?),
            (NUMBER..=NULL, _) => read_value(field, wire, &mut fields, rows)?,
            (TIME, FIXED_64) => rows.time(fields.time()?),
            (LAT, FIXED_64) => rows.latitude(fields.double()?),
            (LON, FIXED_64) => rows.longitude(fields.double()?),
            (VALID_FROM, FIXED_64) => valid[0] = Some(fields.time()?),
            (VALID_TO, FIXED_64) => valid[1] = Some(fields.time()?),
            _ => read_extra(field, wire, &mut fields, rows)?,
        }
    }
    match valid {
        [None, None] => {}
        [Some(from), Some(to)] => {
            let valid = Some((from, to));
            rows.extra(Extra {
                valid,
                ..Extra::default()
            });
        }
        _ => {
            return Err(DecodeError::meaning(
                start,
                "a valid time needs both `valid_from` and `valid_to`",
            ));
        }
    }
    rows.end(start)
}

fn read_value(
    field: u32,
    wire: u32,
    fields: &mut Fields<'_>,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    match (field, wire) {
        (NUMBER, FIXED_64) => set_number(rows, fields.double())?,
        (TEXT, BYTES) => rows.value(Value::Text(fields.text()?)),
        (TRUTH, VARINT) => rows.value(Value::Bool(fields.varint()? != 0)),
        (JSON, BYTES) => {
            let start = fields.at;
            rows.value(Value::Json(&lexical::json_result(
                fields.text()?,
                start,
                fields.limits,
            )?));
        }
        (NULL, VARINT) => {
            fields.varint()?;
            rows.value(Value::Null);
        }
        (_, wire) => fields.skip(wire)?,
    }
    Ok(())
}

fn read_extra(
    field: u32,
    wire: u32,
    fields: &mut Fields<'_>,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let mut extra = Extra::default();
    match (field, wire) {
        (END, FIXED_64) => extra.end = Some(fields.time()?),
        (RESULT_TIME, FIXED_64) => extra.result_time = Some(fields.time()?),
        (QUALITY, BYTES) => extra.quality = Some(fields.text()?),
        (FEATURE, BYTES) => extra.feature = Some(fields.text()?),
        (PARAMETERS, BYTES) => {
            let start = fields.at;
            let parameters = lexical::json(fields.text()?, start, fields.limits)?;
            rows.extra(Extra {
                parameters: Some(&parameters),
                ..extra
            });
        }
        (_, wire) => return fields.skip(wire),
    }
    rows.extra(extra);
    Ok(())
}

/// Reads fields one after the other.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    limits: &'a Limits,
}

impl<'a> Fields<'a> {
    /// Number and wire type of the next field; `None` at the end.
    fn tag(&mut self) -> Result<Option<(u32, u32)>, DecodeError> {
        if self.at == self.end {
            return Ok(None);
        }
        let start = self.at;
        let tag = u32::try_from(self.varint()?)
            .ok()
            .filter(|tag| tag >> 3 > 0);
        let tag =
            tag.ok_or_else(|| DecodeError::expected(start, "a field number and wire type"))?;
        Ok(Some((tag >> 3, tag & 7)))
    }

    fn varint(&mut self) -> Result<u64, DecodeError> {
        let start = self.at;
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError::expected(
            start,
            "a variable-length integer of at most ten bytes",
        ))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let taken = match self.at.checked_add(len) {
            Some(end) if end <= self.end => &self.bytes[self.at..end],
            _ => return Err(DecodeError::truncated(self.end)),
        };
        self.at += len;
        Ok(taken)
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        let start = self.at;
        let len = usize::try_from(self.varint()?);
        len.map_err(|_| DecodeError::expected(start, "a length that fits in memory"))
    }

    fn nested(&mut self) -> Result<Fields<'a>, DecodeError> {
        let len = self.length()?;
        let at = self.at;
        self.take(len)?;
        Ok(Fields {
            at,
            end: self.at,
            ..*self
        })
    }

    fn text(&mut self) -> Result<&'a str, DecodeError> {
        let len = self.length()?;
        let start = self.at;
        if len > self.limits.text_bytes {
            return Err(DecodeError::over(
                start,
                "bytes of a string",
                self.limits.text_bytes,
            ));
        }
        core::str::from_utf8(self.take(len)?)
            .map_err(|error| DecodeError::expected(start + error.valid_up_to(), "UTF-8"))
    }

    fn eight(&mut self) -> Result<[u8; 8], DecodeError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(bytes)
    }

    fn double(&mut self) -> Result<f64, DecodeError> {
        let start = self.at;
        let number = f64::from_le_bytes(self.eight()?);
        finite(number, start)
    }

    /// The least number stands for no time in the model.
    fn time(&mut self) -> Result<Time, DecodeError> {
        let start = self.at;
        match i64::from_le_bytes(self.eight()?) {
            i64::MIN => Err(DecodeError::expected(start, "a time after 1677")),
            nanos => Ok(Time::from_nanos(nanos)),
        }
    }

    fn skip(&mut self, wire: u32) -> Result<(), DecodeError> {
        match wire {
            VARINT => self.varint().map(drop),
            FIXED_64 => self.take(8).map(drop),
            FIXED_32 => self.take(4).map(drop),
            BYTES => self.nested().map(drop),
            _ => Err(DecodeError::expected(
                self.at,
                "a field of proto3, which has no groups",
            )),
        }
    }
}
