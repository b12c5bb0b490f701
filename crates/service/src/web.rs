//! Clients of services: what they say is their own, who carries it is a binding of the Web.
//!
//! A service's client half lives with its service, since both write and read the same documents; it opens no
//! socket and knows no clock. What it deliberately does not do here: follow redirects, keep cookies.

use crate::client::{LocalFuture, Pages, Past, Publisher, Subscriber, Target};
use bytes::Bytes;
use std::io;
use std::time::Duration;
use weir_model::{Batch, BatchBuilder, Filter, Limits, Time};

/// What talks to the peers of some URL schemes.
pub trait Client {
    /// Opens a publisher.
    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>>;

    /// Opens a subscriber; `since` is a position as the peer's protocol writes it, or a time.
    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<String>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>>;

    /// Opens the past.
    fn past(
        &self,
        _target: Target,
        _past: Past,
    ) -> LocalFuture<'static, io::Result<Box<dyn Pages>>> {
        let sentence =
            "the past is not asked for by this scheme: `weir sub --since TIME` begins in it";
        let refused = unsupported(sentence.into());
        Box::pin(std::future::ready(Err(refused)))
    }
}

/// What a service's client is given: requests to one server, and time.
pub trait Web {
    /// Asks and waits for the whole answer, whatever its status.
    fn ask<'a>(&'a mut self, ask: Ask<'a>) -> LocalFuture<'a, io::Result<Answered>>;

    /// Follows server-sent events at a target; `None` where none are offered there.
    fn events<'a>(
        &'a mut self,
        target: &'a str,
    ) -> LocalFuture<'a, io::Result<Option<Box<dyn Subscriber>>>>;

    /// Ready after a while.
    fn pause(&self, time: Duration) -> LocalFuture<'static, ()>;

    /// This machine's clock.
    fn now(&self) -> Time;

    /// The path of the URL that was opened, without a slash at its end; empty where it has none.
    fn path(&self) -> &str;
}

/// A request.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// `GET`, `POST`.
    pub method: &'a str,
    /// Path and query, percent-encoded.
    pub target: &'a str,
    /// Media type of the body, where there is one.
    pub media: &'a str,
    /// What answers are understood.
    pub accept: &'a str,
    /// The body.
    pub body: Bytes,
}

impl<'a> Ask<'a> {
    /// A request without a body.
    pub fn get(target: &'a str, accept: &'a str) -> Self {
        Self {
            method: "GET",
            target,
            media: "",
            accept,
            body: Bytes::new(),
        }
    }

    /// A request with a body, answered alike.
    pub fn post(target: &'a str, media: &'a str, body: impl Into<Bytes>) -> Self {
        Self {
            method: "POST",
            target,
            media,
            accept: media,
            body: body.into(),
        }
    }
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// Three digits.
    pub status: u16,
    /// Header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Answered {
    /// Whether what was asked was done.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header field of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.headers.iter();
        fields
            .find(|(known, _)| known == name)
            .map(|field| &*field.1)
    }

    /// An error with the peer's own words.
    pub fn refused(&self) -> io::Error {
        refused(self.status, String::from_utf8_lossy(&self.body).trim())
    }
}

/// An answer that is no success, with what the peer says of it.
pub fn refused(status: u16, sentence: &str) -> io::Error {
    let kind = match status {
        401 | 403 => io::ErrorKind::PermissionDenied,
        404 => io::ErrorKind::NotFound,
        429 => io::ErrorKind::ResourceBusy,
        400..=499 => io::ErrorKind::InvalidInput,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("{status}: {sentence}"))
}

/// What the user said cannot be.
pub fn invalid(sentence: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence.into())
}

/// What the peer said is not what its standard says.
pub fn misspoken(sentence: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, sentence.into())
}

fn unsupported(sentence: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, sentence)
}

/// Reads a message that is to be published, with topics and times in full.
pub fn read_message(target: &Target, topic: &str, body: &[u8], now: Time) -> io::Result<Batch> {
    let mut builder = BatchBuilder::new();
    (target.format.decode)(body, &mut builder, &Limits::default())
        .map_err(|error| invalid(format!("{}: {error}", target.format.name)))?;
    builder
        .complete(topic, now)
        .map_err(|error| invalid(error.to_string()))?;
    Ok(builder.finish())
}

/// The rows of each datastream of a message whose topics are in full, in order.
pub fn by_topic(batch: &Batch) -> Vec<(&str, Vec<usize>)> {
    let mut all: Vec<(&str, Vec<usize>)> = Vec::new();
    for row in 0..batch.len() {
        let topic = batch.stream(batch.stream_of(row)).topic;
        match all.iter_mut().find(|(known, _)| *known == topic) {
            Some((_, rows)) => rows.push(row),
            None => all.push((topic, vec![row])),
        }
    }
    all
}
