//! Prints the table of formats in Markdown, for `docs/reference/formats.md`.

use weir_codec::{FORMATS, Format, sample};

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
several datastreams are interleaved (those of each one are always in order). `1 node` and `5 nodes` are the
bytes of the sensor message of paper 000, section V.

";

const COLUMNS: [&str; 6] = [
    "format",
    "media type",
    "CoAP",
    "leaves out",
    "1 node",
    "5 nodes",
];

const TAIL: &str = "
Also understood:

- `json`: an array of observations; one observation (an object with `value`); a flat object, one
  observation a member, members of nested objects joined by `/`.
- `plain`: several lines are several observations.
- `csv`: columns in any order, of which only `value` is required.
- `exi-om`, `exi-om-c`: what `om` is, and read as it is; `exi` to `exi-sc` are what `xml` is.
- `senml-json`, `senml-cbor`: base values, relative times, sums (as the parameter `sum`); results that
  are null are left out when written, arrays and objects become strings.
- `om`, `om1`: each reads the other, any collection of OGC's around the observations, and a
  `swe:DataArray` as result; of a record with several results, each field is a datastream.
- `swe-text`: a block without descriptions, of times and results or of results alone.
- `soap`: SOAP 1.1; a fault is an error that says its code and its reason.
- `jsonld`, `turtle`, `ntriples`: what other serializers make of the same graph; contexts of JSON-LD
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
- Times before 1978-07-04 are read as relative in SenML (RFC 8428 section 4.5.3).

Schemas: `weir.proto`, `weir.xsd`, `weir.cddl`.
";

fn line(format: &Format) -> String {
    let out: Vec<_> = format.carries.left_out().collect();
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
        "| `{}` | {}{also} | {number} | {} | {} | {} |\n",
        format.name,
        format.media,
        out.join(", "),
        bytes(1),
        bytes(5)
    )
}
