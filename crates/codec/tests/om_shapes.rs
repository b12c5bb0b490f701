//! O&M in the shapes that servers of the Sensor Observation Service publish: records as results, features that are
//! referred to, blocks with periods and places.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name};
use weir_model::{Batch, BatchBuilder, Limits, Place, Time, Value};

const NAMESPACES: &str = r#"xmlns:om="http://www.opengis.net/om/2.0"
    xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:xlink="http://www.w3.org/1999/xlink"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:swe="http://www.opengis.net/swe/2.0"
    xmlns:sams="http://www.opengis.net/samplingSpatial/2.0"
    xmlns:sf="http://www.opengis.net/sampling/2.0""#;

fn read(text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name("om").unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

fn observation(inner: &str) -> String {
    format!(
        "<om:OM_Observation>
         <om:phenomenonTime><gml:TimeInstant><gml:timePosition>2026-01-01T00:00:00Z</gml:timePosition>
         </gml:TimeInstant></om:phenomenonTime><om:procedure xlink:href='urn:s'/>
         <om:observedProperty xlink:href='urn:p'/>{inner}</om:OM_Observation>"
    )
}

fn collection(observations: &str) -> String {
    format!(
        "<sos:all xmlns:sos='http://www.opengis.net/sos/2.0' {NAMESPACES}>{observations}</sos:all>"
    )
}

fn time(text: &str) -> Option<Time> {
    Some(text.parse().unwrap())
}

const ONE: &str = "<om:result xsi:type='gml:MeasureType' uom='m'>1</om:result>";

#[test]
fn a_record_is_an_observation_for_each_field_with_a_value() {
    let record = "<om:result xsi:type='swe:DataRecordPropertyType'>
        <swe:DataRecord definition='urn:all'><swe:label>all</swe:label>
        <swe:field name='air'><swe:Quantity definition='urn:air'><swe:uom code='Cel'/>
        <swe:quality><swe:Text><swe:value>good</swe:value></swe:Text></swe:quality><swe:value> 18.5 </swe:value>
        </swe:Quantity></swe:field>
        <swe:field name='sky'><swe:Category definition='urn:sky'><swe:codeSpace xlink:href='urn:c'/>
        <swe:value>sunny</swe:value></swe:Category></swe:field>
        <swe:field name='open'><swe:Boolean><swe:value>false</swe:value></swe:Boolean></swe:field>
        <swe:field name='nothing'><swe:Count definition='urn:nothing'/></swe:field>
        </swe:DataRecord></om:result>";
    let feature = "<om:featureOfInterest xlink:href='urn:f'/>";
    let batch = read(&collection(&observation(&format!("{feature}{record}")))).unwrap();
    let rows: Vec<_> = batch
        .rows()
        .map(|row| (row.property, row.unit, row.value))
        .collect();
    assert_eq!(
        rows,
        [
            (Some("urn:air"), Some("Cel"), Value::Number(18.5)),
            (Some("urn:sky"), None, Value::Text("sunny")),
            (Some("urn:p"), None, Value::Bool(false)),
        ]
    );
    for row in batch.rows() {
        assert_eq!(
            (row.sensor, row.extra.feature),
            (Some("urn:s"), Some("urn:f"))
        );
        assert_eq!(row.time, time("2026-01-01T00:00:00Z"));
    }
    for wrong in [
        record.replace("<swe:value>sunny</swe:value>", "<swe:DataArray/>"),
        record.replace("> 18.5 <", ">warm<"),
        "<om:result><swe:DataRecord><swe:field name='a'><swe:Count/></swe:field>
         </swe:DataRecord></om:result>"
            .into(),
    ] {
        assert!(read(&collection(&observation(&wrong))).is_err(), "{wrong}");
    }
}

/// A feature inline, with what names it.
fn feature(id: &str, inner: &str) -> String {
    format!(
        "<om:featureOfInterest><sams:SF_SpatialSamplingFeature gml:id='{id}'>{inner}
         <sf:sampledFeature xlink:href=''/><sams:shape><gml:Point gml:id='p'><gml:pos>47.5 7.5</gml:pos></gml:Point>
         </sams:shape></sams:SF_SpatialSamplingFeature></om:featureOfInterest>"
    )
}

#[test]
fn a_feature_is_named_by_its_identifier_or_by_an_address() {
    let named = feature(
        "f1",
        "<gml:identifier codeSpace=''>urn:f:1</gml:identifier>",
    );
    let refers = "<om:featureOfInterest xlink:href='#f1'/>";
    let address = feature("http://example.org/f/2", "");
    let here = "<om:parameter><om:NamedValue>
        <om:name xlink:href='http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry'/>
        <om:value><gml:Point><gml:pos>40 4</gml:pos></gml:Point></om:value></om:NamedValue>
        </om:parameter>";
    let elsewhere = "<om:featureOfInterest xlink:href='#f9'/>";
    let all: String = [
        format!("{named}{ONE}"),
        format!("{refers}{ONE}"),
        format!("{address}{ONE}"),
        format!("{here}{refers}{ONE}"),
        format!("{elsewhere}{ONE}"),
    ]
    .map(|inner| observation(&inner))
    .concat();
    let batch = read(&collection(&all)).unwrap();
    let place = |latitude, longitude| {
        Some(Place {
            latitude,
            longitude,
        })
    };
    let found: Vec<_> = batch
        .rows()
        .map(|row| (row.extra.feature, row.place))
        .collect();
    assert_eq!(
        found,
        [
            (Some("urn:f:1"), place(47.5, 7.5)),
            (Some("urn:f:1"), place(47.5, 7.5)),
            (Some("http://example.org/f/2"), place(47.5, 7.5)),
            (Some("urn:f:1"), place(40.0, 4.0)),
            (Some("#f9"), None),
        ]
    );
}

#[test]
fn a_block_has_periods_places_and_records_within() {
    let block = "<om:result><swe:DataArray><swe:elementType name='r'><swe:DataRecord>
        <swe:field name='time'><swe:TimeRange
        definition='http://www.opengis.net/def/property/OGC/0/PhenomenonTime'/></swe:field>
        <swe:field name='made'><swe:Time definition='http://www.opengis.net/def/property/OGC/0/ResultTime'/></swe:field>
        <swe:field name='all'><swe:DataRecord definition='urn:all'>
        <swe:field name='n'><swe:Count definition='urn:n'/></swe:field>
        <swe:field name='t'><swe:Text definition='urn:t'/></swe:field></swe:DataRecord></swe:field>
        <swe:field name='where'><swe:Vector definition='urn:where' referenceFrame='urn:ogc:def:crs:EPSG::4326'>
        <swe:coordinate name='latitude'><swe:Quantity definition='latitude' axisID='lat'><swe:uom code='deg'/>
        </swe:Quantity></swe:coordinate><swe:coordinate name='longitude'>
        <swe:Quantity definition='longitude' axisID='lon'>
        <swe:uom code='deg'/></swe:Quantity></swe:coordinate></swe:Vector></swe:field>
        </swe:DataRecord></swe:elementType><swe:encoding><swe:TextEncoding tokenSeparator='#' blockSeparator='@'/>
        </swe:encoding><swe:values>
        2026-01-02T00:00:00Z/2026-01-02T00:01:00Z#2026-01-02T00:02:00Z#5#five#47.5#7.5@
        2026-01-03T00:00:00Z#2026-01-03T00:02:00Z#6#six#48.5#8.5
        </swe:values></swe:DataArray></om:result>";
    let batch = read(&collection(&observation(block))).unwrap();
    let rows: Vec<_> = batch.rows().collect();
    let found: Vec<_> = rows.iter().map(|row| (row.property, row.value)).collect();
    assert_eq!(
        found,
        [
            (Some("urn:n"), Value::Number(5.0)),
            (Some("urn:t"), Value::Text("five")),
            (Some("urn:n"), Value::Number(6.0)),
            (Some("urn:t"), Value::Text("six")),
        ]
    );
    assert_eq!(rows[0].time, time("2026-01-02T00:00:00Z"));
    assert_eq!(rows[0].extra.end, time("2026-01-02T00:01:00Z"));
    assert_eq!(rows[0].extra.result_time, time("2026-01-02T00:02:00Z"));
    assert_eq!(rows[2].extra.end, None);
    assert_eq!(
        rows[3].place.map(|own| (own.latitude, own.longitude)),
        Some((48.5, 8.5))
    );
    let wrong = block.replace("/2026-01-02T00:01:00Z", "/later");
    assert!(read(&collection(&observation(&wrong))).is_err());
}

#[test]
fn a_parameter_that_is_a_reference_is_kept_by_its_name() {
    let inner = format!(
        "<om:parameter><om:NamedValue><om:name xlink:href='urn:x:kind'/>
         <om:value xsi:type='gml:ReferenceType' xlink:href='calm'/></om:NamedValue></om:parameter>{ONE}"
    );
    let batch = read(&collection(&observation(&inner))).unwrap();
    assert_eq!(
        batch.row(0).extra.parameters,
        Some(r#"{"urn:x:kind":"calm"}"#)
    );
}
