//! Records of tokens as rows.

use super::rule::Rule;
use super::{Role, Separators, token};
use crate::error::DecodeError;
use crate::limits::SWE_FIELDS_MAX;
use crate::rows::Rows;
use crate::vocabulary::iso_time::TimeReader;
use memchr::memchr;
use weir_model::batch::Naming;
use weir_model::{Extra, KeptNames, Limits, Time};

/// The fields of a record in their order.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    roles: [Role; SWE_FIELDS_MAX],
    count: usize,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            roles: [Role::Skip; SWE_FIELDS_MAX],
            count: 0,
        }
    }
}

impl Record {
    /// Adds a field that is described at `at`.
    pub(crate) fn push(&mut self, role: Role, at: usize) -> Result<(), DecodeError> {
        let over = DecodeError::over(at, "fields of a record", SWE_FIELDS_MAX);
        *self.roles.get_mut(self.count).ok_or(over)? = role;
        self.count += 1;
        Ok(())
    }

    /// The fields' roles.
    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles[..self.count]
    }

    /// Places of the fields that are results.
    fn results(&self) -> impl Iterator<Item = usize> + '_ {
        let roles = self.roles().iter().enumerate();
        roles.filter_map(|(index, role)| matches!(role, Role::Value(_)).then_some(index))
    }

    /// Number of fields that are results: so many rows a record gives.
    pub(crate) fn result_count(&self) -> usize {
        self.results().count()
    }
}

/// Values that all records of a block share.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shared<'a> {
    pub(crate) extra: Extra<'a>,
    pub(crate) latitude: Option<f64>,
    pub(crate) longitude: Option<f64>,
}

/// Reads the records of one block.
pub(crate) struct BlockReader<'a> {
    pub(crate) separators: &'a Separators,
    pub(crate) shared: Shared<'a>,
    pub(crate) limits: &'a Limits,
    /// What is said of the tokens of fields, by the field's place.
    pub(crate) rules: &'a [(usize, Rule)],
    pub(crate) times: TimeReader,
    /// Records read so far.
    pub(crate) count: usize,
}

