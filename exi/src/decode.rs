//! EXI to events.
//!
//! [`Decoder`] reads a slice that is there as a whole; [`PieceDecoder`] is fed while bytes arrive.
//! Both give events one by one, which borrow the decoder's string tables: nothing is allocated for
//! an event.

mod attribute;
mod block;
mod body;
mod content;
mod number;
mod pieces;
mod quick;
mod raw;
mod root;
mod text;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub(crate) use block::SMALL;
pub(crate) use body::Body;
pub use pieces::PieceDecoder;
use quick::Quick;

use crate::error::{Error, ErrorKind};
use crate::event::Event;
use crate::fault::{Fault, Result as FaultResult};
use crate::grammar::Schema;
use crate::header::{self, HeaderReader};
use crate::limits::{Limit, Limits};
use crate::options::{Options, SchemaId};

/// What a decoder is told besides the stream.
#[derive(Debug, Clone, Default)]
pub struct DecoderSettings {
    /// Options of streams without an options document (EXI 1.0 section 5.4).
    pub options: Options,
    /// Schemas by their identifier; the first one without identifier, or else the first, is that of
    /// streams that do not name one. None means schema-less.
    pub schemas: Vec<Arc<Schema>>,
    /// What a stream may cost.
    pub limits: Limits,
}

impl DecoderSettings {
    /// Settings with options and one schema or none.
    pub fn new(options: Options, schema: Option<Arc<Schema>>) -> Self {
        Self {
            options,
            schemas: schema.into_iter().collect(),
            limits: Limits::default(),
        }
    }

    fn schema_of(
        &self,
        id: &SchemaId,
        built_in_types: &mut Option<Arc<Schema>>,
    ) -> FaultResult<Option<Arc<Schema>>> {
        let named = |id: &str| self.schemas.iter().find(|s| s.id.as_deref() == Some(id));
        let nameless = self.schemas.iter().find(|schema| schema.id.is_none());
        match id {
            SchemaId::None => Ok(None),
            // [EXI-5.4-7]
            SchemaId::Unspecified => Ok(nameless.or(self.schemas.first()).cloned()),
            SchemaId::BuiltInTypes => Ok(Some(match named("") {
                Some(schema) => schema.clone(),
                None => {
                    let made = || Arc::new(crate::xsd::built_in_types());
                    built_in_types.get_or_insert_with(made).clone()
                }
            })),
            SchemaId::Id(id) => match named(id).or(nameless) {
                Some(schema) => Ok(Some(schema.clone())),
                None => Err(ErrorKind::UnknownSchema(id.clone()).into()),
            },
        }
    }
}

/// A header, then a body: what both decoders share.
#[derive(Debug)]
struct Core {
    settings: DecoderSettings,
    header: HeaderReader,
    /// The schema of streams that want built-in types alone, made when the first comes.
    built_in_types: Option<Arc<Schema>>,
    body: Option<Box<Body>>,
    /// The body of the stream before, whose memory is used again.
    spare: Option<Box<Body>>,
    failed: Option<Error>,
}

impl Core {
    fn new(settings: DecoderSettings) -> Self {
        Self {
            settings,
            header: HeaderReader::default(),
            built_in_types: None,
            body: None,
            spare: None,
            failed: None,
        }
    }

    /// Waits for a header again.
    fn restart(&mut self) {
        self.spare = self.body.take().or(self.spare.take());
        self.header.restart();
        self.failed = None;
    }

    /// Makes the body once the header is there.
    fn begin(&mut self, input: &[u8]) -> FaultResult<()> {
        let settings = &self.settings;
        header::check(&settings.options)?;
        let limits = settings.limits;
        let (options, bit) = self.header.read(input, &settings.options, limits)?;
        // [EXI-5.4-1]
        let options = options.unwrap_or_else(|| settings.options.clone());
        let schema = settings.schema_of(&options.schema_id, &mut self.built_in_types)?;
        let mut body = match self.spare.take() {
            Some(mut spare) if spare.is_for(schema.as_ref(), &options) => {
                spare.restart();
                spare
            }
            _ => Box::new(Body::new(schema, options, limits)),
        };
        (body.bit, body.begun) = (bit, bit);
        self.body = Some(body);
        Ok(())
    }

