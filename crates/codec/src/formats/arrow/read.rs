//! A stream read, message by message.

use super::columns::Column;
use super::flat_read::{Flat, Table};
use super::names::{
    CONTINUATION, HEADER_DICTIONARY, HEADER_RECORD, HEADER_SCHEMA, VERSION_4, VERSION_5,
};
use super::record::{BodyBytes, Items, Record};
use super::schema_read::{Field, Kind, Schema};
use crate::error::DecodeError;
use crate::lexical;
use crate::limits::{ARROW_COLUMNS_MAX, ARROW_METADATA_BYTES_MAX};
use crate::referred::Referred;
use crate::rows::{Rows, check_length, finite, set_number};
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Extra, Limits, Time, Value};

pub(super) fn decode(
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    let mut rows = Rows::new(out, limits);
    let mut at = 0;
    let mut stream: Option<Stream<'_>> = None;
    while let Some(message) = Message::next(bytes, &mut at)? {
        match (message.kind, &mut stream) {
            (HEADER_SCHEMA, None) => stream = Some(Stream::new(&message, &mut rows, limits)?),
            (HEADER_DICTIONARY, Some(stream)) => stream.dictionary(&message)?,
            (HEADER_RECORD, Some(stream)) => stream.record(&message, &mut rows)?,
            (_, None) => return Err(DecodeError::expected(message.at, "a schema first")),
            _ => {
                let what = "a dictionary or a record batch after the schema";
                return Err(DecodeError::expected(message.at, what));
            }
        }
    }
    match stream.is_some() && at == bytes.len() {
        true => Ok(()),
        false if stream.is_none() => Err(DecodeError::truncated(at)),
        false => Err(DecodeError::expected(at, "the end of the message")),
    }
}

/// A message of a stream.
struct Message<'a> {
    at: usize,
    kind: u8,
    header: Table<'a>,
    body: BodyBytes<'a>,
}

impl<'a> Message<'a> {
    /// The message at `at`, which moves behind it; `None` at the end mark or the end of the stream.
    fn next(bytes: &'a [u8], at: &mut usize) -> Result<Option<Self>, DecodeError> {
        if *at == bytes.len() {
            return Ok(None);
        }
        let begin = *at;
        let mut word = || -> Result<[u8; 4], DecodeError> {
            let found = bytes.get(*at..).and_then(|rest| rest.first_chunk());
            *at += 4;
            found
                .copied()
                .ok_or_else(|| DecodeError::truncated(bytes.len()))
        };
        // Writers before 0.15 begin with the length.
        let first = word()?;
        let len = if first == CONTINUATION {
            word()?
        } else {
            first
        };
        let len = u32::from_le_bytes(len) as usize;
        if len == 0 {
            return Ok(None);
        }
        let start = *at;
        if len > ARROW_METADATA_BYTES_MAX {
            let what = "FF FF FF FF and a length, with which a message of a stream begins";
            return Err(DecodeError::expected(begin, what));
        }
        let body = start.checked_add(len).filter(|&end| end <= bytes.len());
        let body = body.ok_or_else(|| DecodeError::truncated(bytes.len()))?;
        let message = Flat::root(&bytes[..body], start)?;
        if !matches!(message.short(0)?, VERSION_4 | VERSION_5) {
            return Err(DecodeError::expected(start, "metadata of version 4 or 5"));
        }
        let header = message.need(2, "a header of the message")?;
        let end = usize::try_from(message.long(3)?).ok();
        let end = end.and_then(|len| body.checked_add(len));
        let end = end.filter(|&end| end <= bytes.len());
        *at = end.ok_or_else(|| DecodeError::truncated(bytes.len()))?;
        let body = BodyBytes {
            bytes,
            start: body,
            end: *at,
        };
        Ok(Some(Self {
            at: start,
            kind: message.byte(1)?,
            header,
            body,
        }))
    }
}

/// What is known of a stream.
struct Stream<'a> {
    schema: Schema,
    /// The dictionary of each column, once it was there.
    dictionaries: [Option<Items>; ARROW_COLUMNS_MAX],
    /// Text that indices into dictionaries stand for.
    referred: Referred,
    limits: &'a Limits,
}

/// A column of a record batch.
#[derive(Clone, Copy)]
struct Cells {
    column: Column,
    field: Field,
    items: Items,
    dictionary: Option<Items>,
}

impl<'a> Stream<'a> {
    fn new(
        message: &Message<'_>,
        rows: &mut Rows<'_>,
        limits: &'a Limits,
    ) -> Result<Self, DecodeError> {
        Ok(Self {
            schema: Schema::read(&message.header, message.at, rows)?,
            dictionaries: [None; ARROW_COLUMNS_MAX],
            referred: Referred::new(limits),
            limits,
        })
    }

    fn dictionary(&mut self, message: &Message<'_>) -> Result<(), DecodeError> {
        let id = message.header.long(0)?;
        if message.header.byte(2)? != 0 {
            return Err(DecodeError::expected(
                message.at,
                "whole dictionaries, not parts",
            ));
        }
        let data = message.header.need(1, "the data of the dictionary")?;
        let fields = self.schema.fields().iter().zip(&mut self.dictionaries);
        for (field, dictionary) in fields {
            let own = field.dictionary.is_some_and(|(own, _)| own == id);
            if own && field.column.is_some() {
                let items = Record::new(&data, message.body)?.items(field.kind)?;
                *dictionary = Some(items);
            }
        }
        Ok(())
    }

