//! Sections of a page that say something: where a run measured a part, tables of the rest have no rows, or rows of
//! dashes.

/// Between the blocks of a section: paragraphs, lists, tables.
const GAP: &str = "\n\n";

/// The page without tables that say nothing, each with the line that announces it, and without sections of which
/// no table is left; what never had a table stays.
pub fn that_say_something(page: &str) -> String {
    const HEAD: &str = "\n## ";
    let mut sections = page.split(HEAD);
    let mut text = sections.next().unwrap_or_default().to_owned();
    for section in sections.filter_map(said) {
        text += HEAD;
        text += &section;
    }
    text
}

/// What is left of a section; nothing where it had tables and has none.
fn said(section: &str) -> Option<String> {
    let blocks: Vec<&str> = section.split(GAP).collect();
    let mut kept: Vec<&str> = Vec::new();
    for block in &blocks {
        if !is_table(block) || has_rows(block) {
            kept.push(block);
        } else if kept.last().is_some_and(|before| announces(before)) {
            kept.pop();
        }
    }
    if kept.len() == blocks.len() {
        return Some(section.to_owned());
    }
    let is_left = kept.iter().any(|block| is_table(block));
    is_left.then(|| kept.join(GAP).trim_end().to_owned() + "\n")
}

fn lines(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter(|line| !line.is_empty())
}

fn is_table(block: &str) -> bool {
    let rule = lines(block).nth(1).unwrap_or_default();
    lines(block).all(|line| line.starts_with('|')) && rule.replace(' ', "").starts_with("|---")
}

/// Whether a table has a row with more than its name and dashes.
fn has_rows(table: &str) -> bool {
    let is_mute = |row: &str| {
        let cells = row.trim_matches('|').split('|').map(str::trim);
        let said = cells.skip(1).filter(|cell| !cell.is_empty());
        let mut said = said.peekable();
        said.peek().is_some() && said.all(|cell| cell == "-")
    };
    lines(table).skip(2).any(|row| !is_mute(row))
}

/// Whether a paragraph is of the table behind it alone.
fn announces(block: &str) -> bool {
    block.ends_with(':') && !block.contains('\n')
}

#[cfg(test)]
mod tests {
    use super::that_say_something;

    const WORDS: &str = "# Page\n\nwords\n\n## Words\n\nalone\n";

    #[test]
    fn a_section_whose_tables_have_no_rows_is_left_out() {
        let full = "\n## Full\n\n| b |\n| --- |\n| 1 |\n";
        let empty = "\n## Empty\n\nabout\n\n| a |\n|---|\n\n| b |\n|---:|\n";
        let page = [WORDS, empty, full].concat();
        assert_eq!(that_say_something(&page), [WORDS, full].concat());
    }

    #[test]
    fn a_row_of_dashes_says_nothing() {
        let dashes = "\n## Dashes\n\n| a | b |\n|---|---|\n| x | - |\n| y | - |\n";
        let one = "\n## One\n\n| a | b |\n|---|---|\n| x | - |\n| y | 3 |\n";
        let page = [WORDS, dashes, one].concat();
        assert_eq!(that_say_something(&page), [WORDS, one].concat());
    }

    #[test]
    fn a_table_without_rows_goes_with_the_line_that_announces_it() {
        let (about, first, second) = ("\n## Part\n\nabout", "By polling:", "By push:");
        let (empty, full) = ("| a |\n|---|", "| a |\n|---|\n| 1 |");
        let page = |parts: &[&str]| format!("{WORDS}{}\n", parts.join("\n\n"));
        assert_eq!(
            that_say_something(&page(&[about, first, empty, second, full])),
            page(&[about, second, full])
        );
        assert_eq!(
            that_say_something(&page(&[about, first, full, second, empty])),
            page(&[about, first, full])
        );
    }
}
