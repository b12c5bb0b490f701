//! Complex types (XML Schema part 1 section 3.4.2).

use alloc::rc::Rc;
use alloc::vec;

use super::Builder;
use super::attributes::AttributeSet;
use crate::xsd::builtin::ANY_TYPE;
use crate::xsd::documents::Place;
use crate::xsd::error::{Rule, XsdError};
use crate::xsd::model::{Complex, Content, Particle, Term, TypeDefinition, TypeKind, TypeRef};
use crate::xsd::name::Name;

/// What a derivation says: where, from what, and by which means.
#[derive(Clone, Copy)]
struct Derivation {
    place: Place,
    base: TypeRef,
    extends: bool,
}

impl Builder<'_> {
    pub(super) fn complex_type(
        &mut self,
        place: Place,
        name: Option<Name>,
    ) -> Result<TypeDefinition, XsdError> {
        let child = self
            .documents
            .child(place, &["simpleContent", "complexContent"]);
        let (base, complex) = match child {
            Some(child) if self.documents.tag(child) == "simpleContent" => {
                let derivation = self.derivation(child)?;
                (derivation.base, self.simple_content(derivation)?)
            }
            Some(child) => {
                let derivation = self.derivation(child)?;
                let mixed = match self.documents.boolean(child, "mixed")? {
                    Some(mixed) => mixed,
                    None => self.documents.boolean(place, "mixed")?.unwrap_or(false),
                };
                (derivation.base, self.complex_content(derivation, mixed)?)
            }
            None => {
                let derivation = Derivation {
                    place,
                    base: ANY_TYPE,
                    extends: false,
                };
                let mixed = self.documents.boolean(place, "mixed")?.unwrap_or(false);
                (ANY_TYPE, self.complex_content(derivation, mixed)?)
            }
        };
        Ok(TypeDefinition {
            name,
            base: Some(base),
            kind: TypeKind::Complex(complex),
        })
    }

    fn derivation(&mut self, place: Place) -> Result<Derivation, XsdError> {
        let place = self
            .documents
            .child(place, &["restriction", "extension"])
            .ok_or_else(|| self.error(place, Rule::Expected("restriction or extension")))?;
        let base = self
            .documents
            .reference(place, "base")?
            .ok_or_else(|| self.error(place, Rule::Expected("base")))?;
        Ok(Derivation {
            place,
            base: self.type_named(place, &base)?,
            extends: self.documents.tag(place) == "extension",
        })
    }

    fn simple_content(&mut self, derivation: Derivation) -> Result<Complex, XsdError> {
        let Derivation {
            place,
            base,
            extends,
        } = derivation;
        let definition = self.complete(base)?.clone();
        let (content, base_complex) = match &definition.kind {
            TypeKind::Simple(_) if extends => (Some(base), None),
            TypeKind::Simple(_) => (None, None),
            TypeKind::Complex(complex) => match complex.content {
                Content::Simple(simple) => (Some(simple), Some(complex)),
                _ => (None, Some(complex)),
            },
        };
        let content = if extends {
            content.ok_or_else(|| self.no_simple_content(place))?
        } else {
            self.restricted_content(place, content)?
        };
        let attributes = self.attributes(place)?;
        Ok(complex(
            Content::Simple(content),
            attributes,
            base_complex,
            extends,
        ))
    }

    /// The simple type of a restriction: the base's, or the one below, with the facets below.
    fn restricted_content(
        &mut self,
        place: Place,
        base: Option<TypeRef>,
    ) -> Result<TypeRef, XsdError> {
        let inline = self.documents.child(place, &["simpleType"]);
        let inline = inline.map(|child| self.declare_type(child, None));
        let base = inline
            .or(base)
            .ok_or_else(|| self.no_simple_content(place))?;
        let simple = self.restricted(place, base)?;
        Ok(self.add_type(TypeDefinition {
            name: None,
            base: Some(base),
            kind: TypeKind::Simple(simple),
        }))
    }

    fn no_simple_content(&self, place: Place) -> XsdError {
        let rule = Rule::Derivation("the base type has no simple content (src-ct)");
        self.error(place, rule)
    }

    fn complex_content(
        &mut self,
        derivation: Derivation,
        mixed: bool,
    ) -> Result<Complex, XsdError> {
        let Derivation {
            place,
            base,
            extends,
        } = derivation;
        let definition = self.complete(base)?.clone();
        let TypeKind::Complex(base) = &definition.kind else {
            let rule = Rule::Derivation("the base of complex content is a simple type (src-ct)");
            return Err(self.error(place, rule));
        };
        let particle = self.content(place)?.filter(|particle| !is_empty(particle));
        let attributes = self.attributes(place)?;
        let own = match (particle, mixed) {
            (Some(particle), mixed) => Content::Model { mixed, particle },
            (None, true) => Content::Model {
                mixed,
                particle: Rc::new(Particle::once(Term::Sequence(vec![]))),
            },
            (None, false) => Content::Empty,
        };
        let content = if extends {
            self.extended(place, &base.content, own)?
        } else {
            own
        };
        Ok(complex(content, attributes, Some(base), extends))
    }

    /// {content type} of an extension (section 3.4.2, complex content, clause 2).
    fn extended(&self, place: Place, base: &Content, own: Content) -> Result<Content, XsdError> {
        Ok(match (base, own) {
            (Content::Empty, own) => own,
            (base, Content::Empty | Content::Simple(_)) => base.clone(),
            (
                Content::Model { mixed, particle },
                Content::Model {
                    particle: own,
                    mixed: also,
                },
            ) => Content::Model {
                mixed: *mixed || also,
                particle: Rc::new(followed(particle, own)),
            },
            (Content::Simple(_), Content::Model { .. }) => {
                let rule = Rule::Derivation("the base type has simple content (cos-ct-extends)");
                return Err(self.error(place, rule));
            }
        })
    }
}

/// A sequence of two particles. One that ends a sequence goes on with it, so that long chains of
/// extensions do not become deep.
fn followed(base: &Rc<Particle>, own: Rc<Particle>) -> Particle {
    let mut particles = match &*base.term {
        Term::Sequence(particles) if base.min == 1 && base.max == Some(1) => particles.clone(),
        _ => vec![Rc::clone(base)],
    };
    particles.push(own);
    Particle::once(Term::Sequence(particles))
}

/// Whether a content model allows nothing: no particles in a sequence or all, or none of any in a
/// choice that may be absent (section 3.4.2, effective content, clause 2.1).
fn is_empty(particle: &Particle) -> bool {
    match &*particle.term {
        Term::Sequence(particles) | Term::All(particles) => particles.is_empty(),
        Term::Choice(particles) => particles.is_empty() && particle.min == 0,
        Term::Element(_) | Term::Wildcard(_) => false,
    }
}

fn complex(
    content: Content,
    attributes: AttributeSet,
    base: Option<&Complex>,
    extends: bool,
) -> Complex {
    let attributes = if extends {
        attributes.extending(base)
    } else {
        attributes.restricting(base)
    };
    Complex {
        content,
        uses: attributes.uses,
        wildcard: attributes.wildcard,
    }
}
