//! Topics, filters, times, cursors and geometries: no text breaks a reader, and a filter that is a topic
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
    if let Some(geometry) = weir_geo::parse(text) {
        let _ = weir_geo::equals(&geometry, &geometry);
        let _ = (
            weir_geo::length(&geometry),
            weir_geo::contains(&geometry, &geometry),
        );
    }
});
