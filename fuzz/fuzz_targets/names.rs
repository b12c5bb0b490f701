//! Topics, filters, times and cursors: no text breaks a reader, and a filter that is a topic
//! matches itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_model::{Cursor, Filter, Time};

fuzz_target!(|text: &str| {
    if let Ok(filter) = Filter::parse(text) {
        assert!(!filter.is_topic() || filter.matches(text));
        assert!(filter.covers(&filter));
    }
    if let Ok(time) = text.parse::<Time>() {
        assert_eq!(time.to_string().parse(), Ok(time));
    }
    let _ = text.parse::<Cursor>();
});
