//! JSON-LD read: with any context that stands in the document, or expanded, or flattened.
//!
//! What it deliberately does not do: fetch contexts, frames, `@reverse`, `@index` and containers; what
//! they say is passed over. Numbers are read as they are written, whatever their datatype would be.

use super::graph::{Datatype, Graph, Node, Object};
use super::jsonld_context::{Coercion, Context};
use super::{Class, NIL, Property};
use crate::error::DecodeError;
use crate::names::Names;
use crate::syntax::json::Json;
use crate::syntax::{Key, Kind, Pull};
use alloc::string::String;
use weir_model::Limits;

/// Reads a document into a graph.
pub(crate) fn read(text: &str, graph: &mut Graph, limits: &Limits) -> Result<(), DecodeError> {
    let mut reader = Reader {
        text,
        json: Json::new(text, limits),
        context: Context::default(),
        graph,
        iri: String::new(),
    };
    reader.nodes()?;
    reader.json.finish()
}

struct Reader<'a, 'g> {
    text: &'a str,
    json: Json<'a>,
    context: Context,
    graph: &'g mut Graph,
    /// The IRI made last.
    iri: String,
}

/// What an object says of itself, wherever among its members.
#[derive(Default)]
struct Outline {
    id: Option<String>,
    is_value: bool,
    items: bool,
    context: bool,
}

impl Reader<'_, '_> {
    /// Reads a node, or several in an array.
    fn nodes(&mut self) -> Result<(), DecodeError> {
        match self.json.peek()? {
            Kind::Array => {
                let mut array = self.json.array()?;
                while self.json.item(&mut array)? {
                    self.nodes()?;
                }
                Ok(())
            }
            Kind::Map => self.node().map(drop),
            _ => Err(DecodeError::expected(self.json.at(), "a node: an object")),
        }
    }

    /// Looks at the keywords of an object, in which each name stands once, and comes back.
    fn outline(&mut self) -> Result<Outline, DecodeError> {
        let start = self.json.mark();
        let mut outline = Outline::default();
        let (mut map, mut names) = (self.json.map()?, Names::default());
        while let Some(key) = self.json.new_key(&mut map, &mut names)? {
            let id = match key {
                Key::Text("@id" | "id") => true,
                Key::Text("@value") => {
                    outline.is_value = true;
                    false
                }
                Key::Text("@list" | "@set") => {
                    outline.items = true;
                    false
                }
                Key::Text("@context") => {
                    outline.context = true;
                    false
                }
                _ => false,
            };
            if id && self.json.peek()? == Kind::Text {
                outline.id = Some(self.json.text()?.into())
            } else {
                self.json.skip()?
            }
        }
        self.json.rewind(start);
        Ok(outline)
    }

    fn node(&mut self) -> Result<Node, DecodeError> {
        let outline = self.outline()?;
        self.described(&outline)
    }

    fn described(&mut self, outline: &Outline) -> Result<Node, DecodeError> {
        if !outline.context {
            return self.members(outline);
        }
        let before = self.context.mark();
        self.read_context()?;
        let node = self.members(outline);
        self.context.restore(before);
        node
    }

    /// Finds the context of an object and comes back.
    fn read_context(&mut self) -> Result<(), DecodeError> {
        let start = self.json.mark();
        let mut map = self.json.map()?;
        while let Some(key) = self.json.key(&mut map)? {
            if key == Key::Text("@context") {
                self.context.read(&mut self.json)?
            } else {
                self.json.skip()?
            }
        }
        self.json.rewind(start);
        Ok(())
    }

