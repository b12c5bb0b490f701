//! What EXIficient does otherwise than the recommendations say, or cannot do as it says itself: not weir's
//! failure, and counted apart.

use crate::document::Document;
use weir_exi::{Alignment, Canonical, Options};

/// Words of its answers, and what they mean.
const LIMITATIONS: &[(&str, &str)] = &[(
    "\"com.siemens.ct.exi.core.datatype.Datatype.getSchemaType()\" is null",
    "a datatype representation map and a value whose datatype has no name: a null pointer",
)];

/// The limitation that a failure shows, if it is one of the oracle's.
pub(crate) fn limitation(reason: &str) -> Option<&'static str> {
    let oracles = reason.starts_with("oracle ");
    let found = LIMITATIONS
        .iter()
        .find(|(words, _)| oracles && reason.contains(words));
    found.map(|(_, meaning)| *meaning)
}

/// Why it does not judge a document at all with these options.
pub(crate) fn other_stream(document: &Document, options: &Options) -> Option<&'static str> {
    let both = document.has("xsi:nil") && document.has_types();
    (options.strict && both).then_some(
        "strict: it takes xsi:nil beside xsi:type (EXI 1.0 section 8.5.4.4.2: it is not possible)",
    )
}

/// What a difference is where elements are given the type anyType, by the document or by the bounds of the EXI
/// Profile: only bit-packed streams tell two bits from three.
pub(crate) fn after_any_type(document: &Document, options: &Options) -> Option<&'static str> {
    let bounded = options.profile.is_some_and(|profile| {
        profile.built_in_element_grammars_max.is_some()
            || profile.built_in_productions_max.is_some()
    });
    let given = bounded || document.has(":anyType\"");
    (options.strict && options.alignment == Alignment::BitPacked && given).then_some(
        "strict: after an attribute under xsi:type=\"xsd:anyType\" it has room for another \
         xsi:type (EXI 1.0 section 8.5.4.4.2: elements have that, types do not)",
    )
}

/// Dates without a day, as elements and as attributes.
const WITHOUT_DAY: [&str; 6] = [
    "<gYearMonth>",
    "<gMonth>",
    "<gYear>",
    " gYearMonth=",
    " gMonth=",
    " gYear=",
];

/// Why its canonical bytes of a document are not those that Canonical EXI asks for.
pub(crate) fn other_canonical(
    document: &Document,
    options: &Options,
    canonical: Canonical,
) -> Option<&'static str> {
    let preserve = options.preserve;
    if preserve.dtd && document.has("<!DOCTYPE") {
        return Some("canonical: its parser tells declarations of a document type one by one");
    }
    if canonical.utc_time && WITHOUT_DAY.iter().any(|words| document.has(words)) {
        return Some(
            "canonical: in UTC it gives dates without a day the day 1 (EXI 1.0 section 7.1.8: 0)",
        );
    }
    if document.has("<twoLong>") {
        return Some(
            "canonical: it knows no range at the end of what 64 bits hold (EXI 1.0 section 7.1.5)",
        );
    }
    if preserve.lexical_values && document.has("xsi:nil") {
        return Some(
            "canonical: it writes xsi:nil=\"1\" for \"true\" where lexical values are kept",
        );
    }
    if (preserve.comments || preserve.processing_instructions) && document.has_space_beside_markup()
    {
        return Some("canonical: it keeps white space beside comments and instructions");
    }
    None
}
