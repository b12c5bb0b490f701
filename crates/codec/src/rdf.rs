//! Graphs of triples: between the vocabulary of SOSA and Turtle, N-Triples and JSON-LD.
//!
//! Writing is streamed: a [`Describe`] is told of one observation after the other and of the nodes
//! that hang on it. Reading cannot be, since other serializers put triples in any order; so they are
//! gathered in a [`graph::Graph`], within limits, and looked up there. Only triples with a property
//! that the vocabulary knows are kept.

pub(crate) mod graph;
pub(crate) mod iri;
#[cfg(feature = "jsonld")]
pub(crate) mod jsonld_context;
#[cfg(feature = "jsonld")]
pub(crate) mod jsonld_read;
#[cfg(feature = "jsonld")]
pub(crate) mod jsonld_text;
#[cfg(feature = "ntriples")]
pub(crate) mod ntriples_text;
#[cfg(any(feature = "turtle", feature = "ntriples"))]
mod quoted;
#[cfg(any(feature = "turtle", feature = "ntriples"))]
pub(crate) mod turtle_lexer;
#[cfg(any(feature = "turtle", feature = "ntriples"))]
pub(crate) mod turtle_read;
#[cfg(feature = "turtle")]
pub(crate) mod turtle_text;

use weir_model::Time;

/// A namespace: the prefix that is written, and its IRI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespace {
    pub(crate) prefix: &'static str,
    pub(crate) iri: &'static str,
}

macro_rules! namespaces {
    ($($constant:ident $prefix:literal $iri:literal,)*) => {
        $(pub(crate) const $constant: Namespace = Namespace { prefix: $prefix, iri: $iri };)*
        /// All of them.
        pub(crate) const NAMESPACES: &[Namespace] = &[$($constant),*];
    };
}

namespaces! {
    RDF "rdf" "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    XSD "xsd" "http://www.w3.org/2001/XMLSchema#",
    SOSA "sosa" "http://www.w3.org/ns/sosa/",
    TIME "time" "http://www.w3.org/2006/time#",
    QUDT "qudt" "http://qudt.org/schema/qudt/",
    GEO "geo" "http://www.w3.org/2003/01/geo/wgs84_pos#",
    WEIR "weir" "urn:weir:",
}

/// A name in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) namespace: Namespace,
    pub(crate) local: &'static str,
}

/// What the value of a property is, where it is always the same (`@type` in a context of JSON-LD).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// A literal of any datatype, or a node.
    Any,
    /// A node.
    Node,
    /// A literal of this datatype.
    Literal(Term),
    /// A JSON document.
    Json,
}

const DATE_TIME: Range = Range::Literal(xsd("dateTime"));

const fn xsd(local: &'static str) -> Term {
    let namespace = XSD;
    Term { namespace, local }
}

/// The datatype of codes of UCUM.
pub(crate) const UCUM: Term = Term {
    namespace: QUDT,
    local: "UCUMcs",
};

/// The datatype of instants in OWL-Time.
pub(crate) const STAMP: Term = xsd("dateTimeStamp");

macro_rules! properties {
    ($($property:ident $namespace:ident $local:literal $range:expr,)*) => {
        /// A property that the vocabulary knows.
        #[allow(clippy::enum_variant_names, reason = "the names of the vocabularies")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Property {
            $($property,)*
        }

        impl Property {
            /// All of them.
            pub(crate) const ALL: &'static [Property] = &[$(Property::$property),*];

            /// Its name.
            pub(crate) const fn term(self) -> Term {
                match self {
                    $(Property::$property => Term { namespace: $namespace, local: $local },)*
                }
            }

            /// What its value is.
            pub(crate) const fn range(self) -> Range {
                match self {
                    $(Property::$property => $range,)*
                }
            }
        }
    };
}

properties! {
    Type RDF "type" Range::Node,
    HasSimpleResult SOSA "hasSimpleResult" Range::Any,
    HasResult SOSA "hasResult" Range::Node,
    ResultTime SOSA "resultTime" DATE_TIME,
    PhenomenonTime SOSA "phenomenonTime" Range::Node,
    ObservedProperty SOSA "observedProperty" Range::Node,
    MadeBySensor SOSA "madeBySensor" Range::Node,
    HasFeatureOfInterest SOSA "hasFeatureOfInterest" Range::Node,
    NumericValue QUDT "numericValue" Range::Any,
    HasUnit QUDT "hasUnit" Range::Node,
    UcumCode QUDT "ucumCode" Range::Literal(UCUM),
    Instant TIME "inXSDDateTimeStamp" Range::Literal(STAMP),
    HasBeginning TIME "hasBeginning" Range::Node,
    HasEnd TIME "hasEnd" Range::Node,
    Location GEO "location" Range::Node,
    Latitude GEO "lat" Range::Any,
    Longitude GEO "long" Range::Any,
    Topic WEIR "topic" Range::Any,
    Unit WEIR "unit" Range::Any,
    Quality WEIR "quality" Range::Any,
    Parameters WEIR "parameters" Range::Json,
    ValidFrom WEIR "validFrom" DATE_TIME,
    ValidTo WEIR "validTo" DATE_TIME,
}

