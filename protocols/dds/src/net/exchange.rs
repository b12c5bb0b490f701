//! Participants of one's own at the topic, for who measures: it writes without waiting for anybody.

use super::client::parse;
use super::outward::put;
use super::pair::Pair;
use super::participant::{Arrivals, Writer};
use super::quality::Quality;
use crate::wire::{Encapsulation, Sample};
use rustdds::{DataReaderStatus, DataWriterStatus, StatusEvented};
use std::collections::VecDeque;
use std::io;
use weir_model::Observation;

/// A writer and a reader of the topic.
pub struct Exchange {
    writer: Writer,
    arrivals: Arrivals,
    ready: VecDeque<Vec<u8>>,
    pair: Pair,
    /// Somebody else reads.
    is_heard: bool,
    /// Somebody else writes.
    hears: bool,
}

impl Exchange {
    /// Joins the domain of a URL, `dds://DOMAIN/?interface=lo&reliability=best-effort`; to be called within
    /// a runtime.
    pub fn open(url: &str) -> io::Result<Self> {
        let (place, offered) = parse(url, Quality::OFFERED)?;
        let (_, requested) = parse(url, Quality::REQUESTED)?;
        let pair = Pair::open(&place)?;
        Ok(Self {
            writer: pair.writer(&offered)?,
            arrivals: pair.reader(&requested)?,
            ready: VecDeque::new(),
            pair,
            is_heard: false,
            hears: false,
        })
    }

    /// Looks who of others has come; whether anybody has since it was asked last.
    pub fn look(&mut self) -> bool {
        let (reader, mut has_come) = (self.pair.reading.guid().prefix, false);
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched { reader: of, .. } = status
                && of.prefix != reader
            {
                (self.is_heard, has_come) = (true, true);
            }
        }
        let writer = self.pair.writing.guid().prefix;
        while let Some(status) = self.arrivals.status() {
            if let DataReaderStatus::SubscriptionMatched { writer: of, .. } = status
                && of.prefix != writer
            {
                (self.hears, has_come) = (true, true);
            }
        }
        has_come
    }

    /// Whether somebody else was seen to read and somebody else to write.
    pub fn has_met(&self) -> bool {
        self.is_heard && self.hears
    }

    /// Writes a sample.
    pub async fn write(&self, observation: &Observation<'_>) -> io::Result<()> {
        put(&self.writer, observation, "", "").await
    }

    /// Waits for the next sample of somebody else that can be read, and shows it.
    pub async fn next<T>(&mut self, show: impl Fn(&Sample<'_>) -> T) -> io::Result<T> {
        loop {
            while let Some(body) = self.ready.pop_front() {
                if let Ok(sample) = Sample::read(&body, Encapsulation::WRITTEN) {
                    return Ok(show(&sample));
                }
            }
            let (samples, more) = self.arrivals.take().map_err(io::Error::other)?;
            self.ready
                .extend(samples.into_iter().map(|arrived| arrived.sample.body));
            if self.ready.is_empty() && !more {
                self.arrivals.ready().await?;
            }
        }
    }
}
