//! How maps and arrays of AMF 3 begin: by reference, in a collection of Flex, with traits or without.

use super::pull::{Amf3, MARKED};
use super::tables::u29;
use super::{ARRAY, DICTIONARY, EMPTY, OBJECT, VECTOR_DOUBLE, VECTOR_INT, VECTOR_OBJECT};
use super::{VECTOR_UINT, pull};
use crate::error::DecodeError;
use crate::syntax::Kind;
use crate::syntax::binary::Input;

/// References and collections within each other before a map or array begins.
const WRAPPERS_MAX: usize = 8;
/// Classes that write themselves as one value.
const COLLECTIONS: [&str; 3] = [
    "flex.messaging.io.ArrayCollection",
    "flex.messaging.io.ArrayList",
    "flex.messaging.io.ObjectProxy",
];

/// A map or array being read.
#[derive(Clone, Copy, Default)]
pub(crate) struct Frame {
    /// Sealed members still to come, and where the next one's name stands.
    pub(crate) sealed: u32,
    pub(crate) names_at: usize,
    /// Whether members with names of their own follow, up to an empty name.
    pub(crate) dynamic: bool,
    /// Whether names are values (of a dictionary).
    pub(crate) dictionary: bool,
    /// What items are without a marker; else [`MARKED`].
    pub(crate) items: u8,
    /// Items still to come, where they are counted.
    pub(crate) left: u32,
    /// Where a reference led from and to, when it was followed.
    pub(crate) followed: Option<(usize, usize)>,
}

/// What the head of an object's traits says (section 3.12).
struct Traits {
    sealed: u32,
    dynamic: bool,
    externalizable: bool,
}

impl Traits {
    fn of(head: u32) -> Self {
        let externalizable = head & 4 != 0;
        Self {
            sealed: if externalizable { 0 } else { head >> 4 },
            dynamic: head & 8 != 0,
            externalizable,
        }
    }
}

impl<'a> Amf3<'a> {
    /// The kind of the object whose marker stands at the input, which may be a collection's.
    pub(crate) fn kind_of_object(&mut self) -> Result<Kind, DecodeError> {
        let mut input = self.input.clone();
        for _ in 0..WRAPPERS_MAX {
            let marker = input.peek()?;
            if marker != OBJECT {
                return pull::kind_of(marker, &input);
            }
            let at = input.at + 1;
            input.at = at;
            let head = u29(&mut input)?;
            if head & 1 == 0 {
                input.at = self.tables.object(head >> 1, at)?;
                continue;
            }
            if !self.inner_value(&mut input, at, head)? {
                return Ok(Kind::Map);
            }
        }
        Err(DecodeError::over(self.input.at, "nesting", WRAPPERS_MAX))
    }

    /// Goes on to the value in a collection; `false` where the object is none.
    fn inner_value(
        &self,
        input: &mut Input<'a>,
        at: usize,
        head: u32,
    ) -> Result<bool, DecodeError> {
        if head & 2 != 0 {
            return if Traits::of(head).externalizable {
                self.class_of_collection(input).map(|()| true)
            } else {
                Ok(false)
            };
        }
        let traits_at = self.tables.traits(head >> 2, at)?;
        let mut traits = Input {
            at: traits_at,
            ..input.clone()
        };
        Ok(Traits::of(u29(&mut traits)?).externalizable)
    }

    /// Reads the class of a collection and refuses others.
    fn class_of_collection(&self, input: &mut Input<'a>) -> Result<(), DecodeError> {
        let at = input.at;
        let class = self.tables.look_at_string(input)?;
        if COLLECTIONS.contains(&class) {
            Ok(())
        } else {
            let what = "no class that writes itself but Flex's collections";
            Err(DecodeError::expected(at, what))
        }
    }

