//! Observations found in a graph, whatever else it says.

use crate::error::DecodeError;
use crate::lexical;
use crate::rdf::graph::{Datatype, Graph, Node, Object, Triple};
use crate::rdf::{Class, NIL, Property, iri};
use crate::rows::Rows;
use crate::vocabulary::iso_time;
use weir_model::batch::Naming;
use weir_model::{Extra, Limits, Place, Time, Value};

/// Reads the observations of a graph, in the order in which they were met.
pub(crate) fn read(
    mut graph: Graph,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    graph.sort();
    let reader = Reader {
        graph: &graph,
        limits,
    };
    for subject in graph.subjects() {
        if subject
            .iter()
            .any(|triple| reader.makes_observation(triple))
        {
            reader.observation(subject, rows)?;
        }
    }
    Ok(())
}

struct Reader<'g> {
    graph: &'g Graph,
    limits: &'g Limits,
}

/// The ends of a time.
#[derive(Default)]
struct Span {
    begin: Option<Time>,
    end: Option<Time>,
}

impl<'g> Reader<'g> {
    fn makes_observation(&self, triple: &Triple) -> bool {
        match (triple.property, triple.object) {
            (Property::HasSimpleResult, _) => true,
            (Property::Type, Object::Node(class)) => {
                let term = Class::Observation.term();
                let local = self.graph.name(class).strip_prefix(term.namespace.iri);
                local == Some(term.local)
            }
            _ => false,
        }
    }

    fn observation(&self, triples: &[Triple], rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let first = triples.iter().map(|triple| triple.at).min();
        let at = first.unwrap_or_default() as usize;
        rows.begin(at)?;
        let mut valid = (None, None);
        for triple in triples {
            match triple.property {
                Property::ValidFrom => valid.0 = Some(self.time(triple)?),
                Property::ValidTo => valid.1 = Some(self.time(triple)?),
                _ => self.member(triple, rows)?,
            }
        }
        if let (Some(from), Some(to)) = valid {
            rows.extra(Extra {
                valid: Some((from, to)),
                ..Extra::default()
            });
        }
        self.result(triples, rows)?;
        self.place(triples, rows)?;
        rows.end(at)
    }

    fn member(&self, triple: &Triple, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let name = self.name(&triple.object);
        let mut extra = Extra::default();
        match triple.property {
            Property::Topic => rows.topic(Naming::Topic, &name),
            Property::MadeBySensor if !self.is_blank(triple) => rows.sensor(&name),
            Property::ObservedProperty if !self.is_blank(triple) => rows.property(&name),
            Property::HasFeatureOfInterest if !self.is_blank(triple) => {
                extra.feature = Some(&name);
            }
            Property::Unit => rows.unit(&name),
            Property::Quality => extra.quality = Some(&name),
            Property::ResultTime => extra.result_time = Some(self.time(triple)?),
            Property::PhenomenonTime => {
                let span = self.span(triple)?;
                span.begin.into_iter().for_each(|time| rows.time(time));
                extra.end = span.end;
            }
            Property::Parameters => {
                let json = lexical::json(&name, 0, self.limits);
                let json = json.map_err(|error| DecodeError {
                    at: triple.at as usize,
                    ..error
                })?;
                rows.extra(Extra {
                    parameters: Some(&json),
                    ..Extra::default()
                });
            }
            _ => {}
        }
        if !extra.is_empty() {
            rows.extra(extra);
        }
        Ok(())
    }

