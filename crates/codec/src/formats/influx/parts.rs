//! A message of the line protocol that cannot be taken whole, line by line: each is a message by itself, so that
//! one that cannot be read costs its neighbours nothing.

use super::read::Influx;
use crate::error::DecodeError;
use crate::format::Parts;
use crate::lines::Lines;
use alloc::vec::Vec;
use weir_model::{BatchBuilder, Limits};

/// Parts a message into ones of `series_max` series; a line of more is one by itself.
pub(super) fn part(message: &[u8], series_max: usize, limits: &Limits) -> Parts {
    let mut made = Parts::default();
    let (mut series, mut part) = (BatchBuilder::new(), Vec::new());
    let mut at = 0;
    while at < message.len() {
        let mut line = line(&message[at..]);
        let mut before = series.len();
        let mut read = read(line, limits, &mut series);
        if !part.is_empty() && series.batch().stream_count() > series_max {
            made.parts.push(core::mem::take(&mut part));
            series.clear();
            before = 0;
            read = self::read(line, limits, &mut series);
        }
        match read {
            // Of a comment there is nothing to take.
            Ok(()) if series.len() == before => {}
            Ok(()) => part.push(at..at + line.len()),
            Err(error) => {
                // A quote that nothing closes costs no line behind its own.
                line = first_line(line);
                made.refused_count += 1;
                made.refused.get_or_insert(DecodeError {
                    at: at + error.at.min(line.trim_ascii_end().len()),
                    ..error
                });
            }
        }
        at += line.len();
    }
    if !part.is_empty() {
        made.parts.push(part);
    }
    made
}

fn read(line: &[u8], limits: &Limits, series: &mut BatchBuilder) -> Result<(), DecodeError> {
    super::read::decode(line, series, limits)
}

/// The line that a message begins with, with its end; strings in it may span lines.
fn line(message: &[u8]) -> &[u8] {
    let (mut state, mut quoted) = (Influx::default(), false);
    let mut lines = message.split_inclusive(move |&byte| state.ends_line(byte, &mut quoted));
    lines.next().unwrap_or_default()
}

fn first_line(lines: &[u8]) -> &[u8] {
    let mut lines = lines.split_inclusive(|&byte| byte == b'\n');
    lines.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::String;
    use alloc::{format, vec};
    use core::ops::Range;

    fn made(message: &[u8], series_max: usize) -> (Vec<String>, Parts) {
        let made = part(message, series_max, &Limits::default());
        let text = |part: &Vec<Range<usize>>| {
            let lines = part.iter().map(|line| &message[line.clone()]);
            String::from_utf8(lines.collect::<Vec<_>>().concat()).unwrap()
        };
        (made.parts.iter().map(text).collect(), made)
    }

    fn taken(made: &Parts) -> usize {
        made.parts.iter().map(Vec::len).sum()
    }

    #[test]
    fn a_line_that_cannot_be_read_is_left_out_and_told() {
        let (parts, made) = made(
            b"m a=1\nm a=\xff\nm,t=x b=1 c\nm s=\"two\nlines\"\nm a=2",
            9,
        );
        assert_eq!(parts, ["m a=1\nm s=\"two\nlines\"\nm a=2"]);
        assert_eq!((taken(&made), made.refused_count), (3, 2));
        let first = made.refused.unwrap();
        assert_eq!(first.at, 10);
    }

    #[test]
    fn a_quote_that_nothing_closes_costs_its_line() {
        let (parts, made) = made(b"m a=1\nm s=\"two\nm a=2\nm a=3\n", 9);
        assert_eq!(parts, ["m a=1\nm a=2\nm a=3\n"]);
        assert_eq!(made.refused_count, 1);
    }

    #[test]
    fn a_part_is_about_so_many_series_at_most() {
        let message = (0..7)
            .map(|n| format!("m{n} a=1,b=2\n"))
            .collect::<String>();
        let (parts, made) = made(message.as_bytes(), 6);
        let lines = |part: &String| part.lines().count();
        assert_eq!(parts.iter().map(lines).collect::<Vec<_>>(), [3, 3, 1]);
        assert_eq!(parts.concat(), message);
        assert_eq!((taken(&made), made.refused_count), (7, 0));
    }

    #[test]
    fn the_same_series_again_need_no_part_of_their_own() {
        let message = "m a=1,b=2\n".repeat(20);
        assert_eq!(made(message.as_bytes(), 2).0, [message]);
    }

    #[test]
    fn a_line_of_more_series_is_a_part_by_itself() {
        let (parts, _) = made(b"m a=1\nm b=1,c=1,d=1\nm a=2\n", 2);
        assert_eq!(parts, vec!["m a=1\n", "m b=1,c=1,d=1\n", "m a=2\n"]);
    }

    #[test]
    fn of_nothing_there_are_no_parts() {
        assert!(made(b"", 2).0.is_empty());
        assert!(made(b"# a comment\n\n", 2).0.is_empty());
        let (parts, made) = made(b"#\xff\n", 2);
        assert!(parts.is_empty());
        assert_eq!(made.refused_count, 1);
    }
}
