//! `exi`, `exi-c`, `exi-s`, `exi-sc`: the elements of `xml` as Efficient XML Interchange, without and
//! with compression, without and with the schema; `exi-om` and `exi-om-c`: those of `om`.
//!
//! What differs from EXI's defaults stands in the header of each message, so that any EXI processor
//! reads it; with a schema it needs `weir.xsd`. Messages without such a header are read as the media
//! type says. The schema is compiled ahead of time (`cargo xtask exi-schema`).
#![cfg(feature = "exi")]

use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::infoset::exi::kept::{self, Size};
use crate::infoset::exi::{ExiEmit, ExiPull, limits_of};
use crate::rows::{Rows, check_length};
use crate::vocabulary::{message_xml, om};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use once_cell::race::OnceBox;
use weir_exi::{Alignment, DecoderSettings, Encoder, EncoderSettings, Header, Options, Schema};
use weir_model::{Batch, BatchBuilder, Limits};

macro_rules! exi {
    ($constant:ident $module:ident $name:literal $media:literal $also:expr, $number:expr,
     $kind:expr) => {
        pub(crate) const $constant: Format = Format {
            media_also: &$also,
            content_format: $number,
            carries: $kind.carries(),
            ..Format::new($name, $media, $module::encode, $module::decode)
        };

        mod $module {
            use super::*;

            const KIND: Kind = $kind;

            pub(super) fn encode(batch: &Batch, out: &mut Vec<u8>) {
                KIND.encode(batch, out);
            }

            pub(super) fn decode(
                bytes: &[u8],
                out: &mut BatchBuilder,
                limits: &Limits,
            ) -> Result<(), DecodeError> {
                KIND.decode(bytes, out, limits)
            }
        }
    };
}

exi!(EXI plain "exi" "application/exi" [], Some(47), Kind::new());
exi!(EXI_C compressed "exi-c" "application/exi;c=1" [], None, Kind::new().compressed());
exi!(EXI_S typed "exi-s" "application/exi;s=1" [], None, Kind::new().typed());
exi!(EXI_SC typed_compressed "exi-sc" "application/exi;s=1;c=1" [], None,
    Kind::new().typed().compressed());
// No schema of O&M's is compiled here: who asks for one gets the same without, and is told so by the
// media type of the answer.
exi!(EXI_OM om_plain "exi-om" "application/exi;v=om" ["application/exi;s=1;v=om"], None,
    Kind::new().of_om());
exi!(EXI_OM_C om_compressed "exi-om-c" "application/exi;v=om;c=1" ["application/exi;s=1;v=om;c=1"],
    None, Kind::new().of_om().compressed());

/// What tells the formats apart.
#[derive(Clone, Copy)]
struct Kind {
    compression: bool,
    schema: bool,
    om: bool,
}

impl Kind {
    const fn new() -> Self {
        Self {
            compression: false,
            schema: false,
            om: false,
        }
    }

    const fn compressed(self) -> Self {
        Self {
            compression: true,
            ..self
        }
    }

    const fn typed(self) -> Self {
        Self {
            schema: true,
            ..self
        }
    }

    const fn of_om(self) -> Self {
        Self { om: true, ..self }
    }

    /// A float of EXI is a mantissa and an exponent (section 7.1.4), and a mantissa of zero has no sign.
    const fn carries(self) -> Carries {
        Carries {
            zero_sign: !self.schema,
            ..Carries::ALL
        }
    }

    fn options(self) -> Options {
        Options {
            alignment: if self.compression {
                Alignment::Compression
            } else {
                Alignment::BitPacked
            },
            strict: self.schema,
            ..Options::default()
        }
    }

    fn schema(self) -> Option<Arc<Schema>> {
        self.schema.then(schema).flatten()
    }

    /// A number of its own.
    const fn number(self) -> usize {
        let number = self.compression as usize + 2 * self.schema as usize + 4 * self.om as usize;
        number % kept::KINDS
    }

    fn encode(self, batch: &Batch, out: &mut Vec<u8>) {
        let known = kept::take_emit(self.number());
        // The options do not contradict each other.
        let Some(mut emit) = known.or_else(|| self.emit().map(Box::new)) else {
            return;
        };
        let before = out.len();
        emit.begin();
        if self.om {
            om::write::write(batch, &mut *emit)
        } else {
            message_xml::write(batch, &mut *emit)
        }
        emit.finish(out);
        let size = Size {
            bytes: out.len() - before,
            observations: batch.len(),
        };
        kept::keep_emit(self.number(), emit, size);
    }

    fn emit(self) -> Option<ExiEmit> {
        let mut settings = EncoderSettings::new(self.options(), self.schema());
        settings.header = Header {
            cookie: false,
            options: self.compression || self.schema,
        };
        let encoder = Encoder::new(settings).ok()?;
        Some(ExiEmit::new(encoder, self.schema))
    }

    fn pull<'i>(self, bytes: &'i [u8], limits: &Limits) -> ExiPull<'i> {
        let known = kept::take_pull(self.number());
        if let Some(pull) = known.filter(|pull| pull.limits() == limits) {
            return pull.restart(bytes);
        }
        let mut settings = DecoderSettings::new(self.options(), self.schema());
        settings.limits = limits_of(limits);
        ExiPull::new(bytes, settings, *limits)
    }

    fn decode(
        self,
        bytes: &[u8],
        out: &mut BatchBuilder,
        limits: &Limits,
    ) -> Result<(), DecodeError> {
        check_length(bytes, limits)?;
        let before = out.len();
        let mut pull = self.pull(bytes, limits);
        let mut rows = Rows::new(out, limits);
        let read = if self.om {
            om::read::read(&mut pull, &mut rows, limits)
        } else {
            message_xml::read(&mut pull, &mut rows, limits)
        };
        if read.is_ok() {
            let size = Size {
                bytes: bytes.len(),
                observations: out.len() - before,
            };
            kept::keep_pull(self.number(), pull, size);
        }
        // Places within values may lie beyond the end, since values are packed.
        read.map_err(|error| DecodeError {
            at: error.at.min(bytes.len()),
            ..error
        })
    }
}

/// `weir.xsd`, compiled.
static TABLES: &[u8] = include_bytes!("../../schema/weir.exischema");

/// The schema, indexed once.
fn schema() -> Option<Arc<Schema>> {
    static SCHEMA: OnceBox<Option<Arc<Schema>>> = OnceBox::new();
    let made = || Box::new(Schema::from_bytes(TABLES).ok().map(Arc::new));
    SCHEMA.get_or_init(made).clone()
}
