//! The published table of formats is the one that the list gives.

#[path = "../examples/table.rs"]
#[allow(dead_code)]
mod example;

#[test]
fn the_published_table_is_up_to_date() {
    let published = include_str!("../../../docs/reference/formats.md");
    assert!(
        published == example::table(),
        "run: cargo run -p weir-codec --example table > docs/reference/formats.md"
    );
}