    /// The next event, if it is quick.
    #[inline(always)]
    fn quick(&mut self, input: &[u8]) -> Option<Quick> {
        match &mut self.body {
            Some(body) if self.failed.is_none() => body.next_quick(input),
            _ => None,
        }
    }

    #[inline(always)]
    fn show(&self, quick: Quick) -> Result<Option<Event<'_>>, Error> {
        match &self.body {
            Some(body) => body.show_quick(quick),
            None => Ok(None),
        }
    }

    fn fail(&mut self, fault: Fault, base: u64) -> Error {
        let (bit, inflated) = match &self.body {
            Some(body) => body.failed_at,
            None => (self.header.failed_at(), None),
        };
        let mut error = Error::at_bit(fault.kind(), bit as u64);
        error.inflated = inflated.is_some();
        error.inflated_byte = inflated.unwrap_or_default() as u64;
        error.byte += base;
        self.failed = Some(error.clone());
        error
    }

    fn is_done(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.is_done())
    }
}

/// A decoder of a stream that is in memory.
#[derive(Debug)]
pub struct Decoder<'i> {
    core: Core,
    input: &'i [u8],
}

impl Default for Decoder<'_> {
    /// A decoder of nothing, to stand for one that is in use elsewhere.
    fn default() -> Self {
        Self::new(&[], DecoderSettings::default())
    }
}

impl<'i> Decoder<'i> {
    /// Begins a stream.
    pub fn new(input: &'i [u8], settings: DecoderSettings) -> Self {
        Self {
            core: Core::new(settings),
            input,
        }
    }

    /// Begins another stream, whatever became of this one. String tables, grammars and buffers
    /// keep the memory they have; what was in them is forgotten. Whoever decodes many streams saves
    /// the making of all that, which for short ones is most of the work.
    pub fn restart<'j>(self, input: &'j [u8]) -> Decoder<'j> {
        let mut core = self.core;
        core.restart();
        Decoder { core, input }
    }

    /// The next event; `None` after [`Event::EndDocument`]. After an error there is nothing but
    /// that error.
    ///
    /// An event is some hundred bytes: `Ok(Some(ref event))` looks at it where it lies, which takes
    /// a third less time than moving it out.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        match self.core.quick(self.input) {
            Some(quick) => self.core.show(quick),
            None => self.any_event(),
        }
    }

    #[inline(never)]
    fn any_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        if let Some(error) = &self.core.failed {
            return Err(error.clone());
        }
        if self.core.is_done() {
            return Ok(None);
        }
        if self.core.body.is_none() {
            self.begin()?;
        }
        let Some(body) = &mut self.core.body else {
            return Ok(None);
        };
        match body.next(self.input) {
            Ok(raw) => match &self.core.body {
                Some(body) => Ok(Some(body.show(raw))),
                None => Ok(None),
            },
            Err(fault) => Err(self.core.fail(fault, 0)),
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        if self.input.len() as u64 > self.core.settings.limits.input_bytes {
            return Err(self.core.fail(Fault::Limit(Limit::InputBytes), 0));
        }
        self.core
            .begin(self.input)
            .map_err(|fault| self.core.fail(fault, 0))
    }

    /// The options in effect, once the header was read.
    pub fn options(&self) -> Option<&Options> {
        self.core.body.as_ref().map(|body| &body.options)
    }

    /// Bits of the input before the event given last, for whoever finds something wrong with it; in a
    /// stream with channels, before the block that holds it.
    pub fn begun_at(&self) -> u64 {
        self.core.body.as_ref().map_or(0, |body| body.begun as u64)
    }

    /// Bytes of the input consumed so far, the padding of the last one included.
    pub fn consumed(&self) -> usize {
        self.core
            .body
            .as_ref()
            .map_or(0, |body| body.bit.div_ceil(8))
    }
}
