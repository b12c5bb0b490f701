//! The table that is kept: a figure, where, how many, a line each.

use crate::house::figures::Figure;
use crate::house::survey::Survey;
use core::fmt;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where it is kept.
pub(super) const FILE: &str = "xtask/house.tsv";

/// Names that say nothing of what they name; they are to go.
const WORDS: &[&str] = &["Fault", "Held", "House", "Kept", "Place", "Told"];

/// Figures by their name and their place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Table(BTreeMap<(String, String), usize>);

impl Table {
    /// What was counted.
    pub(super) fn of(survey: &Survey, places: &[(&'static str, Vec<PathBuf>)]) -> Self {
        let mut table = Self::default();
        for part in &survey.parts {
            table.add(Figure::Circle, &part.folder, part.count(Figure::Circle));
            let kind = match part.is_program() {
                true => "programs",
                false => "libraries",
            };
            table.add(Figure::StringError, kind, part.count(Figure::StringError));
            for figure in Figure::ALL {
                if !matches!(figure, Figure::Circle | Figure::StringError) {
                    table.add(figure, "all", part.count(figure));
                }
            }
        }
        table.insert("name", "more than three", survey.crowded().count());
        for word in WORDS {
            let places = survey.names.get(*word).map_or(0, Vec::len);
            table.insert("name", word, places);
        }
        for (kind, files) in places {
            table.insert("places", kind, files.len());
        }
        table
    }

    fn add(&mut self, figure: Figure, place: &str, count: usize) {
        if count > 0 {
            let key = (figure.name().to_owned(), place.to_owned());
            *self.0.entry(key).or_default() += count;
        }
    }

    fn insert(&mut self, figure: &str, place: &str, count: usize) {
        self.0.insert((figure.to_owned(), place.to_owned()), count);
    }

    /// Reads what is kept.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = |line: &str| {
            let (rest, count) = line.rsplit_once('\t')?;
            let (figure, place) = rest.split_once('\t')?;
            Some(((figure.to_owned(), place.to_owned()), count.parse().ok()?))
        };
        let lines = text.lines();
        let read = lines.map(|line| read(line).ok_or_else(|| format!("{FILE}: no figure: {line}")));
        read.collect::<Result<_, _>>().map(Self)
    }

    /// Says each figure beside the kept one, or only those that differ, and whether none is worse.
    pub(super) fn beside(&self, kept: &Self, only_others: bool) -> (String, bool) {
        let (mut said, mut worse) = (String::new(), 0);
        let keys: std::collections::BTreeSet<_> = self.0.keys().chain(kept.0.keys()).collect();
        for key in keys {
            let now = self.0.get(key).copied().unwrap_or_default();
            let before = kept.0.get(key).copied().unwrap_or_default();
            let remark = match now.cmp(&before) {
                core::cmp::Ordering::Greater => format!("  WORSE: it was {before}"),
                core::cmp::Ordering::Equal => String::new(),
                core::cmp::Ordering::Less => format!("  better: it was {before}"),
            };
            worse += usize::from(now > before);
            if only_others && now == before {
                continue;
            }
            said += &format!("{:16}{:32}{now:>6}{remark}\n", key.0, key.1);
        }
        if worse > 0 {
            said += &format!("{worse} worse than {FILE}: cargo xtask house FIGURE says where\n");
        } else if self != kept {
            said += &format!("better than {FILE}: cargo xtask house --write\n");
        }
        (said, worse == 0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = self.0.iter();
        rows.try_for_each(|((figure, place), count)| writeln!(f, "{figure}\t{place}\t{count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worse_fails_and_what_is_better_is_said() {
        let kept = Table::parse("circle\tcrates/a\t4\nname\tPlace\t5\n").expect("two rows");
        assert_eq!(Table::parse(&kept.to_string()), Ok(kept));
        let kept = Table::parse("circle\tcrates/a\t4\nname\tPlace\t5\n").expect("two rows");
        let now = Table::parse("circle\tcrates/a\t4\nname\tPlace\t4\n").expect("two rows");
        let (said, holds) = now.beside(&kept, true);
        assert!(holds && said.contains("4  better: it was 5"), "{said}");
        let (said, holds) = kept.beside(&now, false);
        assert!(!holds && said.contains("5  WORSE: it was 4"), "{said}");
        let more = Table::parse("circle\tcrates/b\t2\n").expect("a row");
        assert!(!more.beside(&now, true).1);
    }

    #[test]
    fn what_is_as_it_was_is_left_out_where_others_are_asked_for() {
        let table = Table::parse(include_str!("../../house.tsv")).expect("the table is read");
        assert_eq!(table.beside(&table, true), (String::new(), true));
        assert!(table.beside(&table, false).0.contains("Place"));
    }

    #[test]
    fn a_line_that_is_no_figure_is_refused() {
        let refused = Table::parse("circle\tcrates/a\n");
        assert_eq!(refused, Err(format!("{FILE}: no figure: circle\tcrates/a")));
    }
}
