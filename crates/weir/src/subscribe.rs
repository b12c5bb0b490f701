//! `weir sub`.

use crate::Failure;
use crate::arguments::Subscribe;
use crate::convert::format;
use crate::publish::{failed, on_a_thread, peer};
use std::io::{self, ErrorKind, Write, stdout};
use weir_binding::{Event, Subscriber};
use weir_model::{Cursor, Filter};

/// Prints messages: text ones a line each, binary ones behind their length (32-bit, big-endian).
pub(crate) fn run(subscribe: Subscribe) -> Result<(), Failure> {
    let format = format(&subscribe.format)?;
    let filters = filters(&subscribe.filters)?;
    let since = subscribe
        .since
        .as_deref()
        .map(str::parse::<Cursor>)
        .transpose();
    let since = since.map_err(|error| Failure::usage(format!("--since: {error}")))?;
    let (binding, target) = peer(&subscribe.url, format, &subscribe.trust)?;
    on_a_thread(async {
        let opened = binding.subscriber(target, filters, since).await;
        let mut subscriber = opened.map_err(|error| failed(&subscribe.url, &error))?;
        print(&mut *subscriber, &subscribe, format.text).await
    })
}

/// The filters that were typed.
pub(crate) fn filters(texts: &[String]) -> Result<Vec<Filter>, Failure> {
    let parsed = texts.iter().map(|text| {
        Filter::parse(text).map_err(|error| Failure::usage(format!("filter `{text}`: {error}")))
    });
    parsed.collect()
}

async fn print(
    subscriber: &mut dyn Subscriber,
    subscribe: &Subscribe,
    text: bool,
) -> Result<(), Failure> {
    let mut left = subscribe.count.unwrap_or(u64::MAX);
    while left > 0 {
        let next = subscriber
            .next()
            .await
            .map_err(|error| failed(&subscribe.url, &error))?;
        match next {
            None => break,
            Some(Event::Message(message, cursor)) => {
                left -= 1;
                match write(&message, text) {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                    written => written.map_err(Failure::no)?,
                }
                tell(subscribe, cursor);
            }
            Some(Event::Position(cursor)) => tell(subscribe, Some(cursor)),
            Some(Event::Gap(gap)) => eprintln!("gap: {gap}"),
        }
    }
    Ok(())
}

fn tell(subscribe: &Subscribe, cursor: Option<Cursor>) {
    if let (true, Some(cursor)) = (subscribe.cursors, cursor) {
        eprintln!("cursor: {cursor}");
    }
}

fn write(message: &[u8], text: bool) -> io::Result<()> {
    let mut out = stdout().lock();
    if text {
        out.write_all(message.trim_ascii_end())?;
        out.write_all(b"\n")?;
    } else {
        out.write_all(&(message.len() as u32).to_be_bytes())?;
        out.write_all(message)?;
    }
    out.flush()
}
