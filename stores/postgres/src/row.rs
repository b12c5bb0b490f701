//! A row of the database as an observation.

use std::borrow::Cow;
use tokio_postgres::types::FromSql;
use tokio_postgres::{Error, Row};
use weir_model::batch::Naming;
use weir_model::{Extra, Observation, Place, Time, Value};

/// The columns of an observation `o` that [`Kept`] reads, in their order.
macro_rules! columns {
    () => {
        "o.time, o.cursor, o.number, o.truth, o.text, o.json::text AS json, o.latitude, o.longitude, o.time_end, \
         o.result_time, o.valid_from, o.valid_to, o.quality, o.feature, o.parameters::text AS parameters, o.quoted, \
         o.description"
    };
}
pub(crate) use columns;

/// A row whose columns of an observation begin at some place.
pub(crate) struct Kept<'a> {
    row: &'a Row,
    first: usize,
    text: Option<Cow<'a, str>>,
    quality: Option<Cow<'a, str>>,
    feature: Option<Cow<'a, str>>,
}

impl<'a> Kept<'a> {
    pub(crate) fn of(row: &'a Row, first: usize) -> Result<Self, Error> {
        let is_quoted = row.try_get::<_, Option<bool>>(first + 15)? == Some(true);
        let text = |column: usize| -> Result<_, Error> {
            let text: Option<&str> = row.try_get(first + column)?;
            Ok(text.map(|text| unquoted(text, is_quoted)))
        };
        Ok(Self {
            text: text(4)?,
            quality: text(12)?,
            feature: text(13)?,
            row,
            first,
        })
    }

    fn column<T: FromSql<'a>>(&self, column: usize) -> Result<T, Error> {
        self.row.try_get(self.first + column)
    }

    /// Cursor of the record that it came in.
    pub(crate) fn cursor(&self) -> Result<u64, Error> {
        Ok(self.column::<i64>(1)? as u64)
    }

    /// The row as an observation of this topic.
    pub(crate) fn observation<'b>(&'b self, topic: &'b str) -> Result<Observation<'b>, Error> {
        let time = |column| -> Result<_, Error> {
            Ok(self.column::<Option<i64>>(column)?.map(Time::from_nanos))
        };
        Ok(Observation {
            naming: Naming::Topic,
            topic,
            sensor: None,
            property: None,
            unit: None,
            description: self.description()?,
            value: self.value()?,
            time: time(0)?,
            place: self.place()?,
            extra: Extra {
                end: time(8)?,
                result_time: time(9)?,
                valid: time(10)?.zip(time(11)?),
                quality: self.quality.as_deref(),
                feature: self.feature.as_deref(),
                parameters: self.column(14)?,
            },
        })
    }

    /// The number of its description; rows of before there were any are of the first.
    fn description(&self) -> Result<u8, Error> {
        let number = self.column::<Option<i16>>(16)?;
        Ok(number.map_or(0, |number| number as u8))
    }

    fn value(&self) -> Result<Value<'_>, Error> {
        if let Some(number) = self.column(2)? {
            return Ok(Value::Number(number));
        }
        if let Some(truth) = self.column(3)? {
            return Ok(Value::Bool(truth));
        }
        let json = self.column::<Option<&str>>(5)?.map(Value::Json);
        let text = self.text.as_deref().map(Value::Text);
        Ok(text.or(json).unwrap_or(Value::Null))
    }

    fn place(&self) -> Result<Option<Place>, Error> {
        let (latitude, longitude): (Option<f64>, Option<f64>) = (self.column(6)?, self.column(7)?);
        let known = latitude.zip(longitude);
        Ok(known.map(|(latitude, longitude)| Place {
            latitude,
            longitude,
        }))
    }
}

/// A text as it was before a zero byte made it a JSON string.
fn unquoted(text: &str, is_quoted: bool) -> Cow<'_, str> {
    match is_quoted.then(|| serde_json::from_str::<String>(text)) {
        Some(Ok(text)) => text.into(),
        _ => text.into(),
    }
}
