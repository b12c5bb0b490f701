//! Turtle read (RDF 1.1 Turtle), and N-Triples, which is its plainest form.
//!
//! All of the syntax is read; what it deliberately does not do is to keep triples whose property the
//! vocabulary does not know.

use super::graph::{Datatype, Graph, Node, Object};
use super::turtle_lexer::Lexer;
use super::{NIL, Property, iri};
use crate::error::DecodeError;
use crate::syntax::DEPTH_MAX;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::Limits;

/// Reads a document of Turtle into a graph.
pub(crate) fn read_turtle(
    text: &str,
    graph: &mut Graph,
    limits: &Limits,
) -> Result<(), DecodeError> {
    Reader::new(text, graph, limits).all(Reader::statement)
}

/// Reads a document of N-Triples into a graph (RDF 1.1 N-Triples section 7).
pub(crate) fn read_ntriples(
    text: &str,
    graph: &mut Graph,
    limits: &Limits,
) -> Result<(), DecodeError> {
    Reader::new(text, graph, limits).all(Reader::triple)
}

struct Reader<'a, 'g> {
    lexer: Lexer<'a>,
    graph: &'g mut Graph,
    prefixes: Vec<(&'a str, String)>,
    base: String,
    /// A terminal while the next is read.
    kept: String,
    depth: usize,
    depth_max: usize,
}

impl<'a, 'g> Reader<'a, 'g> {
    fn new(text: &'a str, graph: &'g mut Graph, limits: &'a Limits) -> Self {
        Self {
            lexer: Lexer::new(text, limits),
            graph,
            prefixes: Vec::new(),
            base: String::new(),
            kept: String::new(),
            depth: 0,
            depth_max: limits.depth.min(DEPTH_MAX),
        }
    }

