//! Participants of one's own at the topic, for who measures: it writes without waiting for anybody.

use super::client::{parse, until_acknowledged};
use super::outward::put;
use super::participant::{Arrivals, Participant, Writer};
use super::quality::Quality;
use crate::wire::{Encapsulation, Sample};
use rustdds::{DataReaderStatus, DataWriterStatus, GUID, StatusEvented};
use std::collections::VecDeque;
use std::io;
use weir_model::Observation;

/// Who writes, who reads, or both: as two participants then (`pair.rs` says why), who are nobody else to each other.
pub struct Exchange {
    writing: Option<Writing>,
    reading: Option<Reading>,
}

struct Writing {
    writer: Writer,
    participant: Participant,
    /// Who reads beside it.
    own: Option<GUID>,
    /// Somebody else reads.
    is_heard: bool,
}

struct Reading {
    arrivals: Arrivals,
    participant: Participant,
    ready: VecDeque<Vec<u8>>,
    /// Who writes beside it.
    own: Option<GUID>,
    /// Somebody else writes.
    hears: bool,
}

/// To be opened within a runtime, in the domain of a URL, `dds://DOMAIN/?interface=lo&reliability=best-effort`.
impl Exchange {
    /// Joins with a writer and a reader.
    pub fn open(url: &str) -> io::Result<Self> {
        let mut writing = Writing::open(url)?;
        let reading = Reading::open(url, Some(writing.participant.guid()))?;
        writing.own = Some(reading.participant.guid());
        Ok(Self {
            writing: Some(writing),
            reading: Some(reading),
        })
    }

    /// Joins with a writer alone: the stack sends what is written to every reader, one's own too.
    pub fn writer(url: &str) -> io::Result<Self> {
        Ok(Self {
            writing: Some(Writing::open(url)?),
            reading: None,
        })
    }

    /// Joins with a reader alone.
    pub fn reader(url: &str) -> io::Result<Self> {
        Ok(Self {
            writing: None,
            reading: Some(Reading::open(url, None)?),
        })
    }

    /// Looks who of others has come; whether anybody has since it was asked last.
    pub fn look(&mut self) -> bool {
        let reads = self.writing.as_mut().is_some_and(Writing::look);
        let writes = self.reading.as_mut().is_some_and(Reading::look);
        reads || writes
    }

    /// Whether somebody else was seen to read what this writes, and to write what this reads.
    pub fn has_met(&self) -> bool {
        let is_heard = self.writing.as_ref().is_none_or(|it| it.is_heard);
        is_heard && self.reading.as_ref().is_none_or(|it| it.hears)
    }

    /// Writes a sample.
    pub async fn write(&self, observation: &Observation<'_>) -> io::Result<()> {
        let writing = self.writing.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        put(&writing.writer, observation, "", "").await
    }

    /// Waits until every reader has what was written: a sample leaves by another thread, which ends with this.
    ///
    /// # Errors
    /// `TimedOut` where a reader does not acknowledge.
    pub async fn drain(&self) -> io::Result<()> {
        match &self.writing {
            Some(writing) => until_acknowledged(&writing.writer).await,
            None => Ok(()),
        }
    }

    /// Waits for the next sample of somebody else that can be read, and shows it.
    pub async fn next<T>(&mut self, show: impl Fn(&Sample<'_>) -> T) -> io::Result<T> {
        let reading = self.reading.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        reading.next(show).await
    }
}

impl Writing {
    fn open(url: &str) -> io::Result<Self> {
        let (place, offered) = parse(url, Quality::OFFERED)?;
        let participant = Participant::open(&place)?;
        Ok(Self {
            writer: participant.writer(&offered)?,
            participant,
            own: None,
            is_heard: false,
        })
    }

    fn look(&mut self) -> bool {
        let mut has_come = false;
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched { reader: of, .. } = status {
                has_come |= is_foreign(of, self.own);
            }
        }
        self.is_heard |= has_come;
        has_come
    }
}

impl Reading {
    fn open(url: &str, own: Option<GUID>) -> io::Result<Self> {
        let (place, requested) = parse(url, Quality::REQUESTED)?;
        let participant = Participant::open(&place)?;
        Ok(Self {
            arrivals: participant.reader(&requested, own)?,
            participant,
            ready: VecDeque::new(),
            own,
            hears: false,
        })
    }

    fn look(&mut self) -> bool {
        let mut has_come = false;
        while let Some(status) = self.arrivals.status() {
            if let DataReaderStatus::SubscriptionMatched { writer: of, .. } = status {
                has_come |= is_foreign(of, self.own);
            }
        }
        self.hears |= has_come;
        has_come
    }

    async fn next<T>(&mut self, show: impl Fn(&Sample<'_>) -> T) -> io::Result<T> {
        loop {
            while let Some(body) = self.ready.pop_front() {
                if let Ok(sample) = Sample::read(&body, Encapsulation::WRITTEN) {
                    return Ok(show(&sample));
                }
            }
            let (samples, more) = self.arrivals.take_rest().await;
            self.ready
                .extend(samples.into_iter().map(|arrived| arrived.sample.body));
            if self.ready.is_empty() && !more {
                self.arrivals.ready().await?;
            }
        }
    }
}

fn is_foreign(one: GUID, own: Option<GUID>) -> bool {
    own.is_none_or(|own| own.prefix != one.prefix)
}
