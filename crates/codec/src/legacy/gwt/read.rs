//! GWT-RPC answers read.

use super::tokens::{Reference, Tokens};
use super::{ARRAY_LIST, EXCEPTION, EXTRA, OBSERVATION, OK, PLACE, TIMESTAMP};
use super::{KIND_BOOL, KIND_JSON, KIND_NULL, KIND_NUMBER, KIND_TEXT};
use crate::error::DecodeError;
use crate::inline::Inline;
use crate::lexical;
use crate::rows::{Rows, read_text};
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Extra, Limits, Place, Time, Value};

pub(super) fn decode(
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    read_text(bytes, limits, |text| decode_text(text, out, limits))
}

fn decode_text(text: &str, out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    if text.starts_with(EXCEPTION) {
        return Err(Tokens::new(text, EXCEPTION.len(), limits)?.exception());
    }
    if !text.starts_with(OK) {
        return Err(if OK.starts_with(text) {
            DecodeError::truncated(text.len())
        } else {
            DecodeError::expected(0, "//OK and an array")
        });
    }
    let mut answer = Answer {
        tokens: Tokens::new(text, OK.len(), limits)?,
        times: Inline::default(),
        places: Inline::default(),
        limits,
    };
    answer.list(&mut Rows::new(out, limits))
}

/// An answer being read, and the objects in it that may be referred to, with their numbers.
struct Answer<'a> {
    tokens: Tokens<'a>,
    times: Inline<(u32, i64), 64>,
    places: Inline<(u32, f64, f64), 64>,
    limits: &'a Limits,
}

