//! An observation of which a member may be wrong: what is right of it is taken.
//!
//! For messages whose publisher did not say what they are, or cannot be told what is wrong with them.

use crate::error::DecodeError;
use crate::lexical;
use crate::rows::Rows;
use crate::syntax::{Kind, Pull};
use crate::vocabulary::members::Member;
use alloc::format;
use alloc::string::{String, ToString};
use weir_model::{BatchError, Extra, FlawKind};

/// Takes what can be understood of a member that is not as it must be.
#[cold]
pub(super) fn read_wrong(
    member: Member,
    error: &DecodeError,
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let name = member.name();
    match (member, pull.peek()?) {
        (Member::Lat | Member::Lon, Kind::Text) => {
            let text = String::from(pull.text()?);
            let what = match lexical::number(text.trim_ascii()) {
                Some(degrees) if member == Member::Lat => {
                    rows.latitude(degrees);
                    format!("`{name}` is a text: read as {degrees}")
                }
                Some(degrees) => {
                    rows.longitude(degrees);
                    format!("`{name}` is a text: read as {degrees}")
                }
                None => format!("`{name}` is left out: {error}"),
            };
            rows.note(FlawKind::Member, what);
        }
        // A value that is flagged bad must not read as a good one.
        (Member::Quality, Kind::Number | Kind::Bool) => {
            let quality = scalar(pull)?;
            let what = format!("`{name}` is no text: read as \"{quality}\"");
            rows.extra(Extra {
                quality: Some(&quality),
                ..Extra::default()
            });
            rows.note(FlawKind::Member, what);
        }
        (Member::Time, _) => {
            pull.skip()?;
            rows.note(FlawKind::Time, format!("`time` is the arrival: {error}"));
        }
        _ => {
            pull.skip()?;
            rows.note(FlawKind::Member, format!("`{name}` is left out: {error}"));
        }
    }
    Ok(())
}

fn scalar(pull: &mut impl Pull) -> Result<String, DecodeError> {
    Ok(match pull.peek()? {
        Kind::Bool => pull.bool()?.to_string(),
        _ => pull.number()?.to_string(),
    })
}

/// Ends the observation, without a place where that is none, or leaves it out.
pub(super) fn end(start: usize, rows: &mut Rows<'_>) {
    // What ends badly is dropped, so that it is looked at before.
    let checked = rows.check();
    if checked == Err(BatchError::Place) {
        rows.no_place();
        rows.note(
            FlawKind::Member,
            format!("`lat` and `lon` are left out: {}", BatchError::Place),
        );
    }
    if let Err(error) = rows.end(start) {
        rows.note(
            FlawKind::Observation,
            format!("an observation is left out: {error}"),
        );
    }
}
