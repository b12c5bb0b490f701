//! Events to EXI.
//!
//! An [`Encoder`] takes events in document order and gives out bytes as they become final. Order
//! inside a start tag, white space and the choice among productions are its own business.

mod attribute;
mod binary;
mod block;
mod body;
mod canonical;
mod characters;
mod content;
mod date_time;
mod element;
mod lexical;
mod other;
mod profile;
mod qname;
mod start_tag;
mod utc;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub(crate) use body::{Body, Manner};

use crate::bits::Writer;
use crate::error::Error;
use crate::event::Event;
use crate::fault::Fault;
use crate::grammar::Schema;
use crate::header::{self, OptionsSchema};
use crate::limits::Limits;
use crate::options::{Header, Options, SchemaId};

/// What becomes of white space between elements, where no schema and no xml:space decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpaceBetween {
    /// It is kept.
    #[default]
    Keep,
    /// It is left out.
    Drop,
}

/// The canonical form (W3C Canonical EXI).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canonical {
    /// Whether date and time are normalized to UTC (option utcTime).
    pub utc_time: bool,
    /// Whether the options document is left out (option omitOptionsDocument).
    pub omit_options: bool,
}

/// What an encoder is told.
#[derive(Debug, Clone, Default)]
pub struct EncoderSettings {
    /// Options of the stream.
    pub options: Options,
    /// What the header has.
    pub header: Header,
    /// The schema; none means schema-less.
    pub schema: Option<Arc<Schema>>,
    /// White space between elements.
    pub space: SpaceBetween,
    /// Whether the stream is to be canonical.
    pub canonical: Option<Canonical>,
    /// What a stream may cost.
    pub limits: Limits,
}

impl EncoderSettings {
    /// Settings with options, a schema or none, and the shortest header.
    pub fn new(options: Options, schema: Option<Arc<Schema>>) -> Self {
        Self {
            options,
            schema,
            ..Self::default()
        }
    }
}

/// An encoder of one stream.
#[derive(Debug)]
pub struct Encoder {
    body: Body,
    /// What every stream begins with.
    header: Writer,
    taken: u64,
    failed: Option<Error>,
}

impl Encoder {
    /// Begins a stream; fails if the options contradict each other.
    pub fn new(settings: EncoderSettings) -> Result<Self, Error> {
        Self::begin(settings).map_err(|fault| Error::at_byte(fault.kind(), 0))
    }

    fn begin(settings: EncoderSettings) -> crate::fault::Result<Self> {
        let EncoderSettings {
            options,
            header,
            schema,
            space,
            canonical,
            limits,
        } = settings;
        let options = match canonical {
            Some(_) => Canonical::options(options),
            None => options,
        };
        header::check(&options)?;
        let schema = match (options.schema_id == SchemaId::None, schema) {
            (true, Some(_)) => {
                return Err(Fault::Options(
                    "a schema is given, and schemaId says that there is none",
                ));
            }
            (_, schema) => schema,
        };
        let header = canonical.map_or(header, |canonical| Header {
            // The canonical form has no cookie (Canonical EXI section 3).
            // [C14N-3-1]
            cookie: false,
            // [C14N-3-3] [C14N-3-4]
            options: !canonical.omit_options,
        });
        let mut options_schema = OptionsSchema::default();
        let writer = header::write(header, &options, canonical.is_some(), &mut options_schema)?;
        let manner = Manner {
            drop_space: space == SpaceBetween::Drop || canonical.is_some(),
            sorted: canonical.is_some(),
            utc: canonical.is_some_and(|canonical| canonical.utc_time),
        };
        let header = writer.clone();
        let body = Body::new(schema, options, limits, manner, writer);
        Ok(Self {
            body,
            header,
            taken: 0,
            failed: None,
        })
    }

    /// Begins another stream with the same settings, whatever became of this one; bytes that were
    /// not taken are gone. String tables, grammars and buffers keep the memory they have; what was
    /// in them is forgotten. Whoever encodes many streams saves the making of all that, which for
    /// short ones is most of the work.
    pub fn restart(&mut self) {
        self.body.restart(&self.header);
        (self.taken, self.failed) = (0, None);
    }

    /// Takes the next event.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.body.event(event).map_err(|fault| self.fail(fault))
    }

    fn fail(&mut self, fault: Fault) -> Error {
        let error = Error::at_byte(fault.kind(), self.taken + self.body.pending() as u64);
        self.failed = Some(error.clone());
        error
    }

    /// Moves the bytes that are final to the end of a vector.
    pub fn take(&mut self, target: &mut Vec<u8>) {
        let before = target.len();
        self.body.take(target);
        self.taken += (target.len() - before) as u64;
    }

    /// Whether [`Event::EndDocument`] was taken, after which all bytes are final.
    pub fn is_done(&self) -> bool {
        self.body.is_done()
    }
}
