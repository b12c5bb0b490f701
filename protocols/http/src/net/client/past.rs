//! The past, page by page.

use super::connection::{Connection, refused};
use super::subscribe::get;
use super::url::Url;
use bytes::Bytes;
use std::io;
use weir_binding::{LocalFuture, Pages, Past, Target};

/// Observations asked for at once: as many as a page may have.
const PAGE_OBSERVATIONS: u32 = 10_000;

/// Asks for one page after the other, each where the one before says.
pub(super) struct Pager {
    url: Url,
    target: Target,
    connection: Option<Connection>,
    /// Target of the next page; none behind the last.
    next: Option<String>,
}

impl Pager {
    pub(super) async fn open(url: Url, target: Target, past: Past) -> io::Result<Self> {
        let format = target.format.name;
        let mut query = format!("as={format}&limit={PAGE_OBSERVATIONS}");
        for (name, value) in &past.options {
            query.push_str(&format!(
                "&{name}={}",
                weir_model::percent::encode(value, b"")
            ));
        }
        let next = Some(url.past(&past.filters, &query));
        let connection = Some(Connection::open(&url, &target).await?);
        Ok(Self {
            url,
            target,
            connection,
            next,
        })
    }

    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let Some(path) = self.next.take() else {
            return Ok(None);
        };
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_stale().await => connection,
            _ => Connection::open(&self.url, &self.target).await?,
        };
        let head = get(&mut connection, &self.url, &self.target, &path, "").await?;
        let (body, keep_alive) = connection.body().await?;
        if head.status != 200 {
            return Err(refused(head.status, &body));
        }
        self.connection = keep_alive.then_some(connection);
        self.next = head.header("link").and_then(next_of);
        Ok(Some(body.into()))
    }
}

/// The target of `<...>; rel="next"` (RFC 8288 section 3).
fn next_of(link: &str) -> Option<String> {
    let (target, parameters) = link.strip_prefix('<')?.split_once('>')?;
    parameters
        .contains("rel=\"next\"")
        .then(|| target.to_owned())
}

impl Pages for Pager {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Bytes>>> {
        Box::pin(Pager::next(self))
    }
}