    /// Statements up to the end of the document.
    fn all(
        &mut self,
        mut statement: impl FnMut(&mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        loop {
            self.lexer.space();
            if self.lexer.peek().is_none() {
                return Ok(());
            }
            statement(self)?;
        }
    }

    /// One statement of N-Triples.
    fn triple(&mut self) -> Result<(), DecodeError> {
        let subject = self.plain_node()?;
        self.lexer.space();
        self.lexer.iri()?;
        let property = Property::of(&self.lexer.value);
        self.lexer.space();
        let at = self.lexer.at();
        let object = match self.lexer.peek() {
            Some(b'"') => self.literal()?,
            _ => Object::Node(self.plain_node()?),
        };
        self.push(subject, property, object, at)?;
        self.lexer.expect(".")
    }

    fn plain_node(&mut self) -> Result<Node, DecodeError> {
        if self.lexer.rest().starts_with("_:") {
            return self.labelled();
        }
        let at = self.lexer.at();
        self.lexer.iri()?;
        self.graph.node(&self.lexer.value, at)
    }

    fn labelled(&mut self) -> Result<Node, DecodeError> {
        let at = self.lexer.at();
        self.lexer.eat("_:");
        let label = self.lexer.label()?;
        self.lexer.value.clear();
        self.lexer.value.push_str("_:");
        self.lexer.value.push_str(label);
        self.graph.node(&self.lexer.value, at)
    }

    fn push(
        &mut self,
        subject: Node,
        property: Option<Property>,
        object: Object,
        at: usize,
    ) -> Result<(), DecodeError> {
        property.map_or(Ok(()), |property| {
            self.graph.push(subject, property, object, at)
        })
    }

    fn statement(&mut self) -> Result<(), DecodeError> {
        if self.lexer.eat("@prefix") {
            self.set_prefix()?;
            return self.lexer.expect(".");
        }
        if self.lexer.eat("@base") {
            self.set_base()?;
            return self.lexer.expect(".");
        }
        if self.lexer.eat_word("prefix") {
            return self.set_prefix();
        }
        if self.lexer.eat_word("base") {
            return self.set_base();
        }
        self.triples()?;
        self.lexer.expect(".")
    }

    fn set_prefix(&mut self) -> Result<(), DecodeError> {
        self.lexer.space();
        let prefix = self.lexer.prefix()?;
        let iri = self.iri()?;
        // A prefix may be declared again; the last one holds.
        match self.prefixes.iter_mut().find(|(own, _)| *own == prefix) {
            Some((_, own)) => *own = iri,
            None => self.prefixes.push((prefix, iri)),
        }
        Ok(())
    }

    fn set_base(&mut self) -> Result<(), DecodeError> {
        self.base = self.iri()?;
        Ok(())
    }

    /// Reads `<...>`, made absolute.
    fn iri(&mut self) -> Result<String, DecodeError> {
        self.lexer.space();
        self.absolute()?;
        Ok(self.lexer.value.clone())
    }

    fn absolute(&mut self) -> Result<(), DecodeError> {
        let at = self.lexer.at();
        self.lexer.iri()?;
        if !self.base.is_empty() {
            core::mem::swap(&mut self.lexer.value, &mut self.kept);
            self.lexer.value.clear();
            iri::resolve(&self.base, &self.kept, &mut self.lexer.value);
        }
        self.lexer.check_iri(at)
    }

    /// Reads an IRI or a name with a prefix into the lexer's value.
    fn named(&mut self) -> Result<(), DecodeError> {
        if self.lexer.peek() == Some(b'<') {
            return self.absolute();
        }
        let at = self.lexer.at();
        let prefix = self.lexer.prefix()?;
        let bound = self.prefixes.iter().find(|(own, _)| *own == prefix);
        let Some((_, bound)) = bound else {
            return Err(DecodeError::expected(at, "a prefix that was declared"));
        };
        self.lexer.value.clear();
        self.lexer.value.push_str(bound);
        self.lexer.local()?;
        self.lexer.check_iri(at)
    }

    fn enter(&mut self) -> Result<(), DecodeError> {
        if self.depth >= self.depth_max {
            return Err(DecodeError::over(
                self.lexer.at(),
                "nesting",
                self.depth_max,
            ));
        }
        self.depth += 1;
        Ok(())
    }

    fn triples(&mut self) -> Result<(), DecodeError> {
        match self.lexer.peek() {
            Some(b'[') => {
                let (subject, described) = self.anonymous()?;
                self.lexer.space();
                // What the brackets say may be all.
                if described && self.lexer.peek() == Some(b'.') {
                    return Ok(());
                }
                self.properties(subject)
            }
            Some(b'(') => {
                let subject = self.collection()?;
                self.properties(subject)
            }
            _ => {
                let subject = self.node()?;
                self.properties(subject)
            }
        }
    }

    fn node(&mut self) -> Result<Node, DecodeError> {
        let at = self.lexer.at();
        if self.lexer.rest().starts_with("_:") {
            return self.labelled();
        }
        self.named()?;
        self.graph.node(&self.lexer.value, at)
    }

    /// Reads `[ ... ]`; says whether anything stands in it.
    fn anonymous(&mut self) -> Result<(Node, bool), DecodeError> {
        self.enter()?;
        let node = self.graph.blank(self.lexer.at())?;
        self.lexer.expect("[")?;
        self.lexer.space();
        let described = self.lexer.peek() != Some(b']');
        if described {
            self.properties(node)?;
        }
        self.lexer.expect("]")?;
        self.depth -= 1;
        Ok((node, described))
    }

    /// Reads `( ... )`. The vocabulary has no lists but the empty one.
    fn collection(&mut self) -> Result<Node, DecodeError> {
        self.enter()?;
        let at = self.lexer.at();
        self.lexer.expect("(")?;
        let mut empty = true;
        loop {
            self.lexer.space();
            if self.lexer.eat(")") {
                break;
            }
            self.object()?;
            empty = false;
        }
        self.depth -= 1;
        if empty {
            self.lexer.value.clear();
            self.lexer.value.push_str(NIL.namespace.iri);
            self.lexer.value.push_str(NIL.local);
            self.graph.node(&self.lexer.value, at)
        } else {
            self.graph.blank(at)
        }
    }

    /// Reads `verb object, object; verb object`, with semicolons to spare.
    fn properties(&mut self, subject: Node) -> Result<(), DecodeError> {
        loop {
            self.lexer.space();
            let property = self.verb()?;
            self.objects(subject, property)?;
            let mut more = false;
            loop {
                self.lexer.space();
                if !self.lexer.eat(";") {
                    break;
                }
                more = true;
            }
            if !more || matches!(self.lexer.peek(), None | Some(b'.' | b']')) {
                return Ok(());
            }
        }
    }

    fn verb(&mut self) -> Result<Option<Property>, DecodeError> {
        if self.lexer.eat_word("a") || self.lexer.rest().starts_with("a[") && self.lexer.eat("a") {
            return Ok(Some(Property::Type));
        }
        self.named()?;
        Ok(Property::of(&self.lexer.value))
    }

    fn objects(&mut self, subject: Node, property: Option<Property>) -> Result<(), DecodeError> {
        loop {
            self.lexer.space();
            let at = self.lexer.at();
            let object = self.object()?;
            self.push(subject, property, object, at)?;
            self.lexer.space();
            if !self.lexer.eat(",") {
                return Ok(());
            }
        }
    }

    fn object(&mut self) -> Result<Object, DecodeError> {
        match self.lexer.peek() {
            Some(b'[') => self.anonymous().map(|(node, _)| Object::Node(node)),
            Some(b'(') => self.collection().map(Object::Node),
            Some(b'"' | b'\'') => self.literal(),
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => self.number(),
            _ => self.word_or_node(),
        }
    }

    fn number(&mut self) -> Result<Object, DecodeError> {
        let at = self.lexer.at();
        let number = self.lexer.number();
        let number = number.ok_or_else(|| self.lexer.expected("a number"))?;
        self.graph.literal(number, Datatype::Number, at)
    }

    fn word_or_node(&mut self) -> Result<Object, DecodeError> {
        let at = self.lexer.at();
        for word in ["true", "false"] {
            let rest = self.lexer.rest();
            let ends = |after: &str| {
                !after.starts_with(|next: char| next.is_alphanumeric() || next == ':')
            };
            if rest.strip_prefix(word).is_some_and(ends) {
                self.lexer.eat(word);
                return self.graph.literal(word, Datatype::Bool, at);
            }
        }
        self.node().map(Object::Node)
    }

    /// Reads a string with its language or datatype.
    fn literal(&mut self) -> Result<Object, DecodeError> {
        let at = self.lexer.at();
        self.lexer.string()?;
        if self.lexer.eat("^^") {
            let text = core::mem::take(&mut self.lexer.value);
            core::mem::swap(&mut self.lexer.value, &mut self.kept);
            self.named()?;
            let datatype = Datatype::of(&self.lexer.value);
            core::mem::swap(&mut self.lexer.value, &mut self.kept);
            let object = self.graph.literal(&text, datatype, at);
            self.lexer.value = text;
            return object;
        }
        if self.lexer.eat("@") {
            let tag = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            let rest = self.lexer.rest();
            let len = rest
                .bytes()
                .position(|byte| !tag(byte))
                .unwrap_or(rest.len());
            if len == 0 {
                return Err(self.lexer.expected("a language"));
            }
            self.lexer.eat(&rest[..len]);
        }
        self.graph.literal(&self.lexer.value, Datatype::Text, at)
    }
}