impl Answer<'_> {
    fn list(&mut self, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        if let Reference::Null(at) | Reference::Old(_, at) = self.tokens.object(ARRAY_LIST)? {
            return Err(DecodeError::expected(at, "a list"));
        }
        let (len, at) = self.tokens.int()?;
        if len < 0 {
            return Err(DecodeError::expected(at, "a length that is not negative"));
        }
        for _ in 0..len {
            match self.tokens.object(OBSERVATION)? {
                Reference::New(_, at) => self.observation(at, rows)?,
                Reference::Null(at) | Reference::Old(_, at) => {
                    return Err(DecodeError::expected(at, "an observation of its own"));
                }
            }
        }
        self.tokens.finish()
    }

    /// Fields in the order of their names.
    fn observation(&mut self, at: usize, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        rows.begin(at)?;
        self.extra(rows)?;
        let (kind, kind_at) = self.tokens.int()?;
        let number = self.tokens.double()?;
        if let Some(place) = self.place()? {
            rows.latitude(place.latitude);
            rows.longitude(place.longitude);
        }
        if let Some(sensor) = self.tokens.string()? {
            rows.sensor(sensor);
        }
        self.value(kind, kind_at, number, rows)?;
        if let Some(time) = self.time()? {
            rows.time(time);
        }
        if let Some(topic) = self.tokens.string()? {
            rows.topic(Naming::Topic, topic);
        }
        if let Some(property) = self.tokens.string()? {
            rows.property(property);
        }
        if let Some(unit) = self.tokens.string()? {
            rows.unit(unit);
        }
        rows.end(at)
    }

    fn value(
        &mut self,
        kind: i64,
        at: usize,
        number: f64,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        let text = self.tokens.string()?;
        match (kind, text) {
            (KIND_NULL, _) => rows.value(Value::Null),
            (KIND_NUMBER, _) => rows.value(Value::Number(number)),
            (KIND_BOOL, _) => rows.value(Value::Bool(number != 0.0)),
            (KIND_TEXT, Some(text)) => rows.value(Value::Text(text)),
            (KIND_JSON, Some(text)) => {
                let json = lexical::json_result(text, 0, self.limits);
                let json = json.map_err(|error| DecodeError { at, ..error })?;
                rows.value(Value::Json(&json));
            }
            (KIND_TEXT | KIND_JSON, None) => {
                return Err(DecodeError::expected(
                    at,
                    "a kind of result that has no text",
                ));
            }
            _ => return Err(DecodeError::expected(at, "a kind of result from 0 to 4")),
        }
        Ok(())
    }

    fn extra(&mut self, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let at = match self.tokens.object(EXTRA)? {
            Reference::Null(_) => return Ok(()),
            Reference::New(_, at) => at,
            Reference::Old(_, at) => return Err(DecodeError::expected(at, "an object of its own")),
        };
        let nothing = Extra::default();
        let end = self.time()?;
        if let feature @ Some(_) = self.tokens.string()? {
            rows.extra(Extra { feature, ..nothing });
        }
        if let Some(text) = self.tokens.string()? {
            let parameters = &*json(text, at, self.limits)?;
            rows.extra(Extra {
                parameters: Some(parameters),
                ..nothing
            });
        }
        if let quality @ Some(_) = self.tokens.string()? {
            rows.extra(Extra { quality, ..nothing });
        }
        let result_time = self.time()?;
        let valid = match (self.time()?, self.time()?) {
            (None, None) => None,
            (Some(from), Some(to)) => Some((from, to)),
            _ => {
                let what = "a valid time needs both `validFrom` and `validTo`";
                return Err(DecodeError::meaning(at, what));
            }
        };
        rows.extra(Extra {
            end,
            result_time,
            valid,
            ..nothing
        });
        Ok(())
    }

    fn time(&mut self) -> Result<Option<Time>, DecodeError> {
        match self.tokens.object(TIMESTAMP)? {
            Reference::Null(_) => Ok(None),
            Reference::New(number, at) => {
                let millis = self.tokens.long()?;
                let (nanos, _) = self.tokens.int()?;
                let time = time_of(millis, nanos);
                let what = "a time between the years 1677 and 2262";
                let nanos = time.ok_or_else(|| DecodeError::expected(at, what))?;
                self.times.push((number, nanos));
                Ok(Some(Time::from_nanos(nanos)))
            }
            Reference::Old(number, at) => {
                let times = &self.times;
                let index = times.partition_point(|&(known, _)| u64::from(known) < number);
                let found = times
                    .get(index)
                    .filter(|&(known, _)| u64::from(known) == number);
                let what = "a reference to an instant before it";
                let (_, nanos) = found.ok_or_else(|| DecodeError::expected(at, what))?;
                Ok(Some(Time::from_nanos(nanos)))
            }
        }
    }

    fn place(&mut self) -> Result<Option<Place>, DecodeError> {
        let (latitude, longitude) = match self.tokens.object(PLACE)? {
            Reference::Null(_) => return Ok(None),
            Reference::New(number, _) => {
                let (latitude, longitude) = (self.tokens.double()?, self.tokens.double()?);
                self.places.push((number, latitude, longitude));
                (latitude, longitude)
            }
            Reference::Old(number, at) => {
                let places = &self.places;
                let index = places.partition_point(|&(known, ..)| u64::from(known) < number);
                let found = places
                    .get(index)
                    .filter(|&(known, ..)| u64::from(known) == number);
                let what = "a reference to a place before it";
                let (_, latitude, longitude) =
                    found.ok_or_else(|| DecodeError::expected(at, what))?;
                (latitude, longitude)
            }
        };
        Ok(Some(Place {
            latitude,
            longitude,
        }))
    }
}

/// The milliseconds say the second, the nanoseconds all that is below it.
fn time_of(millis: i64, nanos: i64) -> Option<i64> {
    if !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    Time::from_parts(millis.div_euclid(1000), nanos).map(Time::nanos)
}

/// JSON in a string has no offset of its own that the message shows.
fn json<'t>(
    text: &'t str,
    at: usize,
    limits: &'t Limits,
) -> Result<alloc::borrow::Cow<'t, str>, DecodeError> {
    lexical::json(text, 0, limits).map_err(|error| DecodeError { at, ..error })
}
