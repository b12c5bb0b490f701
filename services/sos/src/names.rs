//! Namespaces and identifiers that OGC has given.

pub(crate) const SOS20: &str = "http://www.opengis.net/sos/2.0";
pub(crate) const SOS10: &str = "http://www.opengis.net/sos/1.0";
pub(crate) const SWES20: &str = "http://www.opengis.net/swes/2.0";
/// GetDataAvailability, as 52North has it.
pub(crate) const GDA10: &str = "http://www.opengis.net/sosgda/1.0";
/// The same, with offerings and formats.
pub(crate) const GDA20: &str = "http://www.opengis.net/sosgda/2.0";
pub(crate) const OWS11: &str = "http://www.opengis.net/ows/1.1";
pub(crate) const GML32: &str = "http://www.opengis.net/gml/3.2";
pub(crate) const GML31: &str = "http://www.opengis.net/gml";
pub(crate) const OM20: &str = "http://www.opengis.net/om/2.0";
pub(crate) const OM10: &str = "http://www.opengis.net/om/1.0";
pub(crate) const SML20: &str = "http://www.opengis.net/sensorml/2.0";
/// SensorML 1.0.1, as its namespace and as procedureDescriptionFormat.
pub(crate) const SML101: &str = "http://www.opengis.net/sensorML/1.0.1";
pub(crate) const SWE20: &str = "http://www.opengis.net/swe/2.0";
pub(crate) const SWE101: &str = "http://www.opengis.net/swe/1.0.1";
pub(crate) const SAM20: &str = "http://www.opengis.net/sampling/2.0";
pub(crate) const SAMS20: &str = "http://www.opengis.net/samplingSpatial/2.0";
pub(crate) const SA10: &str = "http://www.opengis.net/sampling/1.0";
pub(crate) const FES20: &str = "http://www.opengis.net/fes/2.0";
pub(crate) const OGC: &str = "http://www.opengis.net/ogc";
pub(crate) const XLINK: &str = "http://www.w3.org/1999/xlink";
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
pub(crate) const XS: &str = "http://www.w3.org/2001/XMLSchema";

/// WGS 84, latitude first.
pub(crate) const WGS84: &str = "http://www.opengis.net/def/crs/EPSG/0/4326";
pub(crate) const WGS84_3D_URN: &str = "urn:ogc:def:crs:EPSG::4979";
pub(crate) const WGS84_3D: &str = "http://www.opengis.net/def/crs/EPSG/0/4979";
pub(crate) const WGS84_URN: &str = "urn:ogc:def:crs:EPSG::4326";

pub(crate) const SAMPLING_POINT: &str =
    "http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingPoint";
pub(crate) const SAMPLING_FEATURE: &str =
    "http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingFeature";

/// Types of observations that are taken.
pub(crate) const INSERTED_TYPES: &[&str] = &[
    OBSERVATION_TYPES[0],
    OBSERVATION_TYPES[1],
    OBSERVATION_TYPES[2],
    OBSERVATION_TYPES[3],
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_CountObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_CategoryObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_ComplexObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_ReferenceObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_SWEArrayObservation",
];

/// Further types of O&M 2.0 (OGC 10-025r1 table 8), which a sensor may announce beside those that are taken.
pub(crate) const ANNOUNCED_TYPES: &[&str] = &[
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_DiscreteCoverageObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_DiscretePointCoverageObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_DiscreteTimeSeriesObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_GeometryObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_TemporalObservation",
];

/// Types of observations that are given.
pub(crate) const OBSERVATION_TYPES: &[&str] = &[
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_TruthObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_TextObservation",
    "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Observation",
];

/// Formats in which observations are given, SOS 2.0.
pub(crate) const RESPONSE_FORMATS: &[&str] = &[OM20, "text/plain;profile=swe"];
/// The same of SOS 1.0.0.
pub(crate) const RESPONSE_FORMATS_1: &[&str] =
    &["text/xml;subtype=\"om/1.0.0\"", "text/plain;profile=swe"];

/// Ways in which observations are given, SOS 1.0.0.
pub(crate) const RESPONSE_MODES: &[&str] = &["inline", "resultTemplate"];

/// outputFormat of SensorML in SOS 1.0.0.
pub(crate) const SML101_MEDIA: &str = "text/xml;subtype=\"sensorML/1.0.1\"";
