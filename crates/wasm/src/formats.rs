//! The list of formats, told to the page.

use std::fmt::Write as _;
use weir_codec::FORMATS;

/// Appends a JSON array with a row for each format, in the order of the list.
pub(crate) fn write_list(out: &mut String) {
    for (index, format) in FORMATS.iter().enumerate() {
        out.push(if index == 0 { '[' } else { ',' });
        let _infallible = write!(
            out,
            r#"{{"name":"{}","media":"{}","text":{},"oneLine":{},"topics":{}}}"#,
            format.name, format.media, format.text, format.one_line, format.carries.topic,
        );
    }
    out.push(']');
}