    fn members(&mut self, outline: &Outline) -> Result<Node, DecodeError> {
        let at = self.json.at();
        let subject = match &outline.id {
            Some(id) => {
                self.context.identify(id, at, &mut self.iri)?;
                self.graph.node(&self.iri, at)?
            }
            None => self.graph.blank(at)?,
        };
        let mut map = self.json.map()?;
        loop {
            let at = self.json.at();
            let key = match self.json.key(&mut map)? {
                None => return Ok(subject),
                Some(Key::Text(key)) => match key {
                    "@graph" | "@included" => Member::Nodes,
                    "@type" | "type" => Member::Types,
                    key if key.starts_with('@') => Member::Keyword,
                    key => {
                        let (property, coercion) = self.context.property(key, at, &mut self.iri)?;
                        property.map_or(Member::Unknown, |it| Member::Property(it, coercion))
                    }
                },
                Some(Key::Number(_)) => Member::Keyword,
            };
            self.member(subject, key)?;
        }
    }

    fn member(&mut self, subject: Node, member: Member) -> Result<(), DecodeError> {
        match member {
            Member::Nodes => self.nodes(),
            Member::Types => self.types(subject),
            Member::Keyword => self.json.skip(),
            Member::Unknown => self.unknown(),
            Member::Property(property, coercion) => self.values(subject, property, coercion),
        }
    }

    /// Values of properties that are not known may be nodes that are.
    fn unknown(&mut self) -> Result<(), DecodeError> {
        match self.json.peek()? {
            Kind::Map => {
                let outline = self.outline()?;
                if outline.is_value || outline.items {
                    self.json.skip()
                } else {
                    self.described(&outline).map(drop)
                }
            }
            Kind::Array => {
                let mut array = self.json.array()?;
                while self.json.item(&mut array)? {
                    self.unknown()?;
                }
                Ok(())
            }
            _ => self.json.skip(),
        }
    }

    /// Of the classes only that of observations matters.
    fn types(&mut self, subject: Node) -> Result<(), DecodeError> {
        match self.json.peek()? {
            Kind::Array => {
                let mut array = self.json.array()?;
                while self.json.item(&mut array)? {
                    self.types(subject)?;
                }
                Ok(())
            }
            Kind::Text => {
                let at = self.json.at();
                self.context.expand(self.json.text()?, at, &mut self.iri)?;
                if !is_observation(&self.iri) {
                    return Ok(());
                }
                let class = self.graph.node(&self.iri, at)?;
                self.graph
                    .push(subject, Property::Type, Object::Node(class), at)
            }
            _ => self.json.skip(),
        }
    }

    fn values(
        &mut self,
        subject: Node,
        property: Property,
        coercion: Coercion,
    ) -> Result<(), DecodeError> {
        let at = self.json.at();
        let kind = self.json.peek()?;
        let json = coercion == Coercion::Json;
        let object = match kind {
            Kind::Map | Kind::Array if json => self.raw(Datatype::Json)?,
            Kind::Array => {
                let mut array = self.json.array()?;
                while self.json.item(&mut array)? {
                    self.values(subject, property, coercion)?;
                }
                return Ok(());
            }
            Kind::Map => match self.object(subject, property, coercion)? {
                Some(object) => object,
                None => return Ok(()),
            },
            Kind::Null => return self.json.null(),
            _ => self.scalar(coercion)?,
        };
        self.graph.push(subject, property, object, at)
    }

    /// Reads a value object, a node, or a list or set of them.
    fn object(
        &mut self,
        subject: Node,
        property: Property,
        coercion: Coercion,
    ) -> Result<Option<Object>, DecodeError> {
        let outline = self.outline()?;
        if outline.items {
            return self.items(subject, property, coercion).map(|()| None);
        }
        if outline.is_value {
            self.value_object().map(Some)
        } else {
            self.described(&outline)
                .map(|node| Some(Object::Node(node)))
        }
    }

    /// Reads `{"@list": [...]}` or `{"@set": [...]}`; an empty list is `rdf:nil`.
    fn items(
        &mut self,
        subject: Node,
        property: Property,
        coercion: Coercion,
    ) -> Result<(), DecodeError> {
        let mut map = self.json.map()?;
        while let Some(key) = self.json.key(&mut map)? {
            let list = key == Key::Text("@list");
            if !list && key != Key::Text("@set") {
                self.json.skip()?;
                continue;
            }
            let at = self.json.at();
            if list && self.is_empty_array()? {
                self.iri.clear();
                self.iri.push_str(NIL.namespace.iri);
                self.iri.push_str(NIL.local);
                let nil = self.graph.node(&self.iri, at)?;
                self.graph.push(subject, property, Object::Node(nil), at)?;
            }
            self.values(subject, property, coercion)?;
        }
        Ok(())
    }

