//! From documents to components: every reference followed, every derivation carried out.
//!
//! Types are declared when they are referred to and completed when their content is needed (by what
//! derives from them) or at the end, so that elements may contain themselves. What the constraints
//! of XML Schema forbid without harm to a grammar is let pass: this is no validator of schemas.

mod attributes;
mod complex;
mod elements;
mod particles;
mod simple;

use alloc::rc::Rc;
use alloc::string::ToString;
use alloc::vec::Vec;
use hashbrown::HashMap;

use super::builtin;
use super::documents::{Documents, Kind, Place};
use super::error::{Rule, XsdError};
use super::limits;
use super::model::{
    AttributeDeclaration, AttributeRef, ElementDeclaration, ElementRef, Model, Term,
    TypeDefinition, TypeRef,
};
use super::name::{Name, XSD};
use attributes::AttributeSet;

/// Builds all components that the documents define.
pub(super) fn build(documents: &Documents) -> Result<Model, XsdError> {
    let mut builder = Builder::new(documents);
    let mut model = Model {
        targets: documents.targets().cloned().collect(),
        ..Model::default()
    };
    for (index, definition) in builtin::definitions().into_iter().enumerate() {
        if let Some(name) = definition.name {
            model.global_types.insert(name, TypeRef(index as u32));
        }
    }
    for id in documents.all(Kind::Type) {
        let name = documents.name(id).clone();
        let definition = builder.global_type(documents.place(id), &name);
        model.global_types.insert(name, definition);
    }
    for id in documents.all(Kind::Element) {
        let element = builder.global_element(documents.place(id))?;
        model
            .global_elements
            .insert(documents.name(id).clone(), element);
    }
    for id in documents.all(Kind::Attribute) {
        let attribute = builder.global_attribute(documents.place(id))?;
        model
            .global_attributes
            .insert(documents.name(id).clone(), attribute);
    }
    builder.finish(model)
}

/// Components while they are built.
struct Builder<'d> {
    documents: &'d Documents,
    types: Vec<Slot>,
    elements: Vec<ElementDeclaration>,
    attributes: Vec<AttributeDeclaration>,
    types_at: HashMap<Place, TypeRef>,
    elements_at: HashMap<Place, Progress<ElementRef>>,
    attributes_at: HashMap<Place, AttributeRef>,
    groups_at: HashMap<Place, Progress<Rc<Term>>>,
    attribute_groups_at: HashMap<Place, Progress<Rc<AttributeSet>>>,
    depth: u32,
}

/// Something that may be met again while it is being made.
#[derive(Clone)]
enum Progress<T> {
    Begun,
    Done(T),
}

/// A type, known or still to be built.
struct Slot {
    name: Option<Name>,
    place: Option<Place>,
    state: Option<Progress<TypeDefinition>>,
}

impl<'d> Builder<'d> {
    fn new(documents: &'d Documents) -> Self {
        let built_in = builtin::definitions().into_iter();
        Self {
            documents,
            types: built_in.map(Slot::done).collect(),
            elements: Vec::new(),
            attributes: Vec::new(),
            types_at: HashMap::new(),
            elements_at: HashMap::new(),
            attributes_at: HashMap::new(),
            groups_at: HashMap::new(),
            attribute_groups_at: HashMap::new(),
            depth: 0,
        }
    }

    /// Completes all types, also those met on the way.
    fn finish(mut self, model: Model) -> Result<Model, XsdError> {
        let mut next = 0;
        while next < self.types.len() {
            self.complete(TypeRef(next as u32))?;
            next += 1;
        }
        let places = self.types.iter().map(|slot| slot.place).collect();
        let states = self.types.into_iter().filter_map(|slot| slot.state);
        let types = states.filter_map(|state| match state {
            Progress::Done(definition) => Some(definition),
            Progress::Begun => None,
        });
        Ok(Model {
            types: types.collect(),
            places,
            elements: self.elements,
            attributes: self.attributes,
            ..model
        })
    }

    /// The type that an attribute of the schema document names.
    fn type_named(&mut self, place: Place, name: &Name) -> Result<TypeRef, XsdError> {
        if &*name.uri == XSD
            && let Some(built_in) = builtin::find(&name.local)
        {
            return Ok(built_in);
        }
        let id = self.documents.find(place, Kind::Type, name)?;
        let kept = Some(name.clone()).filter(|_| self.documents.is_current(id));
        Ok(self.declare_type(self.documents.place(id), kept))
    }

    /// The type of a global definition. Built-in types stay what they are, also where the schema
    /// for schemas defines them once more.
    fn global_type(&mut self, place: Place, name: &Name) -> TypeRef {
        match builtin::find(&name.local) {
            Some(built_in) if &*name.uri == XSD => built_in,
            _ => self.declare_type(place, Some(name.clone())),
        }
    }

    /// The type that a definition in the document makes, to be completed later.
    fn declare_type(&mut self, place: Place, name: Option<Name>) -> TypeRef {
        if let Some(known) = self.types_at.get(&place) {
            return *known;
        }
        let id = TypeRef(self.types.len() as u32);
        self.types.push(Slot {
            name,
            place: Some(place),
            state: None,
        });
        self.types_at.insert(place, id);
        id
    }

    /// Adds a type that no element of a document defines.
    fn add_type(&mut self, definition: TypeDefinition) -> TypeRef {
        self.types.push(Slot::done(definition));
        TypeRef(self.types.len() as u32 - 1)
    }

    /// The definition of a type, built now if it was not.
    fn complete(&mut self, id: TypeRef) -> Result<&TypeDefinition, XsdError> {
        let slot = &mut self.types[id.index()];
        if slot.state.is_none()
            && let Some(place) = slot.place
        {
            let name = slot.name.clone();
            slot.state = Some(Progress::Begun);
            let definition = self.deeper(place, |builder| builder.definition(place, name))?;
            self.types[id.index()].state = Some(Progress::Done(definition));
        }
        let slot = &self.types[id.index()];
        match (&slot.state, slot.place) {
            (Some(Progress::Done(definition)), _) => Ok(definition),
            (_, Some(place)) => Err(self.documents.error(place, Rule::Circular)),
            (_, None) => Err(super::read::failed("", (0, 0), Rule::Circular)),
        }
    }

    fn definition(&mut self, place: Place, name: Option<Name>) -> Result<TypeDefinition, XsdError> {
        match self.documents.tag(place) {
            "simpleType" => self.simple_type(place, name),
            "complexType" => self.complex_type(place, name),
            _ => Err(self.error(place, Rule::Expected("simpleType or complexType"))),
        }
    }

    /// Does something that may come back here, so many levels deep at most.
    fn deeper<T>(
        &mut self,
        place: Place,
        work: impl FnOnce(&mut Self) -> Result<T, XsdError>,
    ) -> Result<T, XsdError> {
        if self.depth == limits::DEPTH {
            return Err(self.error(place, Rule::OverLimit("depth of definitions")));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn error(&self, place: Place, rule: Rule) -> XsdError {
        self.documents.error(place, rule)
    }

    /// An error about a child that stands where it may not.
    fn unexpected(&self, place: Place, expected: &'static str) -> XsdError {
        let found = self.documents.tag(place).to_string();
        let rule = Rule::Attribute {
            name: "child",
            value: found,
            expected,
        };
        self.error(place, rule)
    }
}

impl Slot {
    fn done(definition: TypeDefinition) -> Self {
        Self {
            name: definition.name.clone(),
            place: None,
            state: Some(Progress::Done(definition)),
        }
    }
}
