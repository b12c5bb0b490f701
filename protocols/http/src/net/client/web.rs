//! Requests of the clients of services, one after the other on a connection that is kept.

use super::connection::{BYTES_MAX, Connection, common};
use super::subscribe::Endless;
use super::url::Url;
use crate::wire::answers::Head;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use weir_binding::{Answered, Ask, LocalFuture, Subscriber, Target, Web, invalid};
use weir_model::Time;

/// One server.
pub(super) struct Requests {
    url: Url,
    /// Path of the URL.
    path: String,
    target: Target,
    connection: Option<Connection>,
}

impl Requests {
    pub(super) fn to(target: Target, text: &str) -> io::Result<Self> {
        let (url, asked) = Url::of_server(text)?;
        if let Some(at) = asked.find('?') {
            let rest = &asked[at..];
            return Err(invalid(format!(
                "`{rest}` in the URL: it names the service only"
            )));
        }
        Ok(Self {
            url,
            path: asked.trim_end_matches('/').to_owned(),
            target,
            connection: None,
        })
    }

    fn request(&self, ask: &Ask<'_>) -> io::Result<Vec<u8>> {
        if let Some(other) = ask.target.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(invalid(format!("{other:?} in the target `{}`", ask.target)));
        }
        let mut head = format!("{} {} HTTP/1.1\r\n", ask.method, ask.target);
        common(&self.url, &self.target, &mut head);
        head.push_str(&format!("Accept: {}\r\n", ask.accept));
        if ask.method != "GET" {
            let (media, length) = (ask.media, ask.body.len());
            head.push_str(&format!(
                "Content-Type: {media}\r\nContent-Length: {length}\r\n"
            ));
        }
        Ok([head.as_bytes(), b"\r\n", &ask.body[..]].concat())
    }

    async fn asked(&mut self, ask: &Ask<'_>) -> io::Result<(Connection, Head)> {
        let request = self.request(ask)?;
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_stale().await => connection,
            _ => Connection::open(&self.url, &self.target).await?,
        };
        connection.send(&request).await?;
        let head = connection.head().await?;
        Ok((connection, head))
    }

    async fn ask(&mut self, ask: Ask<'_>) -> io::Result<Answered> {
        let (mut connection, head) = self.asked(&ask).await?;
        let (body, keep_alive) = connection.body().await?;
        if keep_alive {
            self.connection = Some(connection);
        }
        Ok(Answered {
            status: head.status,
            headers: head.headers,
            body: body.into(),
        })
    }

    /// Server-sent events have a connection of their own.
    async fn events(&mut self, target: &str) -> io::Result<Option<Box<dyn Subscriber>>> {
        let (connection, head) = self.asked(&Ask::get(target, "text/event-stream")).await?;
        let media = head.header("content-type").unwrap_or_default();
        if head.status != 200 || !media.starts_with("text/event-stream") {
            return Ok(None);
        }
        Ok(Some(Box::new(Endless::events(connection, BYTES_MAX))))
    }
}

impl Web for Requests {
    fn ask<'a>(&'a mut self, ask: Ask<'a>) -> LocalFuture<'a, io::Result<Answered>> {
        Box::pin(Requests::ask(self, ask))
    }

    fn events<'a>(
        &'a mut self,
        target: &'a str,
    ) -> LocalFuture<'a, io::Result<Option<Box<dyn Subscriber>>>> {
        Box::pin(Requests::events(self, target))
    }

    fn pause(&self, time: Duration) -> LocalFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "a client's messages have the time of their sending"
    )]
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        Time::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    fn path(&self) -> &str {
        &self.path
    }
}
