//! Bodies posted to a URL that is no gateway's, on a connection that is kept.
//!
//! What it deliberately does not do: follow what an answer points to, or read a long one. Whoever is posted to
//! may be anybody.

use super::connection::Connection;
use super::url::Url;
use crate::wire::answers::Part;
use bytes::Bytes;
use std::io;
use weir_binding::{Caller, LocalFuture, Post};

/// Longest answer that is read, bytes; a longer one is an error.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Posts to one URL, one body after the other.
pub(super) struct Posts {
    url: Url,
    /// Path and query.
    target: String,
    roots: Option<Bytes>,
    connection: Option<Connection>,
}

impl Posts {
    pub(super) fn to(text: &str, roots: Option<Bytes>) -> io::Result<Self> {
        let (url, target) = Url::of_server(text)?;
        Ok(Self {
            url,
            target,
            roots,
            connection: None,
        })
    }

    fn head(&self, post: &Post<'_>) -> String {
        let mut head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\n",
            self.target,
            self.url.authority()
        );
        if let Some(credential) = &self.url.credential {
            head.push_str(&format!("Authorization: {credential}\r\n"));
        }
        for (name, value) in post.fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let (media, length) = (post.media, post.body.len());
        head.push_str(&format!(
            "Content-Type: {media}\r\nContent-Length: {length}\r\n\r\n"
        ));
        head
    }

    async fn post(&mut self, post: Post<'_>) -> io::Result<(u16, Bytes)> {
        let mut request = self.head(&post).into_bytes();
        request.extend_from_slice(&post.body);
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_stale().await => connection,
            _ => {
                let roots = self.roots.as_deref();
                Connection::trusting(&self.url, roots, ANSWER_BYTES_MAX).await?
            }
        };
        connection.send(&request).await?;
        let head = connection.head().await?;
        let (body, keep_alive) = short_body(&mut connection).await?;
        if keep_alive {
            self.connection = Some(connection);
        }
        Ok((head.status, body.into()))
    }
}

async fn short_body(connection: &mut Connection) -> io::Result<(Vec<u8>, bool)> {
    let mut body = Vec::new();
    loop {
        match connection.part().await? {
            Some(Part::Body(piece)) if body.len() + piece.len() <= ANSWER_BYTES_MAX => {
                body.extend_from_slice(&piece);
            }
            Some(Part::End { keep_alive }) => return Ok((body, keep_alive)),
            Some(Part::Body(_)) => return Err(io::ErrorKind::FileTooLarge.into()),
            _ => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Caller for Posts {
    fn post<'a>(&'a mut self, post: Post<'a>) -> LocalFuture<'a, io::Result<(u16, Bytes)>> {
        Box::pin(Posts::post(self, post))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_url_is_a_server_and_what_is_asked_of_it() {
        for (text, target, host) in [
            (
                "http://192.0.2.1:9000/live/a?b=c#d",
                "/live/a?b=c",
                "192.0.2.1:9000",
            ),
            ("http://[::1]:80", "/", "[::1]"),
            ("http://h?x", "/?x", "h"),
        ] {
            let posts = Posts::to(text, None).unwrap();
            assert_eq!(
                (posts.target.as_str(), posts.url.authority()),
                (target, host.into())
            );
        }
        for text in [
            "ftp://h/",
            "h/a",
            "http://h/a b",
            "http://h/a\r\nX: y",
            "http://",
        ] {
            assert!(Posts::to(text, None).is_err(), "{text}");
        }
    }
}