impl BlockReader<'_> {
    /// Reads all records of a block whose first byte is at `at`; `names` are of the datastream of
    /// each result.
    pub(crate) fn read(
        &mut self,
        block: &str,
        at: usize,
        record: &Record,
        names: &[KeptNames],
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        self.each_record(block, at, |reader, text, at| {
            reader.record(text, at, record, names, rows)
        })
    }

    /// Reads a block whose records begin with the number of what describes them.
    pub(crate) fn read_choice<'s>(
        &mut self,
        block: &str,
        at: usize,
        rows: &mut Rows<'_>,
        described: impl Fn(usize) -> Option<(&'s Record, KeptNames)>,
    ) -> Result<(), DecodeError> {
        self.each_record(block, at, |reader, text, at| {
            let number = reader.split_token(text).0.parse().ok();
            let what = "the number of a line that begins with #";
            let (record, names) = number
                .and_then(&described)
                .ok_or_else(|| DecodeError::expected(at, what))?;
            reader.record(text, at, record, &[names], rows)
        })
    }

    fn each_record(
        &mut self,
        block: &str,
        at: usize,
        mut take: impl FnMut(&mut Self, &str, usize) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut rest = block;
        while !rest.is_empty() {
            let (one, after) = self.split_record(rest);
            let start = at + block.len() - rest.len();
            let text = one.trim_ascii_start();
            if !text.is_empty() {
                self.count += 1;
                let lead = one.len() - text.len();
                take(self, text.trim_ascii_end(), start + lead)?;
            }
            rest = after;
        }
        Ok(())
    }

    /// White space as separator is any run of it, since XML's tools wrap lines (`collapseWhiteSpaces`
    /// of SWE Common 2.0); of several lines, each is a record.
    fn split_record<'t>(&self, rest: &'t str) -> (&'t str, &'t str) {
        let separator = self.separators.block.as_str();
        let bytes = rest.as_bytes();
        let (at, len) = match separator.as_bytes() {
            [b' ' | b'\t'] => (bytes.iter().position(u8::is_ascii_whitespace), 1),
            white if white.trim_ascii().is_empty() => (memchr(b'\n', bytes), 1),
            [one] => (memchr(*one, bytes), 1),
            _ => (rest.find(separator), separator.len()),
        };
        at.map_or((rest, ""), |at| (&rest[..at], &rest[at + len..]))
    }

    /// Reads one record: a row for each of its results.
    pub(crate) fn record(
        &mut self,
        text: &str,
        at: usize,
        record: &Record,
        names: &[KeptNames],
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        for (result, names) in record.results().zip(names) {
            rows.begin_as(at, *names)?;
            self.set_shared(rows);
            self.tokens(text, at, record, result, rows)?;
            rows.end(at)?;
        }
        Ok(())
    }

    fn set_shared(&self, rows: &mut Rows<'_>) {
        let shared = &self.shared;
        if !shared.extra.is_empty() {
            rows.extra(shared.extra);
        }
        shared.latitude.into_iter().for_each(|it| rows.latitude(it));
        shared
            .longitude
            .into_iter()
            .for_each(|it| rows.longitude(it));
    }

    fn tokens(
        &mut self,
        text: &str,
        at: usize,
        record: &Record,
        result: usize,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        let mut rest = Some(text);
        let mut valid = (None, None);
        for (index, role) in record.roles().iter().enumerate() {
            let Some(here) = rest else {
                return Err(DecodeError::expected(at + text.len(), TOKENS));
            };
            let start = at + text.len() - here.len();
            let (token, after) = self.split_token(here);
            rest = after;
            let role = match role {
                Role::Value(_) if index != result => Role::Skip,
                role => *role,
            };
            let token = token.trim_ascii();
            if !self.is_nil(index, role, token, start, rows)? {
                self.token(role, token, start, rows, &mut valid)?;
            }
        }
        match rest {
            None => {}
            Some(rest) => return Err(DecodeError::expected(at + text.len() - rest.len(), TOKENS)),
        }
        if let (Some(from), Some(to)) = valid {
            rows.extra(Extra {
                valid: Some((from, to)),
                ..Extra::default()
            });
        }
        Ok(())
    }

    /// Whether a token stands for nothing; that there is no result is the observation's result, and why its quality.
    /// One that there may not be is refused.
    fn is_nil(
        &self,
        index: usize,
        role: Role,
        token: &str,
        at: usize,
        rows: &mut Rows<'_>,
    ) -> Result<bool, DecodeError> {
        let rule = self.rules.iter().find(|(of, _)| *of == index);
        let (Some((_, rule)), false) = (rule, token.is_empty() || role == Role::Skip) else {
            return Ok(false);
        };
        let decimal = self.separators.decimal;
        let Some(reason) = rule.reason(token, decimal) else {
            return rule.check(token, at, decimal).map(|()| false);
        };
        if matches!(role, Role::Value(_)) {
            token::set_nil(reason, rows);
        }
        Ok(true)
    }

    fn split_token<'t>(&self, rest: &'t str) -> (&'t str, Option<&'t str>) {
        let separator = self.separators.token.as_str();
        let at = match separator.as_bytes() {
            [one] => memchr(*one, rest.as_bytes()),
            _ => rest.find(separator),
        };
        at.map_or((rest, None), |at| {
            (&rest[..at], Some(&rest[at + separator.len()..]))
        })
    }

    fn token(
        &mut self,
        role: Role,
        token: &str,
        at: usize,
        rows: &mut Rows<'_>,
        valid: &mut (Option<Time>, Option<Time>),
    ) -> Result<(), DecodeError> {
        let decimal = self.separators.decimal;
        if let Role::Value(kind) = role {
            return token::read_value(kind, token, at, decimal, rows, self.limits);
        }
        if token.is_empty() {
            return Ok(());
        }
        match role {
            Role::Time => rows.time(self.time(token, at)?),
            Role::Period => self.period(token, at, rows)?,
            Role::ValidFrom => valid.0 = Some(self.time(token, at)?),
            Role::ValidTo => valid.1 = Some(self.time(token, at)?),
            Role::Lat => rows.latitude(degrees(token, at, decimal)?),
            Role::Lon => rows.longitude(degrees(token, at, decimal)?),
            Role::Skip | Role::Stream | Role::Value(_) => {}
            Role::End => {
                let end = Some(self.time(token, at)?);
                rows.extra(Extra {
                    end,
                    ..Extra::default()
                });
            }
            Role::ResultTime => {
                let result_time = Some(self.time(token, at)?);
                rows.extra(Extra {
                    result_time,
                    ..Extra::default()
                });
            }
            Role::Parameters => token::read_json(token, at, self.limits, |json| {
                rows.extra(Extra {
                    parameters: Some(json),
                    ..Extra::default()
                });
            })?,
            named => token::read_text(token, at, self.limits, |text| set_text(named, text, rows))?,
        }
        Ok(())
    }

    /// Begin and end with a solidus between them (ISO 8601), or an instant.
    fn period(&mut self, token: &str, at: usize, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let (begin, end) = token.split_once('/').unwrap_or((token, ""));
        rows.time(self.time(begin, at)?);
        if !end.is_empty() {
            let end = Some(self.time(end, at + begin.len() + 1)?);
            rows.extra(Extra {
                end,
                ..Extra::default()
            });
        }
        Ok(())
    }

    fn time(&mut self, token: &str, at: usize) -> Result<Time, DecodeError> {
        let time = self.times.read(token);
        time.map_err(|error| DecodeError::expected(at + error.at, error.expected))
    }
}

const TOKENS: &str = "as many tokens as the record has fields";

fn degrees(token: &str, at: usize, decimal: u8) -> Result<f64, DecodeError> {
    token::number(token, decimal)
        .ok_or_else(|| DecodeError::expected(at, "degrees as a decimal number"))
}

fn set_text(role: Role, text: &str, rows: &mut Rows<'_>) {
    let extra = Extra::default();
    match role {
        Role::Topic => rows.topic(Naming::Topic, text),
        Role::Sensor => rows.sensor(text),
        Role::Type => rows.property(text),
        Role::Unit => rows.unit(text),
        Role::Quality => rows.extra(Extra {
            quality: Some(text),
            ..extra
        }),
        _ => rows.extra(Extra {
            feature: Some(text),
            ..extra
        }),
    }
}
