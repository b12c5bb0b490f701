//! The roles of SOAP in which a node that is asked acts: a header block for another is not its to understand (SOAP 1.2
//! part 1 sections 2.2 to 2.6, SOAP 1.1 section 4.2.2).

/// Whoever is next, and whoever is last; the first name is that of 1.1, whose last has none.
const OURS: &[&str] = &[
    "http://schemas.xmlsoap.org/soap/actor/next",
    "http://www.w3.org/2003/05/soap-envelope/role/next",
    "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver",
];

/// Whether a block with this `role` (1.2) or `actor` (1.1) is for a node that is the last, as a server is.
pub(crate) fn acts_in(role: &str) -> bool {
    let role = role.trim_ascii();
    role.is_empty() || OURS.contains(&role)
}

/// Whether a value of `mustUnderstand` says so.
pub(crate) fn is_true(value: &str) -> bool {
    matches!(value.trim_ascii(), "1" | "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_acts_as_next_and_as_last_and_in_no_other_role() {
        for role in ["", " "].iter().chain(OURS) {
            assert!(acts_in(role), "{role}");
        }
        for role in [
            "http://www.w3.org/2003/05/soap-envelope/role/none",
            "http://www.w3.org/2003/05/soap-envelope/role/nextone",
            "urn:logger",
        ] {
            assert!(!acts_in(role), "{role}");
        }
    }
}