impl Property {
    /// The property of this IRI; also those that others use for the same.
    pub(crate) fn of(iri: &str) -> Option<Self> {
        let split = iri.rfind(['#', '/', ':'])? + 1;
        let (namespace, local) = iri.split_at(split);
        let same = |property: &&Property| {
            property.term().namespace.iri == namespace && property.term().local == local
        };
        if let Some(property) = Self::ALL.iter().find(same) {
            return Some(*property);
        }
        match (namespace, local) {
            _ if namespace == QUDT.iri && local == "unit" => Some(Property::HasUnit),
            _ if namespace == QUDT.iri && local == "value" => Some(Property::NumericValue),
            _ if namespace == TIME.iri && local == "inXSDDateTime" => Some(Property::Instant),
            _ => None,
        }
    }
}

/// A class that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Observation,
    Instant,
    Interval,
    QuantityValue,
}

impl Class {
    /// All of them.
    pub(crate) const ALL: [Class; 4] = [
        Class::Observation,
        Class::Instant,
        Class::Interval,
        Class::QuantityValue,
    ];

    /// Its name.
    pub(crate) const fn term(self) -> Term {
        let (namespace, local) = match self {
            Class::Observation => (SOSA, "Observation"),
            Class::Instant => (TIME, "Instant"),
            Class::Interval => (TIME, "Interval"),
            Class::QuantityValue => (QUDT, "QuantityValue"),
        };
        Term { namespace, local }
    }
}

/// A literal to be written; [`Property::range`] says the datatype of times.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Literal<'a> {
    /// `xsd:double`.
    Number(f64),
    /// `xsd:integer`, of its digits.
    Integer(&'a str),
    /// `xsd:boolean`.
    Bool(bool),
    /// `xsd:string`.
    Text(&'a str),
    /// An instant.
    Time(Time),
    /// `rdf:JSON`, of compact JSON text.
    Json(&'a str),
    /// A code of UCUM.
    Ucum(&'a str),
}

/// Writes observations as graphs.
pub(crate) trait Describe {
    /// Begins a node of its own.
    fn begin(&mut self, class: Class);
    /// Ends it.
    fn end(&mut self);
    /// Begins a node that is the value of a property of the node begun last.
    fn open(&mut self, property: Property, class: Option<Class>);
    /// Ends it.
    fn close(&mut self);
    /// Adds a literal.
    fn literal(&mut self, property: Property, literal: Literal<'_>);
    /// Adds a reference to what a name of ours stands for.
    fn resource(&mut self, property: Property, name: &str);
    /// Adds a reference to `rdf:nil`.
    fn nil(&mut self, property: Property);
}

/// The datatype that a literal is written with; strings have none, JSON has [`JSON`].
pub(crate) fn datatype(property: Property, literal: &Literal<'_>) -> Option<Term> {
    match (literal, property.range()) {
        (Literal::Number(_), _) => Some(xsd("double")),
        (Literal::Integer(_), _) => Some(xsd("integer")),
        (Literal::Bool(_), _) => Some(xsd("boolean")),
        (Literal::Text(_), _) => None,
        (Literal::Json(_), _) => Some(JSON),
        (Literal::Ucum(_), _) => Some(UCUM),
        (Literal::Time(_), Range::Literal(term)) => Some(term),
        (Literal::Time(_), _) => Some(xsd("dateTime")),
    }
}

/// The datatype of JSON documents (JSON-LD 1.1 section 10.2).
pub(crate) const JSON: Term = Term {
    namespace: RDF,
    local: "JSON",
};

/// The empty list, which is what an observation without a result has as its result.
pub(crate) const NIL: Term = Term {
    namespace: RDF,
    local: "nil",
};

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn each_property_is_found_by_its_iri() {
        for property in Property::ALL {
            let Term { namespace, local } = property.term();
            assert_eq!(
                Property::of(&format!("{}{local}", namespace.iri)),
                Some(*property)
            );
        }
        assert_eq!(
            Property::of("http://qudt.org/schema/qudt/unit"),
            Some(Property::HasUnit)
        );
        assert_eq!(Property::of("http://example.org/hasResult"), None);
        assert_eq!(Property::of(""), None);
    }
}
