//! A message as columns that a page can look at.

use weir_codec::block;
use weir_model::{Batch, Place, Time, Value};

/// What a row's result is.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number = 0,
    /// A boolean.
    Bool = 1,
    /// A string.
    Text = 2,
    /// Observed, but without a result.
    Null = 3,
    /// An array or object, as JSON text.
    Json = 4,
}

impl Kind {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Number(_) => Self::Number,
            Value::Bool(_) => Self::Bool,
            Value::Text(_) => Self::Text,
            Value::Null => Self::Null,
            Value::Json(_) => Self::Json,
        }
    }

    fn is_text(kind: u8) -> bool {
        kind == Self::Text as u8 || kind == Self::Json as u8
    }
}

/// The columns of a message; see [`View`](crate::View) for what each holds.
#[derive(Debug, Default)]
pub struct Columns {
    /// Milliseconds since the epoch.
    pub times: Vec<f64>,
    /// Index into the names.
    pub streams: Vec<u32>,
    /// A [`Kind`].
    pub kinds: Vec<u8>,
    /// Numbers.
    pub numbers: Vec<f64>,
    /// Latitude and longitude; empty where no row has a place.
    pub places: Vec<[f64; 2]>,
    /// Start and length; empty where no row is a text.
    pub text_spans: Vec<[u32; 2]>,
    /// What the spans are of.
    pub texts: String,
    /// Whether any row carries more than columns have.
    pub extras: bool,
}

impl Columns {
    /// Takes over a message; `indices` are those of its datastreams among the names.
    pub(crate) fn fill(&mut self, batch: &Batch, indices: &[u32]) {
        self.clear();
        self.extras = batch.has_extras();
        let rows = 0..batch.len();
        let stream = |row| indices[batch.stream_of(row)];
        self.streams.extend(rows.clone().map(stream));
        let time = |row| batch.time(row).map_or(f64::NAN, milliseconds);
        self.times.extend(rows.clone().map(time));
        let kind = |row| Kind::of(batch.value(row)) as u8;
        self.kinds.extend(rows.clone().map(kind));
        let number = |row| number(batch.value(row));
        self.numbers.extend(rows.clone().map(number));
        if self.kinds.iter().any(|&kind| Kind::is_text(kind)) {
            rows.clone()
                .for_each(|row| self.push_text(batch.value(row)));
        }
        let mut places = rows.clone().map(|row| batch.place(row));
        if batch.has_places() && places.any(|place| place.is_some()) {
            self.places
                .extend(rows.map(|row| degrees(batch.place(row))));
        }
    }

    /// Adds rows of numbers; `indices` are those of their series among the names.
    pub(crate) fn extend(&mut self, rows: &block::Columns, indices: &[u32]) {
        let series = rows.order().map(|(series, _)| indices[series]);
        self.streams.extend(series);
        let time = |row| rows.time(row).map_or(f64::NAN, milliseconds);
        if rows.is_in_order() {
            self.times.extend((0..rows.len()).map(time));
            self.numbers.extend_from_slice(rows.numbers());
        } else {
            let numbers = rows.numbers();
            self.times.extend(rows.order().map(|(_, row)| time(row)));
            self.numbers
                .extend(rows.order().map(|(_, row)| numbers[row]));
        }
        self.kinds.resize(self.times.len(), Kind::Number as u8);
    }

    pub(crate) fn clear(&mut self) {
        self.times.clear();
        self.streams.clear();
        self.kinds.clear();
        self.numbers.clear();
        self.places.clear();
        self.text_spans.clear();
        self.texts.clear();
        self.extras = false;
    }

    fn push_text(&mut self, value: Value<'_>) {
        let text = match value {
            Value::Text(text) | Value::Json(text) => text,
            _ => "",
        };
        let span = [self.texts.len() as u32, text.len() as u32];
        self.text_spans.push(span);
        self.texts.push_str(text);
    }
}

fn number(value: Value<'_>) -> f64 {
    value.number().unwrap_or(f64::NAN)
}

fn degrees(place: Option<Place>) -> [f64; 2] {
    place.map_or([f64::NAN; 2], |place| [place.latitude, place.longitude])
}

/// Nearest double to a time in milliseconds; split so that the fraction survives the double.
///
/// A processor divides doubles several times as fast as integers of 64 bits. Where the split is one
/// millisecond off, because the time as a double was rounded, the rest makes up for it.
fn milliseconds(time: Time) -> f64 {
    let nanos = time.nanos();
    let whole = (nanos as f64 / 1e6).floor() as i64;
    let rest = nanos.wrapping_sub(whole.wrapping_mul(1_000_000));
    whole as f64 + rest as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_nearest_doubles() {
        let nanos = [
            0,
            1,
            -1,
            999_999,
            1_700_000_000_000_000_000,
            i64::MAX,
            i64::MIN + 1,
        ];
        let more = (0..1000).map(|step| 1_262_304_000_250_000_000 + step * 250_000);
        for nanos in nanos.into_iter().chain(more) {
            let exact =
                nanos.div_euclid(1_000_000) as f64 + nanos.rem_euclid(1_000_000) as f64 / 1e6;
            assert_eq!(milliseconds(Time::from_nanos(nanos)), exact, "{nanos}");
        }
    }
}
