//! What string tables begin with (EXI 1.0 section 7.3.1 and appendix D).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::ToString;
use alloc::vec::Vec;
use hashbrown::{HashMap, HashSet};

use crate::grammar::{NameId, UriId, UriNames};
use crate::xsd::model::{Complex, Content, Model, Particle, Term, TypeKind, Wildcard};
use crate::xsd::name::{Name, XML, XSD, XSI};

/// Local names of the XML namespace (table D-4).
const XML_NAMES: &[&str] = &["base", "id", "lang", "space"];
/// Local names of the namespace of instances (table D-4).
const XSI_NAMES: &[&str] = &["nil", "type"];

/// Names in the order of their compact identifiers.
pub(super) struct Names {
    uris: Vec<(Rc<str>, Vec<Rc<str>>)>,
    uri_ids: HashMap<Rc<str>, UriId>,
    name_ids: HashMap<Name, NameId>,
}

impl Names {
    /// The namespaces and names that a schema declares.
    pub(super) fn of(model: &Model) -> Self {
        let mut collected = Collected::default();
        collected.initial();
        collected.declared(model);
        collected.sorted()
    }

    /// The identifier of a namespace that was collected.
    pub(super) fn uri(&self, uri: &str) -> UriId {
        self.uri_ids.get(uri).copied().unwrap_or(UriId(0))
    }

    /// The identifier of a name that was collected.
    pub(super) fn name(&self, name: &Name) -> NameId {
        self.name_ids.get(name).copied().unwrap_or(NameId(0))
    }

    /// The tables as the schema has them.
    pub(super) fn into_uris(self) -> Vec<UriNames> {
        let uris = self.uris.into_iter().map(|(uri, locals)| UriNames {
            prefixes: match &*uri {
                "" => alloc::vec!["".to_string()],
                XML => alloc::vec!["xml".to_string()],
                XSI => alloc::vec!["xsi".to_string()],
                _ => Vec::new(),
            },
            uri: uri.to_string(),
            locals: locals.iter().map(ToString::to_string).collect(),
        });
        uris.collect()
    }
}

/// Local names by namespace.
#[derive(Default)]
struct Collected {
    names: BTreeMap<Rc<str>, BTreeSet<Rc<str>>>,
    /// Terms looked at, by address: groups are shared.
    terms: HashSet<*const Term>,
}

impl Collected {
    fn uri(&mut self, uri: &Rc<str>) {
        self.names.entry(Rc::clone(uri)).or_default();
    }

    fn name(&mut self, name: &Name) {
        let locals = self.names.entry(Rc::clone(&name.uri)).or_default();
        locals.insert(Rc::clone(&name.local));
    }

    fn initial(&mut self) {
        self.uri(&"".into());
        XML_NAMES
            .iter()
            .for_each(|local| self.name(&Name::new(XML, local)));
        XSI_NAMES
            .iter()
            .for_each(|local| self.name(&Name::new(XSI, local)));
    }

    fn declared(&mut self, model: &Model) {
        model.targets.iter().for_each(|uri| self.uri(uri));
        model
            .elements
            .iter()
            .for_each(|element| self.name(&element.name));
        model
            .attributes
            .iter()
            .for_each(|attribute| self.name(&attribute.name));
        for definition in &model.types {
            if let Some(name) = &definition.name {
                self.name(name);
            }
            if let TypeKind::Complex(complex) = &definition.kind {
                self.complex(complex);
            }
        }
    }

    fn complex(&mut self, complex: &Complex) {
        if let Some(wildcard) = &complex.wildcard {
            self.wildcard(wildcard);
        }
        if let Content::Model { particle, .. } = &complex.content {
            self.particle(particle);
        }
    }

    fn particle(&mut self, particle: &Particle) {
        if !self.terms.insert(Rc::as_ptr(&particle.term)) {
            return;
        }
        match &*particle.term {
            Term::Element(_) => {}
            Term::Wildcard(wildcard) => self.wildcard(wildcard),
            Term::Sequence(particles) | Term::Choice(particles) | Term::All(particles) => {
                particles
                    .iter()
                    .for_each(|particle| self.particle(particle));
            }
        }
    }

    fn wildcard(&mut self, wildcard: &Wildcard) {
        if let Wildcard::Namespaces(uris) = wildcard {
            uris.iter().for_each(|uri| self.uri(uri));
        }
    }

    fn sorted(mut self) -> Names {
        let first = ["", XML, XSI, XSD];
        let mut uris: Vec<(Rc<str>, Vec<Rc<str>>)> = Vec::new();
        for uri in first {
            let locals = self.names.remove(uri).unwrap_or_default();
            uris.push((uri.into(), locals.into_iter().collect()));
        }
        let others = self.names.into_iter();
        uris.extend(others.map(|(uri, locals)| (uri, locals.into_iter().collect())));
        Names::numbered(uris)
    }
}

impl Names {
    fn numbered(uris: Vec<(Rc<str>, Vec<Rc<str>>)>) -> Self {
        let mut uri_ids = HashMap::new();
        let mut name_ids = HashMap::new();
        for (index, (uri, locals)) in uris.iter().enumerate() {
            uri_ids.insert(Rc::clone(uri), UriId(index as u32));
            for local in locals {
                let name = Name {
                    local: Rc::clone(local),
                    uri: Rc::clone(uri),
                };
                name_ids.insert(name, NameId(name_ids.len() as u32));
            }
        }
        Self {
            uris,
            uri_ids,
            name_ids,
        }
    }
}
