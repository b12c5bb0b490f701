//! Prints the README's table of delivery schemes, protocols and formats, from the lists.

use weir_binding::Section;
use weir_codec::FORMATS;
use weir_registry::{BINDINGS, client_schemes};

fn main() {
    print!("{}", table());
}

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
        for (name, asked) in binding.deliveries() {
            out.push_str(&format!("| {} | {name} | {asked} | {all} |\n", line.name));
        }
    }
    let urls = client_schemes().into_iter();
    let urls: Vec<_> = urls.map(|scheme| format!("`{scheme}://`")).collect();
    let urls = urls.join(" ");
    out.push_str(&format!("\n`weir pub` and `weir sub` take {urls}.\n"));
    out.push_str(&format!("\nEncodings: {}.\n", formats.join(" ")));
    out
}
