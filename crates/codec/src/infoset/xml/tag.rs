//! Start tags: attributes and the namespaces they declare.

use super::{State, Xml};
use crate::error::DecodeError;
use crate::infoset::{Event, Name};
use crate::limits::{XML_ATTRIBUTES_MAX, XML_NAMESPACES_MAX};
use crate::syntax::DEPTH_MAX;

const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";

#[derive(Clone, Copy, Default)]
pub(super) struct Attribute<'a> {
    pub(super) at: usize,
    pub(super) prefix: &'a str,
    pub(super) local: &'a str,
    pub(super) value_at: usize,
    pub(super) value: &'a str,
}

impl Attribute<'_> {
    /// Says whether it declares a namespace and hence is no attribute of the infoset.
    fn declares(&self) -> bool {
        self.prefix == "xmlns" || (self.prefix.is_empty() && self.local == "xmlns")
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct Namespace<'a> {
    pub(super) depth: usize,
    pub(super) prefix: &'a str,
    pub(super) uri: &'a str,
}

impl<'a> Xml<'a> {
    /// Reads a start tag whole, since its namespaces may be declared after they are used.
    pub(super) fn start_tag(&mut self) -> Result<Event<'a>, DecodeError> {
        self.event_at = self.at;
        self.expect("<")?;
        let start = self.at;
        let (prefix, local) = self.name()?;
        let limit = self.limits.depth.min(DEPTH_MAX);
        if self.depth >= limit {
            return Err(DecodeError::over(self.event_at, "nesting", limit));
        }
        self.open[self.depth] = &self.text[start..self.at];
        self.depth += 1;
        let empty = self.read_attributes()?;
        self.declare_namespaces()?;
        self.check_unique()?;
        self.state = State::Attributes(0, empty);
        let uri = self.resolve(prefix, start)?;
        Ok(Event::Start(Name { uri, local }))
    }

    /// Reads attributes up to the end of the tag; says whether the element is empty.
    pub(super) fn read_attributes(&mut self) -> Result<bool, DecodeError> {
        self.attribute_count = 0;
        loop {
            let spaced = self.space();
            match self.byte()? {
                b'>' => {
                    self.at += 1;
                    return Ok(false);
                }
                b'/' => {
                    self.expect("/>")?;
                    return Ok(true);
                }
                _ if !spaced => {
                    return Err(DecodeError::expected(
                        self.at,
                        "white space before an attribute",
                    ));
                }
                _ => self.read_attribute()?,
            }
        }
    }

    pub(super) fn read_attribute(&mut self) -> Result<(), DecodeError> {
        let at = self.at;
        let (prefix, local) = self.name()?;
        self.space();
        self.expect("=")?;
        self.space();
        let quote = match self.byte()? {
            b'"' => "\"",
            b'\'' => "'",
            _ => return Err(DecodeError::expected(self.at, "a value in quotes")),
        };
        self.at += 1;
        let value_at = self.at;
        let value = self.until(quote)?;
        if let Some(less) = value.find('<') {
            return Err(DecodeError::expected(
                value_at + less,
                "no < in an attribute",
            ));
        }
        let Some(room) = self.attributes.get_mut(self.attribute_count) else {
            return Err(DecodeError::over(at, "attributes", XML_ATTRIBUTES_MAX));
        };
        *room = Attribute {
            at,
            prefix,
            local,
            value_at,
            value,
        };
        self.attribute_count += 1;
        Ok(())
    }

    pub(super) fn declare_namespaces(&mut self) -> Result<(), DecodeError> {
        for index in 0..self.attribute_count {
            let attribute = self.attributes[index];
            if !attribute.declares() {
                continue;
            }
            if attribute.value.contains('&') {
                let what = "a namespace name without entities";
                return Err(DecodeError::expected(attribute.value_at, what));
            }
            let prefix = if attribute.prefix.is_empty() {
                ""
            } else {
                attribute.local
            };
            let Some(room) = self.namespaces.get_mut(self.namespace_count) else {
                return Err(DecodeError::over(
                    attribute.at,
                    "namespaces",
                    XML_NAMESPACES_MAX,
                ));
            };
            *room = Namespace {
                depth: self.depth,
                prefix,
                uri: attribute.value,
            };
            self.namespace_count += 1;
        }
        Ok(())
    }

    pub(super) fn check_unique(&self) -> Result<(), DecodeError> {
        let attributes = &self.attributes[..self.attribute_count];
        for (index, one) in attributes.iter().enumerate() {
            for other in &attributes[..index] {
                let same = one.local == other.local
                    && (one.prefix == other.prefix
                        || (!one.prefix.is_empty()
                            && !other.prefix.is_empty()
                            && self.bound(one.prefix) == self.bound(other.prefix)));
                if same {
                    return Err(DecodeError::expected(one.at, "each attribute once"));
                }
            }
        }
        Ok(())
    }

    pub(super) fn bound(&self, prefix: &str) -> Option<&'a str> {
        let inner_first = self.namespaces[..self.namespace_count].iter().rev();
        let mut bound = inner_first.filter(|namespace| namespace.prefix == prefix);
        match bound.next() {
            Some(namespace) => Some(namespace.uri),
            None if prefix == "xml" => Some(XML_URI),
            None => None,
        }
    }

    pub(super) fn resolve(&self, prefix: &str, at: usize) -> Result<&'a str, DecodeError> {
        match self.bound(prefix) {
            Some(uri) => Ok(uri),
            None if prefix.is_empty() => Ok(""),
            None => Err(DecodeError::expected(
                at,
                "a prefix that is bound to a namespace",
            )),
        }
    }

    pub(super) fn next_attribute(
        &mut self,
        from: usize,
        empty: bool,
    ) -> Result<Event<'a>, DecodeError> {
        let attributes = &self.attributes[..self.attribute_count];
        let mut rest = attributes.iter().enumerate().skip(from);
        let Some((index, &attribute)) = rest.find(|(_, attribute)| !attribute.declares()) else {
            self.state = if empty { State::Empty } else { State::Content };
            return self.advance();
        };
        self.state = State::Attributes(index + 1, empty);
        self.event_at = attribute.at;
        self.set_attribute_value(&attribute)?;
        // Attributes without a prefix are in no namespace.
        let uri = match attribute.prefix {
            "" => "",
            prefix => self.resolve(prefix, attribute.at)?,
        };
        Ok(Event::Attribute(Name {
            uri,
            local: attribute.local,
        }))
    }
}
