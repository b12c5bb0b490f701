//! A field of a record as its elements are met: where it begins, what its component is, and where that ends.

use super::rule::elsewhere;
use crate::error::DecodeError;
use crate::infoset::Pull;

/// A field as far as its elements were met; `C` is what a component can be.
pub(super) struct Opening<C> {
    /// Depth of its own element.
    own: usize,
    /// Whether its component was met, or others within it.
    described: bool,
    /// What it is, and the depth of that element.
    component: Option<(C, usize)>,
}

impl<C> Default for Opening<C> {
    fn default() -> Self {
        Self::at(0)
    }
}

impl<C> Opening<C> {
    /// A field whose own element is at this depth.
    pub(super) fn at(own: usize) -> Self {
        Self {
            own,
            described: false,
            component: None,
        }
    }
}

impl<C: Copy> Opening<C> {
    /// A component by itself, in the outermost element; or a record there.
    pub(super) fn of(component: Option<C>) -> Self {
        Self {
            component: component.map(|component| (component, 1)),
            ..Self::at(0)
        }
    }

    /// What its component is, once that was met and before it ends.
    pub(super) fn component(&self) -> Option<C> {
        self.component.map(|(component, _)| component)
    }

    /// Whether the element at this depth is its component.
    pub(super) fn is_at(&self, depth: usize) -> bool {
        self.component.is_some_and(|(_, own)| own == depth)
    }

    /// Whether what stands at this depth is said of its component.
    pub(super) fn has(&self, depth: usize) -> bool {
        self.component.is_some_and(|(_, own)| own + 1 == depth)
    }

    /// Takes note of an element at this depth, which is none of a field; `false` where it is an object that cannot be
    /// in one.
    pub(super) fn start(
        &mut self,
        name: &str,
        depth: usize,
        named: impl Fn(&str) -> Option<C>,
    ) -> bool {
        // Objects begin with a capital, properties do not. What stands deeper is of its quality.
        let is_object = name.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
        let is_list = matches!(name, "DataArray" | "DataChoice" | "Matrix");
        if !is_object || (self.component.is_some() && !is_list) {
            return true;
        }
        self.described = true;
        self.component = named(name).map(|component| (component, depth));
        self.component.is_some() || is_group(name)
    }

    /// Says whether what ends at this depth is its component. Refuses a field that ends without one.
    pub(super) fn is_ended(&self, depth: usize, pull: &impl Pull) -> Result<bool, DecodeError> {
        match self.own == depth && !self.described && !self.is_at(depth) {
            true => Err(elsewhere(pull)),
            false => Ok(self.is_at(depth)),
        }
    }

    /// Its component was read.
    pub(super) fn close(&mut self) {
        self.component = None;
    }
}

/// Says whether an element is that of a field.
pub(super) fn is_field(name: &str) -> bool {
    matches!(name, "field" | "coordinate")
}

/// Says whether a component is one of others.
pub(super) fn is_group(name: &str) -> bool {
    matches!(
        name,
        "DataRecord" | "SimpleDataRecord" | "Vector" | "Position"
    )
}