    /// What a node or literal is called by us.
    fn name(&self, object: &Object) -> alloc::borrow::Cow<'g, str> {
        match *object {
            Object::Node(node) => iri::name(self.graph.name(node)),
            Object::Literal(span, _) => self.graph.text(span).into(),
        }
    }

    fn is_blank(&self, triple: &Triple) -> bool {
        match triple.object {
            Object::Node(node) => self.graph.name(node).starts_with("_:"),
            Object::Literal(..) => false,
        }
    }

    /// The first value of a property of a node.
    fn find(&self, node: Node, property: Property) -> Option<&'g Triple> {
        let about = self.graph.about(node).iter();
        let mut found = about.filter(|triple| triple.property == property);
        found.next()
    }

    fn time(&self, triple: &Triple) -> Result<Time, DecodeError> {
        let at = triple.at as usize;
        let Object::Literal(span, _) = triple.object else {
            return Err(DecodeError::expected(at, "a time"));
        };
        let text = self.graph.text(span).trim_ascii();
        iso_time::parse(text).map_err(|error| DecodeError::expected(at, error.expected))
    }

    /// Reads a temporal entity: an instant, an interval, or just a time.
    fn span(&self, triple: &Triple) -> Result<Span, DecodeError> {
        let Object::Node(node) = triple.object else {
            let begin = Some(self.time(triple)?);
            return Ok(Span { begin, end: None });
        };
        if let Some(instant) = self.find(node, Property::Instant) {
            let begin = Some(self.time(instant)?);
            return Ok(Span { begin, end: None });
        }
        let end_of = |property| {
            let found = self.find(node, property);
            found.map(|triple| self.instant(triple)).transpose()
        };
        Ok(Span {
            begin: end_of(Property::HasBeginning)?.flatten(),
            end: end_of(Property::HasEnd)?.flatten(),
        })
    }

    fn instant(&self, triple: &Triple) -> Result<Option<Time>, DecodeError> {
        let stamp = match triple.object {
            Object::Literal(..) => Some(triple),
            Object::Node(node) => self.find(node, Property::Instant),
        };
        stamp.map(|triple| self.time(triple)).transpose()
    }

    /// The simple result counts; else the number of a quantity.
    fn result(&self, triples: &[Triple], rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let mut simple = false;
        for triple in triples {
            match (triple.property, triple.object) {
                (Property::HasSimpleResult, _) => {
                    self.value(triple, rows)?;
                    simple = true;
                }
                (Property::HasResult, Object::Node(node)) => {
                    if let Some(unit) = self.find(node, Property::HasUnit) {
                        self.unit(unit, rows);
                    }
                }
                _ => {}
            }
        }
        let results = triples.iter();
        let mut results = results.filter(|triple| triple.property == Property::HasResult);
        if let (false, Some(triple)) = (simple, results.next()) {
            self.complex_result(triple, rows)?;
        }
        Ok(())
    }

    fn complex_result(&self, triple: &Triple, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let Object::Node(node) = triple.object else {
            return self.value(triple, rows);
        };
        if self.graph.name(node).strip_prefix(NIL.namespace.iri) == Some(NIL.local) {
            rows.value(Value::Null);
        }
        match self.find(node, Property::NumericValue) {
            Some(number) => self.value(number, rows),
            None => Ok(()),
        }
    }

    fn unit(&self, triple: &Triple, rows: &mut Rows<'_>) {
        let code = match triple.object {
            Object::Node(node) => self.find(node, Property::UcumCode),
            Object::Literal(..) => None,
        };
        let blank = code.is_none() && self.is_blank(triple);
        if !blank {
            rows.unit(&self.name(&code.unwrap_or(triple).object));
        }
    }

    fn value(&self, triple: &Triple, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let at = triple.at as usize;
        let text = self.name(&triple.object);
        let datatype = match triple.object {
            Object::Literal(_, datatype) => datatype,
            Object::Node(_) => Datatype::Text,
        };
        match datatype {
            Datatype::Text => rows.value(Value::Text(&text)),
            Datatype::Number => match lexical::numeric(text.trim_ascii()) {
                Some(number) => rows.value(number),
                None => return Err(DecodeError::expected(at, "a finite number")),
            },
            Datatype::Bool => rows.value(Value::Bool(bool_of(&text, at)?)),
            Datatype::Json => {
                let read = lexical::read_json(text.trim_ascii(), rows, self.limits);
                read.map_err(|error| DecodeError { at, ..error })?;
            }
        }
        Ok(())
    }

    /// The place of the observation, or else of its sensor or its feature.
    fn place(&self, triples: &[Triple], rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        if let Some(place) = self.place_among(triples)? {
            set_place(place, rows);
            return Ok(());
        }
        for triple in triples {
            let (Property::MadeBySensor | Property::HasFeatureOfInterest, Object::Node(node)) =
                (triple.property, triple.object)
            else {
                continue;
            };
            if let Some(place) = self.place_among(self.graph.about(node))? {
                set_place(place, rows);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Coordinates among what is said of a node, or of its location.
    fn place_among(&self, triples: &[Triple]) -> Result<Option<Place>, DecodeError> {
        let (mut latitude, mut longitude) = (None, None);
        for triple in triples {
            match (triple.property, triple.object) {
                (Property::Latitude, _) => latitude = Some(self.degrees(triple)?),
                (Property::Longitude, _) => longitude = Some(self.degrees(triple)?),
                (Property::Location, Object::Node(node)) => {
                    for triple in self.graph.about(node) {
                        match triple.property {
                            Property::Latitude => latitude = Some(self.degrees(triple)?),
                            Property::Longitude => longitude = Some(self.degrees(triple)?),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let place = latitude.zip(longitude);
        Ok(place.map(|(latitude, longitude)| Place {
            latitude,
            longitude,
        }))
    }

    fn degrees(&self, triple: &Triple) -> Result<f64, DecodeError> {
        number(&self.name(&triple.object), triple.at as usize)
    }
}

fn set_place(place: Place, rows: &mut Rows<'_>) {
    rows.latitude(place.latitude);
    rows.longitude(place.longitude);
}

fn number(text: &str, at: usize) -> Result<f64, DecodeError> {
    lexical::number(text.trim_ascii()).ok_or_else(|| DecodeError::expected(at, "a finite number"))
}

fn bool_of(text: &str, at: usize) -> Result<bool, DecodeError> {
    match text.trim_ascii() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(DecodeError::expected(at, "true or false")),
    }
}
