//! Geometries as entities have them, GeoJSON where nothing else is said, and the reference system that they are in.

use crate::entity::{GEOJSON, Object};
use crate::fault::{Fault, Result};
use serde_json::Value as Json;
use weir_codec::crs::Crs;

/// Whether an entity's geometry is GeoJSON, as it is where nothing else is said.
pub(crate) fn is_geojson(body: &Object) -> bool {
    let encoding = body.get("encodingType").and_then(Json::as_str);
    encoding.is_none_or(|text| matches!(text, GEOJSON | "application/vnd.geo+json"))
}

/// GeoJSON is in degrees, the longitude first (RFC 7946 section 4): of the version before, which could name a
/// reference system, one whose coordinates are the same is taken.
pub(crate) fn check_system(name: &str, geometry: Option<&Json>) -> Result<()> {
    let Some(geometry) = geometry else {
        return Ok(());
    };
    let named = weir_geo::system(geometry);
    let named = named.map_err(|problem| Fault::bad(format!("{name}: {problem}")))?;
    match named.map(Crs::read) {
        None | Some(Ok(_)) => Ok(()),
        Some(Err(problem)) => Err(Fault::bad(format!("{name}: {problem}"))),
    }
}
