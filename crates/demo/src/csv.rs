//! A table of times and numbers from CSV (RFC 4180), with errors that point at the cell.
//!
//! It reads what instruments and spreadsheets export: a header, one time column found by its name,
//! optional latitude and longitude columns, numeric columns. What is left out is said: columns of
//! which most cells are no numbers, and such cells of the others, wherever they stand (`unavailable`
//! in the first row as in any other). The whole file is held in memory, since a replay starts over.

use crate::limits::{COLUMNS_MAX, ROWS_MAX};
use core::fmt;
use weir_model::{Place, Time, Value};

/// A table of observations.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the numeric columns, in order.
    pub columns: Vec<String>,
    /// In order of time.
    pub rows: Vec<Row>,
    /// What is left out, a sentence each.
    pub left_out: Vec<String>,
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// When.
    pub time: Time,
    /// One per column; `None` where the cell is empty.
    pub values: Vec<Option<f64>>,
    /// Where, if the table says so.
    pub place: Option<Place>,
}

/// Why a text is no such table, with the line and the column, both counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvError {
    /// Line of the text.
    pub line: usize,
    /// Column of the table; 0 where the whole line is meant.
    pub column: usize,
    /// What is wrong there.
    pub rule: String,
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "line {}: {}", self.line, self.rule),
            column => write!(f, "line {}, column {column}: {}", self.line, self.rule),
        }
    }
}

impl core::error::Error for CsvError {}

fn fail<T>(line: usize, column: usize, rule: impl Into<String>) -> Result<T, CsvError> {
    Err(CsvError {
        line,
        column,
        rule: rule.into(),
    })
}

impl Table {
    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, CsvError> {
        let mut records = Records {
            text: text.trim_start_matches('\u{feff}'),
            line: 1,
        };
        let Some((_, header)) = records.next_record()? else {
            return fail(1, 0, "the file is empty; a header line is expected");
        };
        let mut cells = Vec::new();
        while let Some((line, record)) = records.next_record()? {
            if record.len() != header.len() {
                let (found, wanted) = (record.len(), header.len());
                return fail(
                    line,
                    0,
                    format!("{found} cells where the header has {wanted}"),
                );
            }
            if cells.len() == ROWS_MAX {
                return fail(line, 0, format!("more than {ROWS_MAX} rows"));
            }
            cells.push((line, record));
        }
        let (roles, left_out) = roles(&header, &cells)?;
        let mut rows = Vec::with_capacity(cells.len());
        for (line, record) in &cells {
            rows.push(row(*line, record, &roles)?);
        }
        rows.sort_by_key(|row| row.time);
        let named = header
            .iter()
            .zip(&roles)
            .filter(|(_, role)| **role == Role::Number);
        Ok(Self {
            columns: named.map(|(name, _)| name.trim().to_owned()).collect(),
            rows,
            left_out,
        })
    }
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Time,
    Lat,
    Lon,
    Number,
    Ignored,
}

type Cells = [(usize, Vec<String>)];

/// What each column is for, and what is left out.
fn roles(header: &[String], cells: &Cells) -> Result<(Vec<Role>, Vec<String>), CsvError> {
    if header.len() > COLUMNS_MAX {
        return fail(
            1,
            COLUMNS_MAX + 1,
            format!("more than {COLUMNS_MAX} columns"),
        );
    }
    let mut roles: Vec<Role> = header.iter().map(|name| named_role(name)).collect();
    let mut left_out = Vec::new();
    let numbers = roles.iter_mut().enumerate();
    for (index, role) in numbers.filter(|(_, role)| **role == Role::Number) {
        let (is_of_numbers, told) = look_through(index, header[index].trim(), cells);
        left_out.extend(told);
        if !is_of_numbers {
            *role = Role::Ignored;
        }
    }
    match roles.iter().filter(|role| **role == Role::Time).count() {
        1 => {}
        0 => {
            return fail(
                1,
                0,
                format!("no time column; one of {} is expected", names()),
            );
        }
        _ => return fail(1, 0, "more than one time column"),
    }
    if !roles.contains(&Role::Number) {
        return fail(1, 0, "no column of numbers beside the time");
    }
    Ok((roles, left_out))
}

/// Whether a column is one of numbers, which most of its cells that say something must be; and what of it is
/// left out.
fn look_through(index: usize, name: &str, cells: &Cells) -> (bool, Option<String>) {
    let said = cells
        .iter()
        .filter(|(_, record)| !empty(record[index].trim()));
    let is_number = |cell: &&(usize, Vec<String>)| number(cell.1[index].trim()).is_some();
    let (numbers, others): (Vec<_>, Vec<_>) = said.partition(is_number);
    if name.is_empty() {
        return (false, Some(format!("column {} has no name", index + 1)));
    }
    let Some((line, record)) = others.first() else {
        let told = format!("column `{name}`: no cell of it says anything");
        return match numbers.is_empty() {
            true => (false, Some(told)),
            false => (true, None),
        };
    };
    let (count, cell) = (others.len(), record[index].trim());
    let first = format!("the first is `{cell}` in line {line}");
    match numbers.len() >= count {
        true => (
            true,
            Some(format!(
                "column `{name}`: {count} cells are no numbers, {first}"
            )),
        ),
        false => (
            false,
            Some(format!(
                "column `{name}`: most of its cells are no numbers, {first}"
            )),
        ),
    }
}

