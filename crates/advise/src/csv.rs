//! `summary.csv` as rows (RFC 4180), and trimmed for keeping.

use std::collections::BTreeSet;

use crate::library::Fault;

/// The head of the table, as the bench writes it.
const HEAD: &str =
    "experiment,target,cell,metric,unit,n,mean,p50,p90,p99,p999,max,ci_low,ci_high,lost,status";
/// What may stand behind it: in how many rounds, which an older table and a trimmed one do not say.
const ROUNDS: &str = ",rounds";

/// One row: a metric of one contender in one cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) experiment: String,
    pub(crate) target: String,
    pub(crate) cell: String,
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) n: u64,
    pub(crate) mean: f64,
    /// p50, p90, p99, p99.9 and the greatest; of distributions.
    pub(crate) percentiles: Option<[f64; 5]>,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) lost: u64,
    pub(crate) status: String,
}

/// Reads a table; rows without a metric (cells that failed) and ratios are passed over.
pub(crate) fn rows(text: &str) -> Result<Vec<Row>, Fault> {
    let mut records = records(text);
    let head = records.next().unwrap_or_default();
    let columns = head.len();
    let head = head.join(",");
    if head.strip_suffix(ROUNDS).unwrap_or(&head) != HEAD {
        return Err(Fault::at(1, format!("the first line is not `{HEAD}`")));
    }
    let mut rows = Vec::new();
    for (index, fields) in records.enumerate() {
        if fields.len() != columns {
            let problem = format!("{} columns instead of {columns}", fields.len());
            return Err(Fault::at(index + 2, problem));
        }
        if fields[3].is_empty() || fields[1].contains('/') {
            continue;
        }
        rows.push(row(&fields).map_err(|problem| Fault::at(index + 2, problem))?);
    }
    Ok(rows)
}

fn row(fields: &[String]) -> Result<Row, String> {
    let number = |at: usize| -> Result<f64, String> {
        let text = &fields[at];
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("`{text}` is no number"))
    };
    // One round has no interval.
    let end = |at: usize| match fields[at].is_empty() {
        true => number(6),
        false => number(at),
    };
    let count = |at: usize| -> Result<u64, String> {
        let text = &fields[at];
        text.parse().map_err(|_| format!("`{text}` is no count"))
    };
    let percentiles = match fields[7].is_empty() {
        true => None,
        false => Some([number(7)?, number(8)?, number(9)?, number(10)?, number(11)?]),
    };
    Ok(Row {
        experiment: fields[0].clone(),
        target: fields[1].clone(),
        cell: fields[2].clone(),
        metric: fields[3].clone(),
        unit: fields[4].clone(),
        n: count(5)?,
        mean: number(6)?,
        percentiles,
        low: end(12)?,
        high: end(13)?,
        lost: count(14)?,
        status: fields[15].clone(),
    })
}

/// The records of a table; a quoted field may hold commas, quotes and line ends.
fn records(text: &str) -> impl Iterator<Item = Vec<String>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut fields = Vec::new();
        loop {
            let (field, behind) = field(rest);
            fields.push(field);
            match behind.strip_prefix(',') {
                Some(next) => rest = next,
                None => {
                    let behind = behind.strip_prefix('\r').unwrap_or(behind);
                    rest = behind.strip_prefix('\n').unwrap_or(behind);
                    return Some(fields);
                }
            }
        }
    })
}

/// A field, and what is behind it: a comma, a line end, or nothing.
fn field(text: &str) -> (String, &str) {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\r', '\n']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut field = String::new();
    while let Some(quote) = rest.find('"') {
        field += &rest[..quote];
        rest = &rest[quote + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => {
                let end = rest.find([',', '\r', '\n']).unwrap_or(rest.len());
                return (field, &rest[end..]);
            }
        }
    }
    (field + rest, "")
}

/// The targets and cells that a table has.
pub fn measured(text: &str) -> Result<BTreeSet<(String, String)>, Fault> {
    Ok(rows(text)?
        .into_iter()
        .map(|row| (row.target, row.cell))
        .collect())
}

/// A table with only the rows that an answer can rest on, its numbers to four digits that matter.
/// `keep` is asked with the target and the cell.
pub fn trimmed(text: &str, keep: impl Fn(&str, &str) -> bool) -> Result<String, Fault> {
    let mut out = format!("{HEAD}\n");
    for row in rows(text)? {
        if !crate::figures::is_used(&row.metric) || !keep(&row.target, &row.cell) {
            continue;
        }
        let Row { n, lost, .. } = row;
        let percentiles = match row.percentiles {
            Some(all) => all.map(short).join(","),
            None => ",,,,".into(),
        };
        let [mean, low, high] = [row.mean, row.low, row.high].map(short);
        let names = [
            &row.experiment,
            &row.target,
            &row.cell,
            &row.metric,
            &row.unit,
        ];
        let names = names.map(|name| quoted(name)).join(",");
        let status = quoted(&row.status);
        out += &format!("{names},{n},{mean},{percentiles},{low},{high},{lost},{status}\n");
    }
    Ok(out)
}

/// A number to four digits.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    format!("{rounded}")
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ROW: &str =
        "x,weir,link=lan,rtt,us,5,12345.678,1,2,3,4,5,12000,13000,0,\"is \"\"odd\"\", yes\"\n";

    #[test]
    fn quotes_keep_commas_and_quotes() {
        let rows = rows(&format!("{HEAD}\n{ROW}")).unwrap();
        assert_eq!(rows[0].status, "is \"odd\", yes");
        assert_eq!(rows[0].percentiles, Some([1.0, 2.0, 3.0, 4.0, 5.0]));
    }

    #[test]
    fn a_table_of_other_columns_is_refused_with_its_line() {
        assert_eq!(rows("a,b\n").unwrap_err().line, 1);
        assert_eq!(rows(&format!("{HEAD}\n{ROW}x,y\n")).unwrap_err().line, 3);
        let bad = ROW.replace("12345.678", "many");
        let fault = rows(&format!("{HEAD}\n{bad}")).unwrap_err();
        assert_eq!(fault.to_string(), "line 2: `many` is no number");
    }

    #[test]
    fn a_table_that_counts_rounds_is_read() {
        let once = "x,weir,link=lan,rtt,us,1,5,1,2,3,4,5,,,0,ok,1\n";
        let row = &rows(&format!("{HEAD}{ROUNDS}\n{once}")).unwrap()[0];
        assert_eq!((row.low, row.mean, row.high), (5.0, 5.0, 5.0));
        assert_eq!(rows(&format!("{HEAD}\n{once}")).unwrap_err().line, 2);
    }

    #[test]
    fn a_trimmed_table_reads_back_with_four_digits() {
        let text = trimmed(&format!("{HEAD}\n{ROW}"), |_, _| true).unwrap();
        let row = &rows(&text).unwrap()[0];
        assert_eq!((row.mean, row.low), (12350.0, 12000.0));
        assert_eq!(row.status, "is \"odd\", yes");
        assert_eq!(
            [0.0, 0.012345, 98765.4].map(short),
            ["0", "0.01235", "98770"]
        );
    }

    #[test]
    fn cells_that_failed_and_ratios_are_no_figures() {
        let failed = "x,weir,link=lan,,,0,,,,,,,,,,no\n";
        let ratio = "x,weir/null,link=lan,rtt_ratio,1,3,0.5,,,,,,0.4,0.6,0,ok\n";
        assert!(
            rows(&format!("{HEAD}\n{failed}{ratio}"))
                .unwrap()
                .is_empty()
        );
    }
}
