//! What may stand for an element: itself and its substitution group (EXI 1.0 section 8.5.4.1.6).

use alloc::rc::Rc;
use alloc::vec::Vec;
use hashbrown::HashMap;

use crate::xsd::error::Rule;
use crate::xsd::limits;
use crate::xsd::model::{ElementRef, Model};

/// Heads of substitution groups and their members.
pub(super) struct Substitutions(HashMap<ElementRef, Rc<[ElementRef]>>);

impl Substitutions {
    /// Members, direct and indirect, with their head, by local name and then by namespace.
    pub(super) fn of(model: &Model) -> Result<Self, Rule> {
        let mut groups: HashMap<ElementRef, Vec<ElementRef>> = HashMap::new();
        let mut count = 0;
        for member in model.global_elements.values() {
            let mut head = model.element(*member).head;
            while let Some(above) = head {
                count += 1;
                if count > limits::MEMBERS {
                    return Err(Rule::OverLimit("members of substitution groups"));
                }
                groups.entry(above).or_default().push(*member);
                head = model.element(above).head;
            }
        }
        let groups = groups.into_iter().map(|(head, mut members)| {
            members.push(head);
            members.sort_by_key(|member| &model.element(*member).name);
            (head, Rc::from(members))
        });
        Ok(Self(groups.collect()))
    }

    /// The elements that a particle of this one accepts.
    pub(super) fn members(&self, element: ElementRef) -> Rc<[ElementRef]> {
        match self.0.get(&element) {
            Some(members) => Rc::clone(members),
            None => Rc::new([element]),
        }
    }
}