    /// Comes to the map or array itself, following references and opening collections.
    pub(crate) fn unwrap_value(&mut self) -> Result<Option<(usize, usize)>, DecodeError> {
        let mut followed = None;
        for _ in 0..WRAPPERS_MAX {
            let start = self.input.at;
            let marker = self.input.peek()?;
            if !matches!(marker, ARRAY | OBJECT | VECTOR_INT..=DICTIONARY) {
                return Ok(followed);
            }
            self.input.at += 1;
            let head = u29(&mut self.input)?;
            if head & 1 == 0 {
                let target = self.tables.object(head >> 1, start + 1)?;
                let back = followed.map_or(self.input.at, |(back, _)| back);
                followed = Some((back, target));
                self.input.at = target;
                continue;
            }
            let mut inner = self.input.clone();
            if marker != OBJECT || !self.inner_value(&mut inner, start + 1, head)? {
                self.input.at = start;
                return Ok(followed);
            }
            self.tables.enter_object(start);
            if head & 2 != 0 {
                self.tables.enter_traits(start + 1);
                self.tables.string(&mut self.input)?;
            }
        }
        Err(DecodeError::over(self.input.at, "nesting", WRAPPERS_MAX))
    }

    /// Begins a map: an object, a dictionary, or an array whose items all have names.
    pub(crate) fn begin_map(&mut self) -> Result<Frame, DecodeError> {
        let start = self.input.at;
        let marker = self.input.take(1)?[0];
        let head = u29(&mut self.input)?;
        self.tables.enter_object(start);
        let dynamic = Frame {
            dynamic: true,
            items: MARKED,
            ..Frame::default()
        };
        match marker {
            OBJECT => self.begin_object(start + 1, head),
            DICTIONARY => {
                // Whether keys are held weakly.
                self.input.take(1)?;
                Ok(Frame {
                    dynamic: false,
                    dictionary: true,
                    left: head >> 1,
                    ..dynamic
                })
            }
            ARRAY if head >> 1 == 0 => Ok(dynamic),
            _ => Err(DecodeError::expected(start, "an object")),
        }
    }

    fn begin_object(&mut self, at: usize, head: u32) -> Result<Frame, DecodeError> {
        let mut frame = Frame {
            items: MARKED,
            ..Frame::default()
        };
        let traits = if head & 2 == 0 {
            let mut traits = Input {
                at: self.tables.traits(head >> 2, at)?,
                ..self.input.clone()
            };
            let head = u29(&mut traits)?;
            pass_string(&mut traits)?;
            frame.names_at = traits.at;
            Traits::of(head)
        } else {
            self.tables.enter_traits(at);
            // The class says nothing that the names do not.
            self.tables.string(&mut self.input)?;
            frame.names_at = self.input.at;
            let traits = Traits::of(head);
            for _ in 0..traits.sealed {
                self.tables.string(&mut self.input)?;
            }
            traits
        };
        frame.sealed = traits.sealed;
        frame.dynamic = traits.dynamic;
        Ok(frame)
    }

    /// Begins an array or a vector.
    pub(crate) fn begin_array(&mut self) -> Result<Frame, DecodeError> {
        let start = self.input.at;
        let marker = self.input.take(1)?[0];
        let left = u29(&mut self.input)? >> 1;
        self.tables.enter_object(start);
        match marker {
            ARRAY => {
                let at = self.input.at;
                if self.input.take(1)?[0] != EMPTY {
                    let what = "an array of items with names or without, not both";
                    return Err(DecodeError::expected(at, what));
                }
            }
            // Whether the length is fixed.
            VECTOR_INT | VECTOR_UINT | VECTOR_DOUBLE => drop(self.input.take(1)?),
            VECTOR_OBJECT => {
                self.input.take(1)?;
                self.tables.string(&mut self.input)?;
            }
            _ => return Err(DecodeError::expected(start, "an array")),
        }
        let items = match marker {
            ARRAY | VECTOR_OBJECT => MARKED,
            vector => vector,
        };
        Ok(Frame {
            items,
            left,
            ..Frame::default()
        })
    }
}

/// Reads over a string without its marker.
fn pass_string(input: &mut Input<'_>) -> Result<(), DecodeError> {
    let head = u29(input)?;
    if head & 1 == 1 {
        input.take((head >> 1) as usize)?;
    }
    Ok(())
}
