//! A message as columns that a page can look at.

use weir_model::{Batch, Value};

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
}

impl Columns {
    /// Takes over a message; `indices` are those of its datastreams among the names.
    pub(crate) fn fill(&mut self, batch: &Batch, indices: &[u32]) {
        self.clear();
        for row in 0..batch.len() {
            self.streams.push(indices[batch.stream_of(row)]);
            self.times.push(
                batch
                    .time(row)
                    .map_or(f64::NAN, |time| milliseconds(time.nanos())),
            );
            self.push_value(row, batch.value(row));
            self.push_place(batch, row);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.times.clear();
        self.streams.clear();
        self.kinds.clear();
        self.numbers.clear();
        self.places.clear();
        self.text_spans.clear();
        self.texts.clear();
    }

    fn push_value(&mut self, row: usize, value: Value<'_>) {
        let (kind, number) = match value {
            Value::Number(number) => (Kind::Number, number),
            Value::Bool(truth) => (Kind::Bool, f64::from(u8::from(truth))),
            Value::Null => (Kind::Null, f64::NAN),
            Value::Text(text) => (self.push_text(row, text, Kind::Text), f64::NAN),
            Value::Json(text) => (self.push_text(row, text, Kind::Json), f64::NAN),
        };
        self.kinds.push(kind as u8);
        self.numbers.push(number);
        if !self.text_spans.is_empty() {
            self.text_spans.resize(row + 1, [0, 0]);
        }
    }

    fn push_text(&mut self, row: usize, text: &str, kind: Kind) -> Kind {
        self.text_spans.resize(row, [0, 0]);
        self.text_spans
            .push([self.texts.len() as u32, text.len() as u32]);
        self.texts.push_str(text);
        kind
    }

    fn push_place(&mut self, batch: &Batch, row: usize) {
        let place = batch.place(row);
        if place.is_none() && self.places.is_empty() {
            return;
        }
        self.places.resize(row, [f64::NAN; 2]);
        self.places
            .push(place.map_or([f64::NAN; 2], |place| [place.latitude, place.longitude]));
    }
}

/// Nanoseconds as milliseconds; split so that the fraction survives the double.
fn milliseconds(nanos: i64) -> f64 {
    nanos.div_euclid(1_000_000) as f64 + nanos.rem_euclid(1_000_000) as f64 / 1e6
}
