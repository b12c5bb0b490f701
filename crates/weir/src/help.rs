//! What `--help` says of what is built in.

use weir_codec::FORMATS;
use weir_registry::client_schemes;

/// What the help says of a URL: all that is understood.
pub(crate) fn whom(what: &str) -> String {
    format!(
        "{what}: SCHEME://HOST:PORT, SCHEME one of {}",
        client_schemes().join(", ")
    )
}

const EXAMPLES: &str = "Examples:
  echo 21.5 | weir pub mqtt://127.0.0.1 kitchen/temperature --as plain
  tail -f lines.json | weir pub http://127.0.0.1:8080 kitchen";

/// Which encodings are sent how, for `--help`.
pub(crate) fn how_sent() -> String {
    let names = |line_by_line: bool| {
        let formats = FORMATS.iter();
        let those = formats.filter(|format| format.line_by_line == line_by_line);
        those.map(|format| format.name).collect::<Vec<_>>()
    };
    format!(
        "Messages come from standard input.\n\
         Each line is a message, sent as it comes: {}.\n\
         All of the input is one message: {}.\n\n{EXAMPLES}",
        names(true).join(", "),
        names(false).join(", ")
    )
}
