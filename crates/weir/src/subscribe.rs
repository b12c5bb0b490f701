//! `weir sub`.

use crate::arguments::Subscribe;
use crate::convert::format;
use crate::history::TABLES;
use crate::peer::{self, failed, on_a_thread, plainly};
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::time::Duration;
use weir_binding::{Client, Event, Subscriber, Target};
use weir_codec::Format;
use weir_model::url::without_password;
use weir_model::{Cursor, Filter};
use weir_program::Failure;
use weir_program::Standard;

/// Before the first try after a loss; doubled from try to try, as clients of event streams do.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// Between tries, at most.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Prints messages: text ones a line each, binary ones behind their length (32-bit, big-endian).
pub(crate) fn run(subscribe: Subscribe) -> Result<(), Failure> {
    let format = format(&subscribe.format)?;
    let filters = filters(&subscribe.filters)?;
    let (client, target) = peer::peer(&subscribe.url, format, &subscribe.trust)?;
    let following = Following {
        client,
        target,
        filters,
        begins: subscribe.since,
        since: None,
        left: subscribe.count.unwrap_or(u64::MAX),
        cursors: subscribe.cursors,
        pause: PAUSE_MIN,
        out: Standard::default(),
    };
    on_a_thread(following.follow())
}

/// The filters that were typed.
pub(crate) fn filters(texts: &[String]) -> Result<Vec<Filter>, Failure> {
    let parsed = texts.iter().map(|text| {
        Filter::parse(text).map_err(|error| Failure::usage(format!("filter `{text}`: {error}")))
    });
    parsed.collect()
}

/// A subscription that outlives its connections.
struct Following {
    client: Arc<dyn Client>,
    target: Target,
    filters: Vec<Filter>,
    /// Where to begin, as it was typed.
    begins: Option<String>,
    /// Position of what was printed last.
    since: Option<Cursor>,
    /// Messages still wanted.
    left: u64,
    /// Whether positions are told.
    cursors: bool,
    pause: Duration,
    out: Standard,
}

/// Why a connection is no longer printed from.
enum Stop {
    /// All that was wanted is printed, or nobody reads it any more.
    Done,
    /// The connection is gone; the peer said nothing against coming back.
    Lost(io::Error),
}

impl Following {
    async fn follow(mut self) -> Result<(), Failure> {
        let opened = self.open().await;
        let mut subscriber = opened.map_err(|error| match error.to_string() {
            said if said.starts_with("--since") => Failure::usage(said),
            _ => failed(&self.target.url, &error),
        })?;
        loop {
            match self.print(&mut *subscriber).await? {
                Stop::Done => return Ok(()),
                Stop::Lost(error) if subscriber.keeps_its_place() => self.wait(&error).await,
                Stop::Lost(error) => subscriber = self.again(&error).await?,
            }
        }
    }

    async fn open(&self) -> io::Result<Box<dyn Subscriber>> {
        let (target, filters) = (self.target.clone(), self.filters.clone());
        let since = self.since.map(|cursor| cursor.to_string());
        let since = since.or_else(|| self.begins.clone());
        self.client.subscriber(target, filters, since).await
    }

    /// Waits before the next try of one that knows itself where it was; what is lost is told once.
    async fn wait(&mut self, lost: &io::Error) {
        if self.pause == PAUSE_MIN {
            self.tell_lost(lost);
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }

    fn tell_lost(&self, lost: &io::Error) {
        let (url, said) = (without_password(&self.target.url), plainly(lost));
        eprintln!("weir: {url}: {said}; trying again until it is back");
    }

    /// Opens until it succeeds or is refused; one sentence at the beginning and one at the end.
    async fn again(&mut self, lost: &io::Error) -> Result<Box<dyn Subscriber>, Failure> {
        let url = self.target.url.clone();
        self.tell_lost(lost);
        loop {
            tokio::time::sleep(self.pause).await;
            self.pause = (self.pause * 2).min(PAUSE_MAX);
            match self.open().await {
                Ok(subscriber) => {
                    eprintln!("weir: {}: connected again", without_password(&url));
                    return Ok(subscriber);
                }
                Err(error) if is_final(&error) => return Err(failed(&url, &error)),
                Err(_) => {}
            }
        }
    }

    async fn print(&mut self, subscriber: &mut dyn Subscriber) -> Result<Stop, Failure> {
        while self.left > 0 {
            let event = match subscriber.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(Stop::Lost(ErrorKind::ConnectionReset.into())),
                Err(error) if is_final(&error) => return Err(failed(&self.target.url, &error)),
                Err(error) => return Ok(Stop::Lost(error)),
            };
            self.pause = PAUSE_MIN;
            self.take(event).map_err(Failure::no)?;
            if self.out.is_closed() {
                break;
            }
        }
        Ok(Stop::Done)
    }

    fn take(&mut self, event: Event) -> io::Result<()> {
        let cursor = match event {
            Event::Message(message, cursor) => {
                self.left -= 1;
                write(&message, self.target.format, &mut self.out)?;
                cursor
            }
            Event::Position(cursor) => Some(cursor),
            Event::Gap(gap) => {
                eprintln!("gap: {gap}");
                None
            }
        };
        if let (true, Some(cursor)) = (self.cursors && cursor != self.since, cursor) {
            eprintln!("cursor: {cursor}");
        }
        self.since = cursor.or(self.since);
        Ok(())
    }
}

/// Says whether asking again would be answered the same.
fn is_final(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::NotFound
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData
            | ErrorKind::Unsupported
    )
}

/// The lines of a table end as RFC 4180 section 2 says; schemes that are made of lines leave a line
/// feed of that.
fn with_line_ends(table: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(table.len() + 64);
    let mut quoted = false;
    for &byte in table {
        quoted ^= byte == b'"';
        if byte == b'\n' && !quoted && !out.ends_with(b"\r") {
            out.push(b'\r');
        }
        out.push(byte);
    }
    if !out.ends_with(b"\n") {
        out.extend_from_slice(b"\r\n");
    }
    out
}

fn write(message: &[u8], format: &Format, out: &mut Standard) -> io::Result<()> {
    if TABLES.contains(&format.name) {
        out.write_all(&with_line_ends(message))?;
    } else if format.text {
        out.write_all(message)?;
        if !message.ends_with(b"\n") {
            out.write_all(b"\n")?;
        }
    } else {
        out.write_all(&(message.len() as u32).to_be_bytes())?;
        out.write_all(message)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::with_line_ends;

    #[test]
    fn a_table_has_the_line_ends_of_its_standard() {
        let table = b"a,b\n1,\"x\ny\"\r\n2,z";
        assert_eq!(with_line_ends(table), b"a,b\r\n1,\"x\ny\"\r\n2,z\r\n");
    }
}
