//! What EXIficient cannot do, as it says so itself: not weir's failure, and counted apart.

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
