//! The README's table is what the lists say.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[allow(dead_code, reason = "the example has a main")]
#[path = "../examples/readme.rs"]
mod table;

#[test]
fn the_table_of_the_readme_is_generated() {
    let readme = include_str!("../../../README.md");
    let begin = "<!-- generated: cargo run -p weir --example readme -->\n";
    let (_, rest) = readme.split_once(begin).unwrap();
    let (shown, _) = rest.split_once("<!-- end -->").unwrap();
    assert_eq!(shown.trim(), table::table().trim());
}