const TIME_NAMES: [&str; 6] = [
    "time",
    "timestamp",
    "datetime",
    "date",
    "phenomenontime",
    "t",
];

fn names() -> String {
    TIME_NAMES.join(", ")
}

/// The role a name asks for: its first word counts, as in `time (UTC)`.
fn named_role(name: &str) -> Role {
    let word = name
        .trim()
        .split([' ', '(', '['])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    match word.as_str() {
        time if TIME_NAMES.contains(&time) => Role::Time,
        "lat" | "latitude" => Role::Lat,
        "lon" | "lng" | "long" | "longitude" => Role::Lon,
        _ => Role::Number,
    }
}

fn empty(cell: &str) -> bool {
    matches!(cell, "" | "NaN" | "nan" | "NA" | "null" | "NULL" | "-")
}

/// A number as exact as it is written: of an integer that is no double, nothing nearby will do.
fn number(cell: &str) -> Option<f64> {
    let number = cell.parse().ok().filter(|number: &f64| number.is_finite());
    number.filter(|_| Value::of_digits(cell).is_none())
}

fn row(line: usize, record: &[String], roles: &[Role]) -> Result<Row, CsvError> {
    let (mut time, mut lat, mut lon) = (None, None, None);
    let mut values = Vec::new();
    for (index, (cell, role)) in record.iter().zip(roles).enumerate() {
        let (cell, column) = (cell.trim(), index + 1);
        match role {
            Role::Ignored => {}
            Role::Time => time = Some(read_time(line, column, cell)?),
            _ => {
                let is_place = matches!(role, Role::Lat | Role::Lon);
                let value = match is_place && !empty(cell) {
                    true => Some(read_number(line, column, cell)?),
                    false => number(cell),
                };
                match role {
                    Role::Lat => lat = value,
                    Role::Lon => lon = value,
                    _ => values.push(value),
                }
            }
        }
    }
    let place = lat.zip(lon).map(|(latitude, longitude)| Place {
        latitude,
        longitude,
    });
    match time {
        Some(time) => Ok(Row {
            time,
            values,
            place,
        }),
        None => fail(line, 0, "no time"),
    }
}

fn read_number(line: usize, column: usize, cell: &str) -> Result<f64, CsvError> {
    match number(cell) {
        Some(number) => Ok(number),
        None => fail(line, column, format!("`{cell}` is not a finite number")),
    }
}

/// RFC 3339 with or without an offset (then UTC), a date alone, a count of seconds or milliseconds
/// since 1970, or a duration as in `0 days 01:13:10`.
fn read_time(line: usize, column: usize, cell: &str) -> Result<Time, CsvError> {
    let seconds = number(cell).map(|count| {
        if count.abs() > 1e11 {
            count / 1e3
        } else {
            count
        }
    });
    if let Some(time) = seconds
        .and_then(Time::from_seconds)
        .or_else(|| duration(cell))
    {
        return Ok(time);
    }
    let text = match cell.len() {
        10 => format!("{cell}T00:00:00Z"),
        _ if cell.ends_with(['Z', 'z'])
            || cell.get(10..).is_some_and(|t| t.contains(['+', '-'])) =>
        {
            cell.to_owned()
        }
        _ => format!("{cell}Z"),
    };
    match text.parse() {
        Ok(time) => Ok(time),
        Err(reason) => fail(line, column, format!("`{cell}` is {reason}")),
    }
}

fn duration(cell: &str) -> Option<Time> {
    let (days, clock) = cell.split_once(" days ")?;
    let mut seconds = days.parse::<f64>().ok()? * 86_400.0;
    for (part, unit) in clock.splitn(3, ':').zip([3600.0, 60.0, 1.0]) {
        seconds += part.parse::<f64>().ok()? * unit;
    }
    Time::from_seconds(seconds)
}

/// The records of a text, with the line each begins at.
struct Records<'a> {
    text: &'a str,
    line: usize,
}

