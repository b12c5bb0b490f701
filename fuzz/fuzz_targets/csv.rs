//! The replay's table reader: no text breaks it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_demo::csv::Table;

fuzz_target!(|text: &str| {
    if let Ok(table) = Table::parse(text) {
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.values.len() == table.columns.len())
        );
    }
});
