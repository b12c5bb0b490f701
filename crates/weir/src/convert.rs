//! `weir convert`.

mod round_trip;

use crate::arguments::Convert;
use crate::input;
use weir_codec::{FORMATS, Format, by_name, position};
use weir_model::{Batch, BatchBuilder, Flaw, Limits};
use weir_program::{Failure, print};

/// Decodes all of the input and encodes it again.
pub(crate) fn run(convert: &Convert) -> Result<(), Failure> {
    let from = format(convert.from.as_deref().unwrap_or("json"))?;
    let Some(to) = convert.to.as_deref() else {
        return round_trip::run(from, convert);
    };
    let to = format(to)?;
    let input = input::read(convert.file.as_deref())?;
    let batch = message_of(&input, from, convert)?;
    if batch.is_empty() {
        eprintln!("weir: no observation in the message");
    }
    let mut out = Vec::new();
    (to.encode)(&batch, &mut out);
    if to.text && !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    print(out)
}

/// The message that the input is.
fn message_of(input: &[u8], from: &Format, convert: &Convert) -> Result<Batch, Failure> {
    let mut builder = BatchBuilder::new();
    (from.decode)(input, &mut builder, &Limits::default()).map_err(|error| {
        let place = match from.text {
            true => {
                let (line, column) = position(input, error.at);
                format!(" (line {line}, column {column})")
            }
            false => String::new(),
        };
        Failure::no(format!("not a message in {}: {error}{place}", from.name))
    })?;
    builder.take_flaws().iter().for_each(tell);
    let mut batch = builder.finish();
    batch.count_from(weir_gateway::now());
    if let Some(topic) = &convert.topic {
        batch
            .complete(topic, weir_gateway::now())
            .map_err(Failure::no)?;
    }
    Ok(batch)
}

/// Says what of a message is not taken as it stands, with the name of what it is of.
pub(crate) fn tell(flaw: &Flaw) {
    match flaw.below.as_str() {
        "" => eprintln!("weir: {}", flaw.what),
        below => eprintln!("weir: `{below}`: {}", flaw.what),
    }
}

/// The format of this name.
pub(crate) fn format(name: &str) -> Result<&'static Format, Failure> {
    by_name(name).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
        Failure::usage(format!(
            "no format `{name}`; there are {}",
            names.join(", ")
        ))
    })
}
