//! Element and attribute declarations (XML Schema part 1 sections 3.2 and 3.3).

use super::{Builder, Progress};
use crate::xsd::builtin::{ANY_SIMPLE_TYPE, ANY_TYPE};
use crate::xsd::documents::{Kind, Place};
use crate::xsd::error::{Rule, XsdError};
use crate::xsd::model::{
    AttributeDeclaration, AttributeRef, ElementDeclaration, ElementRef, TypeRef,
};
use crate::xsd::name::Name;

impl Builder<'_> {
    /// The global element that a name means.
    pub(super) fn element_named(
        &mut self,
        place: Place,
        name: &Name,
    ) -> Result<ElementRef, XsdError> {
        let id = self.documents.find(place, Kind::Element, name)?;
        self.global_element(self.documents.place(id))
    }

    pub(super) fn global_element(&mut self, place: Place) -> Result<ElementRef, XsdError> {
        let name = self.global_name(place)?;
        self.element(place, name)
    }

    pub(super) fn local_element(&mut self, place: Place) -> Result<ElementRef, XsdError> {
        let name = self.documents.local_name(place)?;
        self.element(place, name)
    }

    /// The declaration at a place, the same one each time.
    fn element(&mut self, place: Place, name: Name) -> Result<ElementRef, XsdError> {
        match self.elements_at.get(&place) {
            Some(Progress::Done(id)) => return Ok(*id),
            Some(Progress::Begun) => return Err(self.error(place, Rule::Circular)),
            None => self.elements_at.insert(place, Progress::Begun),
        };
        let head = match self.documents.reference(place, "substitutionGroup")? {
            Some(head) => Some(self.deeper(place, |builder| builder.element_named(place, &head))?),
            None => None,
        };
        let type_definition = self.element_type(place, head)?;
        let nillable = self.documents.boolean(place, "nillable")?.unwrap_or(false);
        let id = ElementRef(self.elements.len() as u32);
        self.elements.push(ElementDeclaration {
            name,
            type_definition,
            nillable,
            head,
        });
        self.elements_at.insert(place, Progress::Done(id));
        Ok(id)
    }

    /// {type definition}: the given one, else that of the head of the substitution group, else
    /// anyType.
    fn element_type(
        &mut self,
        place: Place,
        head: Option<ElementRef>,
    ) -> Result<TypeRef, XsdError> {
        let inline = self.documents.child(place, &["simpleType", "complexType"]);
        let named = self.documents.reference(place, "type")?;
        match (named, inline, head) {
            (Some(_), Some(_), _) => Err(self.error(
                place,
                Rule::Derivation("a type by name and one below exclude each other (src-element)"),
            )),
            (Some(name), None, _) => self.type_named(place, &name),
            (None, Some(inline), _) => Ok(self.declare_type(inline, None)),
            (None, None, Some(head)) => Ok(self.elements[head.index()].type_definition),
            (None, None, None) => Ok(ANY_TYPE),
        }
    }

    /// The global attribute that a name means.
    pub(super) fn attribute_named(
        &mut self,
        place: Place,
        name: &Name,
    ) -> Result<AttributeRef, XsdError> {
        let id = self.documents.find(place, Kind::Attribute, name)?;
        self.global_attribute(self.documents.place(id))
    }

    pub(super) fn global_attribute(&mut self, place: Place) -> Result<AttributeRef, XsdError> {
        let name = self.global_name(place)?;
        self.attribute(place, name)
    }

    pub(super) fn local_attribute(&mut self, place: Place) -> Result<AttributeRef, XsdError> {
        let name = self.documents.local_name(place)?;
        self.attribute(place, name)
    }

    fn attribute(&mut self, place: Place, name: Name) -> Result<AttributeRef, XsdError> {
        if let Some(known) = self.attributes_at.get(&place) {
            return Ok(*known);
        }
        let type_definition = match self.documents.reference(place, "type")? {
            Some(name) => self.type_named(place, &name)?,
            None => match self.documents.child(place, &["simpleType"]) {
                Some(inline) => self.declare_type(inline, None),
                None => ANY_SIMPLE_TYPE,
            },
        };
        self.simple(place, type_definition)?;
        let id = AttributeRef(self.attributes.len() as u32);
        self.attributes.push(AttributeDeclaration {
            name,
            type_definition,
        });
        self.attributes_at.insert(place, id);
        Ok(id)
    }

    fn global_name(&self, place: Place) -> Result<Name, XsdError> {
        Ok(Name {
            local: self.documents.required(place, "name")?.into(),
            uri: self.documents.target(place),
        })
    }
}
