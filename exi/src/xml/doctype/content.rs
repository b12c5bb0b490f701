//! What an element's declaration says of its content, and lists of names: read for their grammar only.

use crate::xml::error::XmlError;
use crate::xml::scan::Scan;

/// Groups within one another, at most.
const GROUP_DEPTH_MAX: usize = 64;

/// Reads an element's declaration after `<!ELEMENT` (productions 45 and 46).
pub(super) fn element(scan: &mut Scan<'_>) -> Result<(), XmlError> {
    scan.needs_space()?;
    scan.name()?;
    scan.needs_space()?;
    if scan.accept("EMPTY") || scan.accept("ANY") {
        return Ok(());
    }
    let mut mixed = *scan;
    mixed.expect("(")?;
    mixed.space();
    if mixed.accept("#PCDATA") {
        *scan = mixed;
        return mixed_content(scan);
    }
    group(scan, 0)?;
    repetition(scan);
    Ok(())
}

/// Reads mixed content after its `#PCDATA` (production 51).
fn mixed_content(scan: &mut Scan<'_>) -> Result<(), XmlError> {
    let mut names = false;
    loop {
        scan.space();
        if scan.accept(")") {
            break;
        }
        scan.expect("|")?;
        scan.space();
        scan.name()?;
        names = true;
    }
    match scan.accept("*") || !names {
        true => Ok(()),
        false => Err(scan.expected("* after mixed content")),
    }
}

/// Reads a choice or sequence (productions 47 to 50).
fn group(scan: &mut Scan<'_>, depth: usize) -> Result<(), XmlError> {
    if depth == GROUP_DEPTH_MAX {
        return Err(scan.expected("groups less deep in one another"));
    }
    scan.expect("(")?;
    let mut separator = None;
    loop {
        scan.space();
        match scan.peek() {
            Some(b'(') => group(scan, depth + 1)?,
            _ => scan.name().map(drop)?,
        }
        repetition(scan);
        scan.space();
        let next = scan.peek();
        match next {
            Some(b')') => {
                scan.at += 1;
                return Ok(());
            }
            Some(b'|' | b',') if separator.is_none() || separator == next => separator = next,
            _ => return Err(scan.expected("the next of a group, or its end")),
        }
        scan.at += 1;
    }
}

fn repetition(scan: &mut Scan<'_>) {
    if matches!(scan.peek(), Some(b'?' | b'*' | b'+')) {
        scan.at += 1;
    }
}

/// Reads names in parentheses (productions 58 and 59).
pub(super) fn choice(scan: &mut Scan<'_>) -> Result<(), XmlError> {
    scan.expect("(")?;
    loop {
        scan.space();
        scan.nmtoken()?;
        scan.space();
        if scan.accept(")") {
            return Ok(());
        }
        scan.expect("|")?;
    }
}
