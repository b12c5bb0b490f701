//! `/schema/{name}`: how messages are defined.

use weir_codec::schema::{CDDL, PROTO, XSD};
use weir_service::{Response, Schema};

const TEXT: &str = "text/plain; charset=utf-8";

/// Those of the formats.
pub(crate) const OF_FORMATS: &[Schema] = &[
    Schema {
        name: "weir.proto",
        media: TEXT,
        text: PROTO,
    },
    Schema {
        name: "weir.xsd",
        media: "application/xml",
        text: XSD,
    },
    Schema {
        name: "weir.cddl",
        media: TEXT,
        text: CDDL,
    },
];

/// The one of a name.
pub(crate) fn answer(schemas: &[Schema], name: &str) -> Response {
    match schemas.iter().find(|schema| schema.name == name) {
        Some(found) => Response::with_body(200, found.media, found.text.as_bytes()),
        None => Response::text(
            404,
            format!("no such schema: there are {}", listed(schemas)),
        ),
    }
}

fn listed(schemas: &[Schema]) -> String {
    let names: Vec<&str> = schemas.iter().map(|schema| schema.name).collect();
    names.join(", ")
}
