//! Particles, model groups and wildcards (XML Schema part 1 sections 3.7 to 3.10).

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{Builder, Progress};
use crate::xsd::documents::{Kind, Place};
use crate::xsd::error::{Rule, XsdError};
use crate::xsd::model::{Particle, Term};

/// The elements that stand for a particle.
const PARTICLES: &[&str] = &["element", "group", "all", "choice", "sequence", "any"];

impl Builder<'_> {
    /// The particle that is the content of a type, if there is one.
    pub(super) fn content(&mut self, place: Place) -> Result<Option<Rc<Particle>>, XsdError> {
        match self
            .documents
            .child(place, &["group", "all", "choice", "sequence"])
        {
            Some(child) => self.particle(child),
            None => Ok(None),
        }
    }

    /// The particle at a place; none if it may not occur.
    fn particle(&mut self, place: Place) -> Result<Option<Rc<Particle>>, XsdError> {
        let min = self.occurs(place, "minOccurs")?.unwrap_or(0);
        let max = self.occurs(place, "maxOccurs")?;
        if max == Some(0) {
            return Ok(None);
        }
        if max.is_some_and(|max| max < min) {
            return Err(self
                .documents
                .wrong(place, "maxOccurs", "no less than minOccurs"));
        }
        let term = self.deeper(place, |builder| builder.term(place))?;
        Ok(Some(Rc::new(Particle { min, max, term })))
    }

    /// A number of occurrences; `None` for unbounded.
    fn occurs(&self, place: Place, name: &'static str) -> Result<Option<u32>, XsdError> {
        match self.documents.value(place, name) {
            None => Ok(Some(1)),
            Some("unbounded") if name == "maxOccurs" => Ok(None),
            Some(number) => match number.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.documents.wrong(place, name, "a number of occurrences")),
            },
        }
    }

    fn term(&mut self, place: Place) -> Result<Rc<Term>, XsdError> {
        Ok(Rc::new(match self.documents.tag(place) {
            "element" => Term::Element(match self.documents.reference(place, "ref")? {
                Some(name) => self.element_named(place, &name)?,
                None => self.local_element(place)?,
            }),
            "any" => Term::Wildcard(self.wildcard(place)?),
            "group" => return self.group(place),
            "sequence" => Term::Sequence(self.particles(place)?),
            "choice" => Term::Choice(self.particles(place)?),
            "all" => Term::All(self.particles(place)?),
            _ => return Err(self.unexpected(place, "a particle")),
        }))
    }

    fn particles(&mut self, place: Place) -> Result<Vec<Rc<Particle>>, XsdError> {
        let mut particles = Vec::new();
        for child in self.documents.children(place) {
            if !PARTICLES.contains(&self.documents.tag(child)) {
                return Err(self.unexpected(child, "a particle"));
            }
            particles.extend(self.particle(child)?);
        }
        Ok(particles)
    }

    /// The model group of a named group that a place refers to; the same one each time, so that
    /// the elements in it are declared once.
    fn group(&mut self, place: Place) -> Result<Rc<Term>, XsdError> {
        let name = self
            .documents
            .reference(place, "ref")?
            .ok_or_else(|| self.error(place, Rule::Expected("ref")))?;
        let id = self.documents.find(place, Kind::Group, &name)?;
        let group = self.documents.place(id);
        match self.groups_at.get(&group) {
            Some(Progress::Done(term)) => return Ok(Rc::clone(term)),
            Some(Progress::Begun) => return Err(self.error(place, Rule::Circular)),
            None => self.groups_at.insert(group, Progress::Begun),
        };
        let child = self
            .documents
            .child(group, &["all", "choice", "sequence"])
            .ok_or_else(|| self.error(group, Rule::Expected("all, choice or sequence")))?;
        let term = self.deeper(group, |builder| builder.term(child))?;
        self.groups_at
            .insert(group, Progress::Done(Rc::clone(&term)));
        Ok(term)
    }
}
