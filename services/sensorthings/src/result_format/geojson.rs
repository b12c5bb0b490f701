//! A feature for each entity (RFC 7946): its properties are all that the entity has, named by the way to
//! it; its geometry is the first that is found in the entity or in what is expanded.

use super::page::Page;
use crate::entity::Object;
use crate::kind::Kind;
use serde_json::{Value as Json, json};
use weir_service::Response;

/// A collection of features, with count and next page as foreign members (RFC 7946 section 6.1).
pub(super) fn features(kind: Kind, page: &Page) -> Response {
    let features: Vec<Json> = page.values.iter().map(|it| feature(kind, it)).collect();
    let mut body = json!({"type": "FeatureCollection", "features": features});
    if let Some(count) = page.count {
        body["@iot.count"] = count.into();
    }
    if let Some(next) = &page.next {
        body["@iot.nextLink"] = next.as_str().into();
    }
    Response::with_body(200, "application/geo+json", body.to_string())
}

fn feature(kind: Kind, entity: &Json) -> Json {
    let mut found = Found::default();
    found.walk(entity, "", Some(kind));
    json!({
        "type": "Feature",
        "geometry": found.own.or(found.expanded),
        "properties": found.properties,
    })
}

#[derive(Default)]
struct Found {
    properties: Object,
    /// The entity's own geometry, which goes before those of what is expanded.
    own: Option<Json>,
    expanded: Option<Json>,
    /// How many navigations lead to where the walk is.
    depth: usize,
}

impl Found {
    /// Goes through a value; `kind` is the type of the entity or entities that it is, if it is such.
    fn walk(&mut self, value: &Json, name: &str, kind: Option<Kind>) {
        if let Some(geometry) = geometry(value).filter(|_| kind.is_none()) {
            let place = match self.depth {
                0 => &mut self.own,
                _ => &mut self.expanded,
            };
            place.get_or_insert_with(|| geometry.clone());
            return;
        }
        let below = |part: &str| match name {
            "" => part.to_owned(),
            name => format!("{name}/{part}"),
        };
        match value {
            Json::Object(members) => {
                for (part, value) in members {
                    self.member(&below(part), part, value, kind);
                }
            }
            Json::Array(many) => {
                for (index, value) in many.iter().enumerate() {
                    self.walk(value, &below(&index.to_string()), kind);
                }
            }
            Json::Null => {}
            value => drop(self.properties.insert(name.to_owned(), value.clone())),
        }
    }

    fn member(&mut self, name: &str, part: &str, value: &Json, kind: Option<Kind>) {
        let way = kind.and_then(|kind| kind.navigation(part));
        match (way, kind, part) {
            (Some(way), ..) => {
                self.depth += 1;
                self.walk(value, name, Some(way.to));
                self.depth -= 1;
            }
            (None, Some(_), "@iot.id") => {
                let name = name.replace("@iot.id", "id");
                self.properties.insert(name, value.clone());
            }
            (None, Some(_), part) if part.contains("@iot.") => {}
            _ => self.walk(value, name, None),
        }
    }
}

const GEOMETRIES: &[&str] = &[
    "Point",
    "MultiPoint",
    "LineString",
    "MultiLineString",
    "Polygon",
    "MultiPolygon",
    "GeometryCollection",
];

/// The geometry that a value is, or that a feature has.
fn geometry(value: &Json) -> Option<&Json> {
    let kind = value.get("type")?.as_str()?;
    let has_content = value.get("coordinates").is_some() || value.get("geometries").is_some();
    match kind {
        "Feature" => value.get("geometry").filter(|it| it.is_object()),
        kind if GEOMETRIES.contains(&kind) && has_content => Some(value),
        _ => None,
    }
}
