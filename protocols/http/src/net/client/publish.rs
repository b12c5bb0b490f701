//! Publishing with POST on a connection that is kept.

use super::connection::{Connection, common, refused};
use super::url::Url;
use bytes::Bytes;
use std::io;
use weir_binding::{LocalFuture, Publisher, Target};

/// Posts messages, one after the other.
pub(super) struct Poster {
    url: Url,
    target: Target,
    connection: Option<Connection>,
}

impl Poster {
    pub(super) async fn open(url: Url, target: Target) -> io::Result<Self> {
        let connection = Some(Connection::open(&url, &target).await?);
        Ok(Self {
            url,
            target,
            connection,
        })
    }

    fn request(&self, topic: &str, body: &[u8]) -> Vec<u8> {
        let mut head = format!("POST {} HTTP/1.1\r\n", self.url.topic(topic));
        common(&self.url, &self.target, &mut head);
        head.push_str(&format!(
            "Content-Type: {}\r\nContent-Length: {}\r\n\r\n",
            self.target.format.media,
            body.len()
        ));
        [head.as_bytes(), body].concat()
    }

    async fn post(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        let request = self.request(topic, body);
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_stale().await => connection,
            _ => Connection::open(&self.url, &self.target).await?,
        };
        connection.send(&request).await?;
        let head = connection.head().await?;
        let (body, keep_alive) = connection.body().await?;
        if keep_alive {
            self.connection = Some(connection);
        }
        match head.status {
            200..=299 => Ok(()),
            status => Err(refused(status, &body)),
        }
    }
}

impl Publisher for Poster {
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move { self.post(topic, &body).await })
    }
}