    /// Looks whether an empty array stands next.
    fn is_empty_array(&mut self) -> Result<bool, DecodeError> {
        if self.json.peek()? != Kind::Array {
            return Ok(false);
        }
        let start = self.json.mark();
        let mut array = self.json.array()?;
        let empty = !self.json.item(&mut array)?;
        self.json.rewind(start);
        Ok(empty)
    }

    /// Reads `{"@value": ..., "@type": ...}`.
    fn value_object(&mut self) -> Result<Object, DecodeError> {
        let start = self.json.mark();
        let mut coercion = Coercion::None;
        let mut value = None;
        for types in [true, false] {
            self.json.rewind(start);
            let mut map = self.json.map()?;
            while let Some(key) = self.json.key(&mut map)? {
                let wanted = if types { "@type" } else { "@value" };
                if key != Key::Text(wanted) {
                    self.json.skip()?;
                } else if types {
                    coercion = self.value_type()?;
                } else {
                    value = Some(self.value(coercion)?);
                }
            }
        }
        let what = DecodeError::expected(start.at, "a value");
        value.ok_or(what)
    }

    fn value_type(&mut self) -> Result<Coercion, DecodeError> {
        let at = self.json.at();
        if self.json.peek()? != Kind::Text {
            self.json.skip()?;
            return Ok(Coercion::None);
        }
        let kind = String::from(self.json.text()?);
        self.context.coercion(&kind, at)
    }

    fn value(&mut self, coercion: Coercion) -> Result<Object, DecodeError> {
        match coercion {
            Coercion::Json => self.raw(Datatype::Json),
            _ => self.scalar(coercion),
        }
    }

    fn scalar(&mut self, coercion: Coercion) -> Result<Object, DecodeError> {
        let at = self.json.at();
        let datatype = match self.json.peek()? {
            Kind::Text => return self.text_value(coercion),
            Kind::Number => Datatype::Number,
            Kind::Bool => Datatype::Bool,
            _ => return Err(DecodeError::expected(at, "a string, a number or a boolean")),
        };
        self.raw(match coercion {
            Coercion::Json => Datatype::Json,
            _ => datatype,
        })
    }

    fn text_value(&mut self, coercion: Coercion) -> Result<Object, DecodeError> {
        let at = self.json.at();
        match coercion {
            Coercion::Json => self.raw(Datatype::Json),
            Coercion::Literal(datatype) => self.graph.literal(self.json.text()?, datatype, at),
            Coercion::None => self.graph.literal(self.json.text()?, Datatype::Text, at),
            Coercion::Node => {
                self.context
                    .identify(self.json.text()?, at, &mut self.iri)?;
                self.graph.node(&self.iri, at).map(Object::Node)
            }
        }
    }

    /// Takes what stands next as it is written; trees without white space.
    fn raw(&mut self, datatype: Datatype) -> Result<Object, DecodeError> {
        let at = self.json.at();
        if matches!(self.json.peek()?, Kind::Map | Kind::Array) {
            let tree = self.json.tree()?;
            return self.graph.literal(&tree, datatype, at);
        }
        self.json.skip()?;
        let text = self.text[at..self.json.at()].trim_ascii_end();
        self.graph.literal(text, datatype, at)
    }
}

/// What a member of an object is.
enum Member {
    Nodes,
    Types,
    Keyword,
    Unknown,
    Property(Property, Coercion),
}

fn is_observation(iri: &str) -> bool {
    let term = Class::Observation.term();
    iri.strip_prefix(term.namespace.iri) == Some(term.local)
}
