//! Attribute uses, attribute groups and attribute wildcards (XML Schema part 1 sections 3.4.2, 3.6
//! and 3.10).

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::{Builder, Progress};
use crate::xsd::documents::{Kind, Place};
use crate::xsd::error::{Rule, XsdError};
use crate::xsd::model::{AttributeUse, Complex, Wildcard};
use crate::xsd::name::{Name, words};

/// What the attributes, attribute groups and wildcard of one place amount to.
#[derive(Debug, Clone, Default)]
pub(super) struct AttributeSet {
    pub(super) uses: BTreeMap<Name, AttributeUse>,
    /// Names that a restriction takes away.
    pub(super) prohibited: Vec<Name>,
    pub(super) wildcard: Option<Wildcard>,
}

impl AttributeSet {
    /// What a type by extension has (section 3.4.2).
    pub(super) fn extending(mut self, base: Option<&Complex>) -> Self {
        let Some(base) = base else { return self };
        for (name, attribute) in &base.uses {
            self.uses.entry(name.clone()).or_insert(*attribute);
        }
        self.wildcard = match (base.wildcard.clone(), self.wildcard) {
            (Some(base), Some(own)) => Some(base.union(own)),
            (base, own) => base.or(own),
        };
        self
    }

    /// What a type by restriction has: wildcards are not inherited.
    pub(super) fn restricting(mut self, base: Option<&Complex>) -> Self {
        let Some(base) = base else { return self };
        for (name, attribute) in &base.uses {
            if !self.prohibited.contains(name) {
                self.uses.entry(name.clone()).or_insert(*attribute);
            }
        }
        self
    }
}

impl Builder<'_> {
    /// The attributes below a place.
    pub(super) fn attributes(&mut self, place: Place) -> Result<AttributeSet, XsdError> {
        let mut set = AttributeSet::default();
        let mut own = None;
        for child in self.documents.children(place) {
            match self.documents.tag(child) {
                "attribute" => self.attribute_use(child, &mut set)?,
                "attributeGroup" => {
                    let group = self.attribute_group(child)?;
                    self.join(child, &mut set, &group)?;
                }
                "anyAttribute" => own = Some(self.wildcard(child)?),
                _ => {}
            }
        }
        set.wildcard = match (own, set.wildcard) {
            (Some(own), Some(groups)) => Some(own.intersection(groups)),
            (own, groups) => own.or(groups),
        };
        Ok(set)
    }

    fn join(
        &self,
        place: Place,
        set: &mut AttributeSet,
        group: &AttributeSet,
    ) -> Result<(), XsdError> {
        for (name, attribute) in &group.uses {
            let old = set.uses.insert(name.clone(), *attribute);
            if old.is_some_and(|old| old.declaration != attribute.declaration) {
                return Err(self.error(place, Rule::Duplicate(name.to_string())));
            }
        }
        set.prohibited.extend(group.prohibited.iter().cloned());
        set.wildcard = match (set.wildcard.take(), group.wildcard.clone()) {
            (Some(one), Some(two)) => Some(one.intersection(two)),
            (one, two) => one.or(two),
        };
        Ok(())
    }

    fn attribute_use(&mut self, place: Place, set: &mut AttributeSet) -> Result<(), XsdError> {
        let reference = self.documents.reference(place, "ref")?;
        let required = match self.documents.value(place, "use") {
            Some("prohibited") => {
                let local = || self.documents.local_name(place);
                set.prohibited.push(reference.map_or_else(local, Ok)?);
                return Ok(());
            }
            Some("required") => true,
            None | Some("optional") => false,
            Some(_) => {
                return Err(self
                    .documents
                    .wrong(place, "use", "optional, required or prohibited"));
            }
        };
        let declaration = match reference {
            Some(name) => self.attribute_named(place, &name)?,
            None => self.local_attribute(place)?,
        };
        let name = self.attributes[declaration.index()].name.clone();
        let attribute = AttributeUse {
            declaration,
            required,
        };
        match set.uses.insert(name.clone(), attribute) {
            Some(_) => Err(self.error(place, Rule::Duplicate(name.to_string()))),
            None => Ok(()),
        }
    }

    /// The attributes of a group that a place refers to.
    fn attribute_group(&mut self, place: Place) -> Result<Rc<AttributeSet>, XsdError> {
        let name = self
            .documents
            .reference(place, "ref")?
            .ok_or_else(|| self.error(place, Rule::Expected("ref")))?;
        let id = self.documents.find(place, Kind::AttributeGroup, &name)?;
        let group = self.documents.place(id);
        match self.attribute_groups_at.get(&group) {
            Some(Progress::Done(set)) => return Ok(Rc::clone(set)),
            Some(Progress::Begun) => return Err(self.error(place, Rule::Circular)),
            None => self.attribute_groups_at.insert(group, Progress::Begun),
        };
        let set = Rc::new(self.deeper(place, |builder| builder.attributes(group))?);
        self.attribute_groups_at
            .insert(group, Progress::Done(Rc::clone(&set)));
        Ok(set)
    }

    /// The namespace constraint of xs:any or xs:anyAttribute (section 3.10.2).
    pub(super) fn wildcard(&self, place: Place) -> Result<Wildcard, XsdError> {
        let target = self.documents.target(place);
        match self.documents.value(place, "namespace") {
            None | Some("##any") => Ok(Wildcard::Any),
            Some("##other") => Ok(Wildcard::Not(target)),
            Some(list) => {
                let mut uris = vec![];
                for word in words(list) {
                    let uri = match word {
                        "##targetNamespace" => Rc::clone(&target),
                        "##local" => "".into(),
                        "##any" | "##other" => {
                            return Err(self.documents.wrong(place, "namespace", "namespaces"));
                        }
                        uri => uri.into(),
                    };
                    if !uris.contains(&uri) {
                        uris.push(uri);
                    }
                }
                Ok(Wildcard::Namespaces(uris))
            }
        }
    }
}
