//! Prints the README's table of delivery schemes, protocols and formats, from the lists.

use weir_binding::{Scheme, Section};
use weir_codec::FORMATS;
use weir_registry::BINDINGS;

fn main() {
    print!("{}", table());
}

/// How each scheme is asked for.
const ASKED_BY: &[(Scheme, &str)] = &[
    (Scheme::Polling, "`GET /live/{filter}`"),
    (Scheme::LongPolling, "`Prefer: wait=30` or `?wait=30`"),
    (Scheme::Streaming, "`?stream`"),
    (
        Scheme::Sse,
        "`Accept: text/event-stream`, payload by `?as=`",
    ),
    (
        Scheme::WebSocket,
        "`Upgrade: websocket`, subprotocol `weir.ENC`",
    ),
];

/// The table as Markdown.
pub(crate) fn table() -> String {
    let formats: Vec<_> = FORMATS
        .iter()
        .map(|format| format!("`{}`", format.name))
        .collect();
    let mut out =
        String::from("| protocol | delivery | asked for by | encodings |\n|---|---|---|---|\n");
    let all = format!("all {}", FORMATS.len());
    for line in BINDINGS {
        let Ok(binding) = (line.configure)(Section::new(line.name)) else {
            continue;
        };
        let schemes = binding
            .schemes()
            .iter()
            .map(|scheme| format!("`{scheme}://`"));
        for (scheme, asked) in ASKED_BY {
            let name = Scheme::ALL.iter().find(|(_, known)| known == scheme);
            let name = name.map_or("", |(name, _)| name);
            out.push_str(&format!("| {} | {name} | {asked} | {all} |\n", line.name));
        }
        let schemes: Vec<_> = schemes.collect();
        out.push_str(&format!(
            "\n`weir pub` and `weir sub` take {}.\n",
            schemes.join(" ")
        ));
    }
    out.push_str(&format!("\nEncodings: {}.\n", formats.join(" ")));
    out
}
