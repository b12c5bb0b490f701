//! Prints the table of formats in Markdown, for `docs/reference/formats.md`.

use weir_codec::{FORMATS, Format, sample};
use weir_model::{BatchBuilder, Limits};

fn main() {
    print!("{}", table());
}

/// The document, from nothing but [`FORMATS`].
pub(crate) fn table() -> String {
    let mut out = String::from(HEAD);
    out += &format!(
        "| {} |\n{}|\n",
        COLUMNS.join(" | "),
        "|---".repeat(COLUMNS.len())
    );
    for format in FORMATS {
        out += &line(format);
    }
    out += TAIL;
    out
}

const HEAD: &str = "# Formats

Printed by `cargo run -p weir-codec --example table`; a test compares it. `weir convert --round-trip` shows
the same with a message of yours, and that all else comes back equal.

`CoAP` is the Content-Format. `leaves out` is what an observation loses in a format: its topic, sensor,
type, unit, time or place; results that are text, null, or JSON (arrays and objects); `extra`: the end of
the interval, result time, valid time, quality, feature and parameters; `order`: how the observations of
several datastreams are interleaved (those of each one are always in order). Within JSON (results that are
arrays or objects, and parameters) it is `digits`: numbers are integers of 64 bits or doubles, so that of
others as many digits stay as a double has; `integers`: those beyond 2^53 become text (`amf3` has integers of
29 bits; [numbers and times](numbers.md)); `NUL`: that character in the name of a member becomes U+FFFD. `-0`
is the sign of a latitude or longitude of zero. `1 node` and `5 nodes` are the bytes of the sensor message of
paper 000, section V.

`cuts noticed` is of how many places in the message of one node, of a hundred, a message that was cut there
is refused. Where it is not all of them, nothing in the format says how much there was to be: in `plain` each
line is a message, `csv`, `influx` and `ntriples` end with any line, `protobuf`, `pbf-string` with any
observation, `turtle` with any statement, `arrow` with any table of its stream, and a number that lost its
last digits is a number. There it is the protocol around the message that tells (its lengths and checksums).

";

const COLUMNS: [&str; 7] = [
    "format",
    "media type",
    "CoAP",
    "leaves out",
    "cuts noticed",
    "1 node",
    "5 nodes",
];

const TAIL: &str = "
Also understood:

- `json`: an array of observations; one observation (an object with `value`), whose other members are one
  observation each below it; a flat object, one observation a member, members of nested objects joined by `/`,
  up to 16 numbers of an array by their index.
- Every format: `NaN` and infinities are null with their reason as quality; text formats: a byte order mark is
  no text ([what is not understood](problems.md)).
- `plain`: several lines are several observations.
- `csv`: columns in any order, of which only `value` is required.
- `exi-om`, `exi-om-c`: what `om` is, and read as it is; `exi` to `exi-sc` are what `xml` is. No schema of
  O&M's is compiled in: who asks for `s=1` with `v=om` gets the same without a schema, and its `Content-Type`
  says so.
- `senml-json`, `senml-cbor`: base values, relative times, sums (as the parameter `sum`); results that
  are null are left out when written, arrays and objects become strings.
- `om`, `om1`: each reads the other, any collection of OGC's around the observations, and a
  `swe:DataArray` as result; of a record with several results, each field is a datastream.
- `swe-text`: a block without descriptions, of times and results or of results alone. The number of records
  stands in the first description, so that a cut is noticed but within the last token, which nothing ends.
- `soap`: SOAP 1.1; a fault is an error that says its code and its reason.
- `jsonld`, `turtle`, `ntriples`: what other writers make of the same graph; contexts of JSON-LD
  must stand in the document.
- `bson`: all types of MongoDB's; a document of other members is a flat object. `ubjson`: containers with
  counts and types, numbers of high precision. `amf3`: sealed classes, references, the collections of
  Flex, vectors, dictionaries. `bson` and `amf3` have instants in milliseconds; finer ones are text.
- `gwt`: versions 7 and 8 of the answer of a service, an `ArrayList` of `weir.client.Observation`.
- `pbf-string`: two bytes of `protobuf` in one code point, escaped as
  [formats-pbf-string.md](formats-pbf-string.md) says.
- `influx`: any metric: each field is an observation at `measurement/tag=value/field` below the topic.
  Timestamps are nanoseconds, or the unit that puts them after 1973. Without a `Content-Type`, lines
  with timestamps in nanoseconds are recognized.
- `arrow`: tables with any of the columns `topic`, `time`, `value`, `text`, `truth`, `json`, `unit`, `type`,
  `sensor`, `lat`, `lon` (and those of `extra`), of which one for the result must be there.
- Times before 1978-07-04 are read as relative in SenML (RFC 8428 section 4.5.3). What a name may not hold
  (section 4.5.1) is `_x`, its code point in hexadecimal digits, `_`: topic `living room/temp` is the name
  `living_x20_room/temp`, and the name that topic.

Schemas: `weir.proto`, `weir.xsd`, `weir.cddl`.
";

/// Of a hundred places where a message may be cut, those where its reader says so.
fn cuts_noticed(format: &Format) -> usize {
    let mut bytes = Vec::new();
    (format.encode)(&sample::message(1, 0), &mut bytes);
    let mut builder = BatchBuilder::new();
    let mut refused = |end: &usize| {
        builder.clear();
        (format.decode)(&bytes[..*end], &mut builder, &Limits::default()).is_err()
    };
    // Nothing at all is no cut message but none.
    let places = 1..bytes.len();
    let count = places.len();
    places.filter(|end| refused(end)).count() * 100 / count
}

fn line(format: &Format) -> String {
    let out: Vec<_> = format.carries.left_out().map(|(name, _)| name).collect();
    let out = if out.is_empty() { vec!["nothing"] } else { out };
    let also = match format.media_also {
        [] => String::new(),
        also => format!(", {}", also.join(", ")),
    };
    let number = format
        .content_format
        .map_or(String::new(), |number| number.to_string());
    let bytes = |nodes: usize| {
        let mut out = Vec::new();
        (format.encode)(&sample::message(nodes, 0), &mut out);
        out.len()
    };
    format!(
        "| `{}` | {}{also} | {number} | {} | {} | {} | {} |\n",
        format.name,
        format.media,
        out.join(", "),
        cuts_noticed(format),
        bytes(1),
        bytes(5)
    )
}
