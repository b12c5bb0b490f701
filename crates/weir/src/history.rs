//! `weir history`.

use crate::arguments::History;
use crate::convert::format;
use crate::peer::{failed, on_a_thread, peer};
use crate::subscribe::filters;
use std::io::{self, Write};
use weir_binding::{Pages, Past};
use weir_codec::Format;
use weir_program::Failure;
use weir_program::Standard;

/// Formats whose message is a table: its first line names the columns, and all pages are one table.
pub(crate) const TABLES: &[&str] = &["csv"];

/// Prints the past, all pages of it: text as it is, binary messages behind their length (32-bit,
/// big-endian).
pub(crate) fn run(history: History) -> Result<(), Failure> {
    let format = format(&history.format)?;
    let filters = filters(&history.filters)?;
    let (client, target) = peer(&history.url, format, &history.trust)?;
    let past = Past {
        filters,
        options: options(&history),
    };
    on_a_thread(async {
        let opened = client.past(target, past).await;
        let mut pages = opened.map_err(|error| failed(&history.url, &error))?;
        print(&mut *pages, format, &history.url).await
    })
}

fn options(history: &History) -> Vec<(&'static str, String)> {
    let given = [
        ("from", &history.from),
        ("to", &history.to),
        ("every", &history.every),
        ("agg", &history.agg),
        ("unit", &history.unit),
    ];
    let set = given.into_iter();
    set.filter_map(|(name, value)| Some((name, value.clone()?)))
        .collect()
}

async fn print(pages: &mut dyn Pages, format: &Format, url: &str) -> Result<(), Failure> {
    let mut out = Standard::default();
    let mut first = true;
    while let Some(page) = pages.next().await.map_err(|error| failed(url, &error))? {
        write(&page, format, first, &mut out).map_err(Failure::no)?;
        if out.is_closed() {
            break;
        }
        first = false;
    }
    Ok(())
}

fn write(page: &[u8], format: &Format, first: bool, out: &mut Standard) -> io::Result<()> {
    if !format.text {
        out.write_all(&(page.len() as u32).to_be_bytes())?;
        out.write_all(page)?;
        return out.flush();
    }
    let table = TABLES.contains(&format.name);
    let text = if table && !first { rows(page) } else { page };
    out.write_all(text)?;
    if !text.is_empty() && !text.ends_with(b"\n") {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// What follows the line that names the columns.
fn rows(page: &[u8]) -> &[u8] {
    let end = page.iter().position(|&byte| byte == b'\n');
    end.map_or(&[], |end| &page[end + 1..])
}
