//! Sections of a page that say something: where a run measured a part, tables of the rest have no rows.

/// The page without sections all of whose tables are empty; what has no table stays.
pub(crate) fn that_say_something(page: &str) -> String {
    const HEAD: &str = "\n## ";
    let mut sections = page.split(HEAD);
    let mut text = sections.next().unwrap_or_default().to_owned();
    for section in sections.filter(|section| !is_empty(section)) {
        text += HEAD;
        text += section;
    }
    text
}

/// Whether there are tables, and none of them has a row.
fn is_empty(section: &str) -> bool {
    let is_rule = |line: &str| line.starts_with("|---") || line.starts_with("| ---");
    let mut tables = section.lines().skip_while(|line| !is_rule(line));
    let mut is_empty = false;
    while let Some(rule) = tables.next() {
        if is_rule(rule) {
            is_empty = true;
            if tables.next().is_some_and(|line| line.starts_with('|')) {
                return false;
            }
        }
    }
    is_empty
}

#[cfg(test)]
mod tests {
    use super::that_say_something;

    #[test]
    fn a_section_whose_tables_have_no_rows_is_left_out() {
        let words = "# Page\n\nwords\n\n## Words\n\nalone\n";
        let full = "\n## Full\n\n| a |\n|---|\n\n| b |\n| --- |\n| 1 |\n";
        let empty = "\n## Empty\n\nabout\n\n| a |\n|---|\n\n| b |\n|---:|\n";
        let page = [words, empty, full].concat();
        assert_eq!(that_say_something(&page), [words, full].concat());
    }
}
