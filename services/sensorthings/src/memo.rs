//! What is made of an entity when it is first read, and kept while it stays as it is: its properties as text,
//! and the box around its geometry.
//!
//! An entity in a view does not change; one that is copied to be changed begins without.

use crate::entity::{Entity, Object};
use crate::filter::geometry;
use crate::kind::Kind;
use crate::members::{self, Members};
use std::sync::{Arc, OnceLock};

/// West, south, east, north.
pub(crate) type Bounds = [f64; 4];

/// What was made, once it was.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    texts: OnceLock<Texts>,
    bounds: OnceLock<Option<Bounds>>,
    area: OnceLock<Box<[u8]>>,
    feature: OnceLock<Arc<Entity>>,
}

/// The properties that are kept with an entity, as members of a JSON object.
#[derive(Debug)]
pub(crate) struct Texts {
    /// With commas between them.
    pub(crate) all: Box<[u8]>,
    /// Where each begins and ends.
    parts: Vec<(&'static str, (usize, usize))>,
}

impl Texts {
    fn of(kind: Kind, body: &Object) -> Self {
        let (mut out, mut parts) = (Vec::new(), Vec::<(&'static str, (usize, usize))>::new());
        let mut object = Members::begin(&mut out);
        let names = kind.properties().iter().map(|(name, _)| *name);
        for name in names.filter(|name| !kind.is_computed(name)) {
            if let Some(value) = body.get(name) {
                let begin = object.end_so_far();
                object.member(&[name], value);
                parts.push((name, (begin, object.end_so_far())));
            }
        }
        // Before the first is a bracket, before others a comma; all are counted from behind the bracket.
        let parts = parts
            .iter()
            .enumerate()
            .map(|(index, &(name, (from, to)))| (name, (from - usize::from(index == 0), to - 1)))
            .collect();
        let all = out.split_off(1).into_boxed_slice();
        Self { all, parts }
    }

    /// One of them, where the entity has it.
    pub(crate) fn part(&self, name: &str) -> Option<&[u8]> {
        let part = self.parts.iter().find(|(known, _)| *known == name);
        part.map(|(_, (from, to))| &self.all[*from..*to])
    }
}

impl Entity {
    /// Its properties as text.
    pub(crate) fn texts(&self) -> &Texts {
        let texts = &self.memo.texts;
        texts.get_or_init(|| Texts::of(self.kind, &self.body))
    }

    /// The same box as a polygon; nothing where there is none.
    pub(crate) fn area(&self) -> &[u8] {
        self.memo.area.get_or_init(|| {
            let mut out = Vec::new();
            if let Some(bounds) = self.bounds() {
                write_area(bounds, &mut out);
            }
            out.into()
        })
    }

    /// The feature that follows from it as a location.
    pub(crate) fn feature(&self) -> &Arc<Entity> {
        let feature = &self.memo.feature;
        feature.get_or_init(|| Arc::new(Entity::feature_of(self)))
    }

    /// The box around the geometry of a feature.
    pub(crate) fn bounds(&self) -> Option<Bounds> {
        *self.memo.bounds.get_or_init(|| {
            let place = geometry(self.body.get("feature")?)?;
            let corners = place.corners().map(|(x, y)| [x, y, x, y]);
            corners.reduce(around)
        })
    }
}

/// Writes a box as a polygon.
pub(crate) fn write_area(bounds: Bounds, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"Polygon\",\"coordinates\":[");
    members::number(out, ring(bounds));
    out.extend_from_slice(b"]}");
}

/// The corners of a box, the first again at the end.
pub(crate) fn ring([west, south, east, north]: Bounds) -> [[f64; 2]; 5] {
    [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
    ]
}

/// The box around two.
pub(crate) fn around(a: Bounds, b: Bounds) -> Bounds {
    let (west, south) = (a[0].min(b[0]), a[1].min(b[1]));
    [west, south, a[2].max(b[2]), a[3].max(b[3])]
}

/// A copy is made to be changed.
impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// It follows from the rest of the entity.
impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use serde_json::json;

    #[test]
    fn properties_are_found_in_the_text_and_a_copy_has_its_own() {
        let body = json!({"name": "a,b", "description": "c",
            "feature": {"type": "Point", "coordinates": [1, 2]}});
        let body = body.as_object().cloned().unwrap_or_default();
        let entity = Entity::new(Kind::FeatureOfInterest, Id::Number(1), body);
        assert_eq!(entity.texts().part("name"), Some(&br#""name":"a,b""#[..]));
        assert_eq!(
            entity.texts().part("description"),
            Some(&br#""description":"c""#[..])
        );
        assert_eq!(entity.texts().part("properties"), None);
        assert_eq!(entity.bounds(), Some([1.0, 2.0, 1.0, 2.0]));
        let mut changed = entity.clone();
        changed.body.insert("name".into(), "d".into());
        assert_eq!(changed.texts().part("name"), Some(&br#""name":"d""#[..]));
    }
}
