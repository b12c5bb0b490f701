//! What a description says of the tokens of a field beside what they are: which stand for no result and why
//! (`swe:nilValues`, OGC 08-094r1 section 7.2.13), and which there may be (`swe:constraint`, section 7.2.14).
//!
//! A rule that is not read is refused where it is described, since a token would mean something else without it.
//! What it deliberately does not do: patterns, allowed times, and counting of significant figures, which change no
//! token's meaning.

use super::token;
use crate::error::DecodeError;
use crate::infoset::walk::skip;
use crate::infoset::{Event, Pull};
use crate::lexical;
use crate::limits::SWE_RULES_MAX;
use alloc::string::String;
use alloc::vec::Vec;

/// What is said of the tokens of one field.
#[derive(Default)]
pub(crate) struct Rule {
    /// Tokens that stand for no result, each with why there is none.
    nils: Vec<(String, String)>,
    allowed: Option<Allowed>,
}

/// What a token may be: one of these, or a number from one to another.
#[derive(Default)]
struct Allowed {
    tokens: Vec<String>,
    numbers: Vec<(f64, f64)>,
}

/// An element that says a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Nils,
    Constraint,
}

impl Part {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "nilValues" => Some(Part::Nils),
            "constraint" => Some(Part::Constraint),
            _ => None,
        }
    }
}

impl Rule {
    pub(crate) fn is_empty(&self) -> bool {
        self.nils.is_empty() && self.allowed.is_none()
    }

    /// Reads an element whose start was met last, up to its end.
    pub(crate) fn read(&mut self, part: Part, pull: &mut impl Pull) -> Result<(), DecodeError> {
        match part {
            Part::Nils => self.read_nils(pull),
            Part::Constraint => self.read_constraint(pull),
        }
    }

    fn read_nils(&mut self, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let mut nil: Option<(String, String)> = None;
        let mut depth = 1;
        while depth > 0 {
            match pull.next()? {
                Event::Start(name) => {
                    depth += 1;
                    nil = (name.local == "nilValue").then(Default::default);
                }
                Event::Attribute(name) => {
                    let (is_reason, is_reference) = (name.local == "reason", name.local == "href");
                    match &mut nil {
                        Some((_, reason)) if is_reason => reason.push_str(pull.text()),
                        _ if is_reference => return Err(elsewhere(pull)),
                        _ => {}
                    }
                }
                Event::Content => {
                    if let Some((text, _)) = &mut nil {
                        text.push_str(pull.text().trim_ascii());
                    }
                }
                Event::End => {
                    depth -= 1;
                    if let Some(nil) = nil.take() {
                        check_count(self.nils.len(), pull.at())?;
                        self.nils.push(nil);
                    }
                }
                Event::Done => return Err(DecodeError::truncated(pull.at())),
            }
        }
        Ok(())
    }

    fn read_constraint(&mut self, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let mut depth = 1;
        while depth > 0 {
            let member = match pull.next()? {
                Event::Start(name) => Member::named(name.local),
                Event::Attribute(name) if name.local == "href" => return Err(elsewhere(pull)),
                Event::End => {
                    depth -= 1;
                    continue;
                }
                _ => continue,
            };
            match member {
                Some(Member::Allowed) => {
                    self.allowed.get_or_insert_default();
                    depth += 1;
                }
                Some(Member::Figures) => skip(pull)?,
                Some(member) => self.read_allowed(member, pull)?,
                None => {
                    let what = "AllowedValues or AllowedTokens of values and intervals";
                    return Err(DecodeError::expected(pull.at(), what));
                }
            }
        }
        Ok(())
    }

    fn read_allowed(&mut self, member: Member, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let text = crate::infoset::walk::text(pull)?;
        let at = pull.at();
        let allowed = self.allowed.get_or_insert_default();
        check_count(allowed.tokens.len() + allowed.numbers.len(), at)?;
        let bad = || DecodeError::expected(at, "a number, or two of an interval");
        match member {
            Member::Value => allowed.tokens.push(text.trim_ascii().into()),
            Member::List => {
                for token in text.split_ascii_whitespace() {
                    check_count(allowed.tokens.len(), at)?;
                    allowed.tokens.push(token.into());
                }
            }
            Member::Interval => {
                let mut ends = text.split_ascii_whitespace().map(bound);
                match (ends.next(), ends.next(), ends.next()) {
                    (Some(Some(from)), Some(Some(to)), None) => allowed.numbers.push((from, to)),
                    _ => return Err(bad()),
                }
            }
            Member::Least | Member::Most => {
                let end = bound(text.trim_ascii()).ok_or_else(bad)?;
                allowed.numbers.push(match member {
                    Member::Least => (end, f64::INFINITY),
                    _ => (f64::NEG_INFINITY, end),
                });
            }
            Member::Allowed | Member::Figures => {}
        }
        Ok(())
    }

    /// Why there is no result, where a token says so.
    pub(crate) fn reason(&self, token: &str, decimal: u8) -> Option<&str> {
        let is_same = |nil: &str| nil == token || same_number(nil, token, decimal);
        let found = self.nils.iter().find(|(nil, _)| is_same(nil));
        found.map(|(_, reason)| reason.as_str())
    }

    /// Refuses a token that there may not be.
    pub(crate) fn check(&self, token: &str, at: usize, decimal: u8) -> Result<(), DecodeError> {
        let Some(allowed) = &self.allowed else {
            return Ok(());
        };
        let is_same = |own: &String| own == token || same_number(own, token, decimal);
        let is_within = |number: f64| {
            let mut all = allowed.numbers.iter();
            all.any(|&(from, to)| (from..=to).contains(&number))
        };
        let is_allowed = allowed.tokens.iter().any(is_same)
            || token::number(token, decimal).is_some_and(is_within);
        if is_allowed {
            Ok(())
        } else {
            Err(DecodeError::expected(
                at,
                "a value that the constraint allows",
            ))
        }
    }
}

/// What a constraint says.
#[derive(Clone, Copy)]
enum Member {
    Allowed,
    Value,
    /// Several values, of SWE Common 1.0.1.
    List,
    Interval,
    /// Of SWE Common 1.0.1.
    Least,
    Most,
    Figures,
}

impl Member {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "AllowedValues" | "AllowedTokens" => Member::Allowed,
            "value" => Member::Value,
            "valueList" => Member::List,
            "interval" => Member::Interval,
            "min" => Member::Least,
            "max" => Member::Most,
            "significantFigures" => Member::Figures,
            _ => return None,
        })
    }
}

/// An end of an interval, which may be open.
fn bound(text: &str) -> Option<f64> {
    match text {
        "INF" | "+INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        _ => lexical::number(text),
    }
}

fn same_number(described: &str, token: &str, decimal: u8) -> bool {
    let open = |text: &str| bound(text).filter(|number| number.is_infinite());
    let described = bound(described);
    described.is_some() && described == token::number(token, decimal).or_else(|| open(token))
}

fn check_count(count: usize, at: usize) -> Result<(), DecodeError> {
    if count < SWE_RULES_MAX {
        Ok(())
    } else {
        Err(DecodeError::over(at, "rules of a field", SWE_RULES_MAX))
    }
}

/// What is described in another document is not read.
pub(crate) fn elsewhere(pull: &impl Pull) -> DecodeError {
    DecodeError::expected(pull.at(), "a description that stands here")
}