    fn record(&self, message: &Message<'_>, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let mut record = Record::new(&message.header, message.body)?;
        let mut cells: [Option<Cells>; ARROW_COLUMNS_MAX] = [None; ARROW_COLUMNS_MAX];
        let fields = self.schema.fields().iter().zip(&self.dictionaries);
        for (slot, (field, dictionary)) in cells.iter_mut().zip(fields) {
            let Some(column) = field.column else {
                record.pass(field);
                continue;
            };
            let kind = field.dictionary.map_or(field.kind, |(_, index)| index);
            *slot = Some(Cells {
                column,
                field: *field,
                items: record.items(kind)?,
                dictionary: *dictionary,
            });
        }
        let columns = self.schema.fields().len();
        for row in 0..record.rows {
            let row = Row {
                row,
                at: message.at,
                bytes: message.body.bytes,
                referred: &self.referred,
                limits: self.limits,
            };
            row.read(&cells[..columns], rows)?;
        }
        Ok(())
    }
}

/// One row of a record batch, whose metadata stand at `at`.
struct Row<'a> {
    row: usize,
    at: usize,
    bytes: &'a [u8],
    referred: &'a Referred,
    limits: &'a Limits,
}

impl<'a> Row<'a> {
    fn read(&self, cells: &[Option<Cells>], rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        rows.begin(self.at)?;
        rows.value(Value::Null);
        let mut valid = [None; 2];
        for cell in cells.iter().flatten() {
            if !cell.items.is_there(self.row, self.bytes) {
                continue;
            }
            match cell.column {
                Column::ValidFrom => valid[0] = Some(self.time(cell)?),
                Column::ValidTo => valid[1] = Some(self.time(cell)?),
                _ => self.set(cell, rows)?,
            }
        }
        rows.valid(valid, self.at)?;
        rows.end(self.at)
    }

    fn set(&self, cell: &Cells, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let extra = Extra::default();
        match cell.column {
            Column::Value | Column::Truth => self.set_value(cell, rows)?,
            Column::Lat => rows.latitude(self.number(cell)?),
            Column::Lon => rows.longitude(self.number(cell)?),
            Column::Time => rows.time(self.time(cell)?),
            Column::End => rows.extra(Extra {
                end: Some(self.time(cell)?),
                ..extra
            }),
            Column::ResultTime => rows.extra(Extra {
                result_time: Some(self.time(cell)?),
                ..extra
            }),
            _ => {
                if let Some(text) = self.text(cell)? {
                    self.set_text(cell, text, rows)?;
                }
            }
        }
        Ok(())
    }

    fn set_value(&self, cell: &Cells, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        match cell.field.kind {
            Kind::Bool => rows.value(Value::Bool(cell.items.truth(self.row, self.bytes))),
            Kind::Text(_) => {
                if let Some(text) = self.text(cell)? {
                    rows.value(Value::Text(text));
                }
            }
            Kind::Int(..) => rows.number(cell.items.exact(self.row, self.bytes)),
            _ => set_number(rows, self.number(cell))?,
        }
        Ok(())
    }

    fn set_text(&self, cell: &Cells, text: &str, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let extra = Extra::default();
        let placed = |error| DecodeError {
            at: cell.items.at(self.row),
            ..error
        };
        match cell.column {
            Column::Topic => rows.topic(Naming::Topic, text),
            Column::Unit => rows.unit(text),
            Column::Type => rows.property(text),
            Column::Sensor => rows.sensor(text),
            Column::Text => rows.value(Value::Text(text)),
            Column::Json => {
                let json = lexical::json_result(text, 0, self.limits).map_err(placed)?;
                rows.value(Value::Json(&json));
            }
            Column::Quality => rows.extra(Extra {
                quality: Some(text),
                ..extra
            }),
            Column::Feature => rows.extra(Extra {
                feature: Some(text),
                ..extra
            }),
            _ => rows.extra(Extra {
                parameters: Some(&lexical::json(text, 0, self.limits).map_err(placed)?),
                ..extra
            }),
        }
        Ok(())
    }

    fn number(&self, cell: &Cells) -> Result<f64, DecodeError> {
        let number = cell.items.double(self.row, self.bytes);
        let at = cell.items.at(self.row);
        finite(number, at)
    }

    fn time(&self, cell: &Cells) -> Result<Time, DecodeError> {
        let unit = match cell.field.kind {
            Kind::Instant(unit) => unit,
            _ => 1,
        };
        let nanos = cell.items.long(self.row, self.bytes).checked_mul(unit);
        let nanos = nanos.filter(|&nanos| nanos != i64::MIN);
        let what = "a time between the years 1677 and 2262";
        let wrong = DecodeError::expected(cell.items.at(self.row), what);
        nanos.map(Time::from_nanos).ok_or(wrong)
    }

    /// The text, in a dictionary or plain; a name that is null in its dictionary is none.
    fn text(&self, cell: &Cells) -> Result<Option<&'a str>, DecodeError> {
        if cell.field.dictionary.is_none() {
            return cell.items.text(self.row, self.bytes, self.limits).map(Some);
        }
        let at = cell.items.at(self.row);
        let missing = || DecodeError::expected(at, "an index into a dictionary sent before");
        let dictionary = cell.dictionary.ok_or_else(missing)?;
        let index = usize::try_from(cell.items.long(self.row, self.bytes));
        let index = index.map_err(|_| missing())?;
        if !dictionary.is_there(index, self.bytes) {
            return if index < dictionary.len() {
                Ok(None)
            } else {
                Err(missing())
            };
        }
        let text = dictionary.text(index, self.bytes, self.limits)?;
        self.referred.take(text.len(), at)?;
        Ok(Some(text))
    }
}