impl Records<'_> {
    fn next_record(&mut self) -> Result<Option<(usize, Vec<String>)>, CsvError> {
        while let Some(rest) = self
            .text
            .strip_prefix('\n')
            .or(self.text.strip_prefix("\r\n"))
        {
            self.text = rest;
            self.line += 1;
        }
        if self.text.is_empty() {
            return Ok(None);
        }
        let (start, mut record) = (self.line, Vec::new());
        loop {
            let cell = self.cell(record.len() + 1)?;
            record.push(cell);
            match self.take() {
                Some(',') => {}
                Some('\n') | None => return Ok(Some((start, record))),
                Some(_) => return fail(self.line, record.len(), "text after a closing quote"),
            }
        }
    }

    fn cell(&mut self, column: usize) -> Result<String, CsvError> {
        match self.text.strip_prefix('"') {
            Some(rest) => {
                self.text = rest;
                self.quoted(column)
            }
            None => {
                let end = self.text.find([',', '\n']).unwrap_or(self.text.len());
                let (cell, rest) = self.text.split_at(end);
                self.text = rest;
                Ok(cell.trim_end_matches('\r').to_owned())
            }
        }
    }

    fn quoted(&mut self, column: usize) -> Result<String, CsvError> {
        let (opened, mut cell) = (self.line, String::new());
        loop {
            let Some(end) = self.text.find('"') else {
                return fail(opened, column, "the quote that opens here is never closed");
            };
            cell.push_str(&self.text[..end]);
            self.line += self.text[..end].matches('\n').count();
            self.text = &self.text[end + 1..];
            match self.text.strip_prefix('"') {
                Some(rest) => self.text = rest,
                None => break,
            }
            cell.push('"');
        }
        if let Some(rest) = self.text.strip_prefix('\r') {
            self.text = rest;
        }
        Ok(cell)
    }

    fn take(&mut self) -> Option<char> {
        let first = self.text.chars().next()?;
        self.text = &self.text[first.len_utf8()..];
        self.line += usize::from(first == '\n');
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_places_and_numbers_are_found_by_name() {
        let text = "time (UTC),station,lat,lon,\"temp, sea\"\r\n\
                    2026-01-01T00:00:00Z,b01,44.5,20,1.5\r\n\
                    2026-01-01 00:30:00,b01,,,\n";
        let table = Table::parse(text).unwrap();
        assert_eq!(table.columns, ["temp, sea"]);
        assert_eq!(table.rows[0].values, [Some(1.5)]);
        assert_eq!(
            table.rows[0].place,
            Some(Place {
                latitude: 44.5,
                longitude: 20.0
            })
        );
        assert_eq!(table.rows[1].values, [None]);
        assert_eq!(table.rows[1].time.to_string(), "2026-01-01T00:30:00Z");
    }

    #[test]
    fn every_way_to_write_a_time_is_read() {
        for (cell, same) in [
            ("1767225600", "2026-01-01T00:00:00Z"),
            ("1767225600000", "2026-01-01T00:00:00Z"),
            ("2026-01-01", "2026-01-01T00:00:00Z"),
            ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
            ("0 days 01:13:10", "1970-01-01T01:13:10Z"),
        ] {
            assert_eq!(read_time(1, 1, cell).unwrap().to_string(), same);
        }
    }

    #[test]
    fn an_error_points_at_the_cell() {
        let error = |text: &str| Table::parse(text).unwrap_err().to_string();
        assert_eq!(
            error(""),
            "line 1: the file is empty; a header line is expected"
        );
        assert!(error("a,b\n1,2\n").starts_with("line 1: no time column"));
        assert_eq!(
            error("time,a,lat\n2026-01-01,1,2\n2026-01-02,2,x\n"),
            "line 3, column 3: `x` is not a finite number"
        );
        assert!(error("time,a\n2026-13-01,1\n").starts_with("line 2, column 1: `2026-13-01` is"));
        assert_eq!(
            error("time,a\n1,2,3\n"),
            "line 2: 3 cells where the header has 2"
        );
        assert!(error("time,a\n1,\"2\n\n").starts_with("line 2, column 2: the quote"));
        assert_eq!(
            error("time,a\n1,\"2\"3\n"),
            "line 2, column 2: text after a closing quote"
        );
        assert_eq!(
            error("time,a\n1,red\n"),
            "line 1: no column of numbers beside the time"
        );
    }

    #[test]
    fn a_quoted_cell_may_span_lines_and_lines_are_still_counted() {
        let text = "time,note,a\n1,\"two\nlines\",2\n2,b,y\n";
        let table = Table::parse(text).unwrap();
        let told = "column `a`: 1 cells are no numbers, the first is `y` in line 4";
        assert!(table.left_out.contains(&told.to_owned()), "{table:?}");
    }

    #[test]
    fn what_is_no_number_is_left_out_and_said_in_any_row() {
        let table = |rows: &str| Table::parse(&format!("time,a,b,,c\n{rows}")).unwrap();
        let first = table("1,unavailable,x,1,\n2,5,3,1,\n3,6,y,1,\n");
        let second = table("1,5,x,1,\n2,unavailable,3,1,\n3,6,y,1,\n");
        for table in [&first, &second] {
            assert_eq!(table.columns, ["a"]);
            assert_eq!(
                table.rows.iter().filter(|row| row.values == [None]).count(),
                1
            );
            let told = ["`unavailable`", "`b`: most", "column 4", "`c`: no cell"];
            let lines = table.left_out.iter().zip(told);
            assert!(
                lines.clone().count() == 4 && lines.into_iter().all(|(line, it)| line.contains(it))
            );
        }
        let long = table("1,9007199254740993,1,1,\n2,9007199254740992,1,1,\n");
        assert_eq!(long.rows[0].values, [None, Some(1.0)]);
        assert!(long.left_out[0].contains("9007199254740993"), "{long:?}");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "[time,a\"\r\n0-9.Z ]{0,80}") {
            let _ = Table::parse(&text);
        }
    }
}
