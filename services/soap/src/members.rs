//! What the WSDL's types allow in an element, so that nothing sent is passed over.
//!
//! The order of members is not asked for: which is meant is plain from their names.

use weir_codec::document::Element;

/// A member of a type, and whether it may be repeated (`maxOccurs="unbounded"`).
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) many: bool,
}

/// A member that stands once at most.
pub(crate) const fn one(name: &'static str) -> Member {
    Member { name, many: false }
}

/// A member that may be repeated.
pub(crate) const fn many(name: &'static str) -> Member {
    Member { name, many: true }
}

/// Says what stands in an element that its type does not have, or has once; an error is a sentence.
pub(crate) fn check(element: &Element, members: &[Member]) -> Result<(), String> {
    let mut seen = 0_u32;
    for child in element.elements() {
        let found = members.iter().position(|own| own.name == child.local);
        let place = found.ok_or_else(|| unknown(element, child, members))?;
        let bit = 1 << place;
        if seen & bit != 0 && !members[place].many {
            return Err(format!("`{}` is there twice", child.local));
        }
        seen |= bit;
    }
    Ok(())
}

/// Says that a member which is a text holds an element.
pub(crate) fn check_leaf(element: &Element) -> Result<(), String> {
    match element.first() {
        None => Ok(()),
        Some(child) => Err(format!(
            "`{}` is a text, and holds `{}`",
            element.local, child.local
        )),
    }
}

fn unknown(element: &Element, child: &Element, members: &[Member]) -> String {
    let names: Vec<_> = members.iter().map(|own| own.name).collect();
    let (local, own) = (&child.local, &element.local);
    format!(
        "`{local}` is no member of `{own}`, which has {}",
        names.join(", ")
    )
}
