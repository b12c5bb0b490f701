//! Documents over the emulated links: all in all, the way's share of it (figure 9), and how it feels.

use std::fmt::Write;

use super::{head, row};
use crate::encoding::over_link::{Class, LINKS, formats_on_links};
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, Run};

const HOW: &str = "
A server at the far end of the link, a client at the near one, a connection for each document. Downloads: until
the last byte is there, and parsed from then on; uploads (RS, IO): built, sent, and acknowledged. Share is the
part of the way (figure 9); first is the time until a first observation can be shown, which of XML is parsed
as it comes and of the other formats is the whole. Over 3G one exchange warms up and three count, as published;
over Wi-Fi ten that are steady; a quick run has two of either. Classes as above.
";

pub(super) fn tables(run: &Run, text: &mut String) {
    let on_links = run.results.iter().filter(|r| r.cell.starts_with("link="));
    let measured: Vec<&CellResult> = on_links.filter(|r| r.metric("t_total").is_some()).collect();
    if measured.is_empty() {
        return;
    }
    *text += "\n## Documents over Wi-Fi and 3G\n";
    *text += HOW;
    for (link, used) in &run.links {
        let _ = writeln!(text, "\n`{link}`: {used}");
    }
    for link in LINKS {
        table(link, &measured, text);
    }
}

/// What stands before the format in a cell's name, without the link.
fn document_of<'a>(cell: &'a str, link: &str) -> Option<&'a str> {
    let rest = cell.strip_prefix("link=")?.strip_prefix(link)?;
    let rest = rest.strip_prefix(';')?;
    rest.split(";from=document;format=").next()
}

fn table(link: &str, measured: &[&CellResult], text: &mut String) {
    let mut documents: Vec<&str> = Vec::new();
    for document in measured.iter().filter_map(|r| document_of(&r.cell, link)) {
        if !documents.contains(&document) {
            documents.push(document);
        }
    }
    if documents.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\nOver `{link}`, ms in all (share of the way; first), class:\n"
    );
    let mut heads = vec!["document"];
    heads.extend(formats_on_links());
    head(&heads, text);
    for document in documents {
        let shown = |format: &&str| {
            let cell = format!("link={link};{document};from=document;format={format}");
            let result = measured.iter().find(|result| result.cell == cell);
            result.map_or("-".into(), |result| of(result))
        };
        let name = std::iter::once(document.replace(';', ", "));
        row(name.chain(formats_on_links().iter().map(shown)), text);
    }
}

fn of(result: &CellResult) -> String {
    let mean = |name: &str| Some(result.metric(name)?.estimate.mean);
    let (Some(total), Some(share)) = (mean("t_total"), mean("communication_share")) else {
        return "-".into();
    };
    let first = mean("t_first_observation");
    let first = first.map_or(String::new(), |us| format!("; {}", number(us / 1e3)));
    let class = Class::of(total).name();
    format!("{} ({share:.0} %{first}), {class}", number(total / 1e3))
}

#[cfg(test)]
mod tests {
    use super::document_of;

    #[test]
    fn a_document_is_named_by_where_and_which() {
        let cell = "link=3g;place=native;data=caps;file=0;from=document;format=exi-c";
        assert_eq!(
            document_of(cell, "3g"),
            Some("place=native;data=caps;file=0")
        );
        assert_eq!(document_of(cell, "wifi"), None);
    }
}
