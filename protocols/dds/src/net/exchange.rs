//! A participant of one's own at the topic, for who measures: it writes without waiting for anybody.

use super::client::{is_matched, parse};
use super::outward::put;
use super::participant::{Arrivals, Participant, Writer};
use super::quality::Quality;
use crate::wire::{Encapsulation, Sample};
use std::collections::VecDeque;
use std::io;
use weir_model::Observation;

/// A writer and a reader of the topic.
pub struct Exchange {
    writer: Writer,
    arrivals: Arrivals,
    ready: VecDeque<Vec<u8>>,
    _participant: Participant,
}

impl Exchange {
    /// Joins the domain of a URL, `dds://DOMAIN/?interface=lo&reliability=best-effort`; to be called within
    /// a runtime.
    pub fn open(url: &str) -> io::Result<Self> {
        let (place, offered) = parse(url, Quality::OFFERED)?;
        let (_, requested) = parse(url, Quality::REQUESTED)?;
        let participant = Participant::open(&place)?;
        Ok(Self {
            writer: participant.writer(&offered)?,
            arrivals: participant.reader(&requested)?,
            ready: VecDeque::new(),
            _participant: participant,
        })
    }

    /// Whether a reader has come since it was asked last.
    pub fn is_matched(&self) -> bool {
        is_matched(&self.writer)
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
