//! O&M whose tokens and coordinates mean something else than they look like: reference systems, values that stand for
//! none, constraints, counts.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name};
use weir_model::{Batch, BatchBuilder, Limits, Place, Value};

const NAMESPACES: &str = r#"xmlns:om="http://www.opengis.net/om/2.0"
    xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:xlink="http://www.w3.org/1999/xlink"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:swe="http://www.opengis.net/swe/2.0"
    xmlns:sams="http://www.opengis.net/samplingSpatial/2.0""#;

const OLD: &str = r#"xmlns:om="http://www.opengis.net/om/1.0" xmlns:gml="http://www.opengis.net/gml"
    xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:swe="http://www.opengis.net/swe/1.0.1""#;

fn read(text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name("om").unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

fn observed(inner: &str) -> Result<Batch, DecodeError> {
    read(&format!(
        "<om:OM_Observation {NAMESPACES}>
         <om:phenomenonTime><gml:TimeInstant><gml:timePosition>2026-01-01T00:00:00Z</gml:timePosition>
         </gml:TimeInstant></om:phenomenonTime><om:procedure xlink:href='urn:s'/>
         <om:observedProperty xlink:href='urn:p'/>{inner}</om:OM_Observation>"
    ))
}

const ONE: &str = "<om:result xsi:type='gml:MeasureType' uom='m'>1</om:result>";

/// An observation of a feature with this shape.
fn at(shape: &str) -> Result<Batch, DecodeError> {
    observed(&format!(
        "<om:featureOfInterest><sams:SF_SpatialSamplingFeature gml:id='f'><sams:shape>{shape}</sams:shape>
         </sams:SF_SpatialSamplingFeature></om:featureOfInterest>{ONE}"
    ))
}

fn place(latitude: f64, longitude: f64) -> Option<Place> {
    Some(Place {
        latitude,
        longitude,
    })
}

#[test]
fn a_position_is_read_by_the_axes_of_its_reference_system() {
    for (shape, expected, height) in [
        (
            "<gml:Point><gml:pos>52.9 7.52</gml:pos></gml:Point>",
            None,
            None,
        ),
        (
            "<gml:Point srsName='EPSG:4326'><gml:pos>52.9 7.52</gml:pos></gml:Point>",
            None,
            None,
        ),
        (
            "<gml:Point><gml:pos srsName='CRS:84'>7.52 52.9</gml:pos></gml:Point>",
            None,
            None,
        ),
        (
            "<gml:Point srsName='http://www.opengis.net/def/crs/OGC/1.3/CRS84'>
             <gml:coordinates>7.52,52.9</gml:coordinates>
             </gml:Point>",
            None,
            None,
        ),
        (
            "<gml:Point srsName='urn:ogc:def:crs:EPSG::4979'>
             <gml:pos>52.9 7.52 -3.5</gml:pos></gml:Point>",
            None,
            Some(r#"{"heightAboveEllipsoid":-3.5}"#),
        ),
        // The line is none of an observation's places.
        (
            "<gml:LineString srsName='EPSG:3857'>
             <gml:pos>1 2</gml:pos><gml:pos>3 4</gml:pos></gml:LineString>",
            Some(None),
            None,
        ),
    ] {
        let batch = at(shape).unwrap();
        let expected = expected.unwrap_or(place(52.9, 7.52));
        assert_eq!(
            (batch.place(0), batch.row(0).extra.parameters),
            (expected, height),
            "{shape}"
        );
    }
}

#[test]
fn a_position_in_another_system_is_refused_with_its_name() {
    for (system, numbers) in [
        ("urn:ogc:def:crs:EPSG::3857", "10 20"),
        ("EPSG:31467", "10 20"),
        ("http://example.org/NotCRS84", "7 52"),
        ("urn:ogc:def:crs:EPSG::4326", "52 7 12"),
        ("urn:ogc:def:crs:EPSG::4979", "52 7"),
        ("", "52 7"),
    ] {
        for shape in [
            format!("<gml:Point srsName='{system}'><gml:pos>{numbers}</gml:pos></gml:Point>"),
            format!("<gml:Point><gml:pos srsName='{system}'>{numbers}</gml:pos></gml:Point>"),
        ] {
            let error = at(&shape).unwrap_err().to_string();
            assert!(
                error.contains(system) || error.contains("coordinates"),
                "{error}"
            );
        }
    }
    let turned =
        "<gml:Point><gml:coordinates decimal=',' cs=' '>52,9 7,5</gml:coordinates></gml:Point>";
    assert!(at(turned).is_err());
}

#[test]
fn a_height_is_kept_beside_the_other_parameters() {
    let parameters =
        "<om:parameter><om:NamedValue><om:name xlink:href='urn:depth'/><om:value>5</om:value>
        </om:NamedValue></om:parameter>
        <om:parameter><om:NamedValue>
        <om:name xlink:href='http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry'/>
        <om:value><gml:Point><gml:pos>52.9 7.52 12</gml:pos></gml:Point></om:value>
        </om:NamedValue></om:parameter>";
    let weirs = "<om:parameter><om:NamedValue><om:name xlink:href='urn:weir:parameters'/>
        <om:value>{\"own\":true}</om:value></om:NamedValue></om:parameter>";
    let both = observed(&format!("{parameters}{weirs}{ONE}")).unwrap();
    assert_eq!(both.place(0), place(52.9, 7.52));
    let expected = r#"{"urn:depth":5,"heightAboveEllipsoid":12,"own":true}"#;
    assert_eq!(both.row(0).extra.parameters, Some(expected));
    let one = observed(&format!("{parameters}{ONE}")).unwrap();
    let expected = r#"{"urn:depth":5,"heightAboveEllipsoid":12}"#;
    assert_eq!(one.row(0).extra.parameters, Some(expected));
}

/// An array of times and one component.
fn array(count: &str, component: &str, values: &str) -> Result<Batch, DecodeError> {
    observed(&format!(
        "<om:result><swe:DataArray>{count}<swe:elementType name='r'><swe:DataRecord>
         <swe:field name='t'><swe:Time/></swe:field><swe:field name='v'>{component}</swe:field></swe:DataRecord>
         </swe:elementType><swe:encoding><swe:TextEncoding tokenSeparator=',' blockSeparator=';'/></swe:encoding>
         <swe:values>{values}</swe:values></swe:DataArray></om:result>"
    ))
}

const NILS: &str = "<swe:nilValues><swe:NilValues>
    <swe:nilValue reason='http://www.opengis.net/def/nil/OGC/0/BelowDetectionRange'>-999</swe:nilValue>
    <swe:nilValue reason='http://www.opengis.net/def/nil/OGC/0/AboveDetectionRange'>INF</swe:nilValue>
    </swe:NilValues></swe:nilValues>";

#[test]
fn a_token_that_stands_for_none_is_no_result_with_its_reason() {
    let below = Some("http://www.opengis.net/def/nil/OGC/0/BelowDetectionRange");
    let above = Some("http://www.opengis.net/def/nil/OGC/0/AboveDetectionRange");
    let component =
        format!("<swe:Quantity definition='urn:p'><swe:uom code='m'/>{NILS}</swe:Quantity>");
    let day = "2026-01-01T00:00:0";
    let values = format!("{day}0Z,2;{day}1Z,-999;{day}2Z,-999.0;{day}3Z,+INF;{day}4Z,3");
    let batch = array("", &component, &values).unwrap();
    let rows: Vec<_> = batch
        .rows()
        .map(|row| (row.value, row.extra.quality))
        .collect();
    let expected = [
        (Value::Number(2.0), None),
        (Value::Null, below),
        (Value::Null, below),
        (Value::Null, above),
        (Value::Number(3.0), None),
    ];
    assert_eq!(rows, expected);
    // By itself, in a record, and of a text.
    let text =
        "<swe:Text><swe:nilValues><swe:NilValues><swe:nilValue reason='urn:none'>n/a</swe:nilValue>
        </swe:NilValues></swe:nilValues><swe:value>n/a</swe:value></swe:Text>";
    let number = format!("<swe:Quantity>{NILS}<swe:value> -999 </swe:value></swe:Quantity>");
    for (result, expected) in [
        (text.to_owned(), Some("urn:none")),
        (number.clone(), below),
        (
            format!("<swe:DataRecord><swe:field name='a'>{number}</swe:field></swe:DataRecord>"),
            below,
        ),
    ] {
        let batch = observed(&format!("<om:result>{result}</om:result>")).unwrap();
        let row = batch.row(0);
        assert_eq!(
            (row.value, row.extra.quality),
            (Value::Null, expected),
            "{result}"
        );
    }
}

#[test]
fn why_there_is_no_result_is_written_and_read_again() {
    for (reason, expected) in [
        (
            "http://www.opengis.net/def/nil/OGC/0/BelowDetectionRange",
            true,
        ),
        ("withheld", true),
        ("missing", false),
    ] {
        let batch = observed(&format!("<om:result nilReason='{reason}'/>")).unwrap();
        let kept = expected.then_some(reason);
        assert_eq!(
            (batch.row(0).value, batch.row(0).extra.quality),
            (Value::Null, kept)
        );
        let mut out = Vec::new();
        (by_name("om").unwrap().encode)(&batch, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains(&format!("<om:result nilReason=\"{reason}\"")),
            "{text}"
        );
        let again = read(&text).unwrap();
        assert_eq!(again.row(0).extra.quality, kept);
    }
}

#[test]
fn a_value_against_the_constraint_is_refused_at_its_place() {
    let numbers = "<swe:Quantity><swe:uom code='m'/><swe:constraint><swe:AllowedValues>
        <swe:value>7</swe:value><swe:interval>0 5</swe:interval><swe:interval>100 INF</swe:interval>
        <swe:significantFigures>3</swe:significantFigures></swe:AllowedValues></swe:constraint>
        </swe:Quantity>";
    let texts = "<swe:Category><swe:constraint><swe:AllowedTokens><swe:value>calm</swe:value>
        <swe:value>storm</swe:value></swe:AllowedTokens></swe:constraint></swe:Category>";
    let nil = format!("<swe:Count>{NILS}<swe:constraint><swe:AllowedValues><swe:min>0</swe:min></swe:AllowedValues>
        </swe:constraint></swe:Count>");
    for (component, token, allowed) in [
        (numbers, "5", true),
        (numbers, "7.0", true),
        (numbers, "1e3", true),
        (numbers, "5.1", false),
        (numbers, "-1", false),
        (texts, "calm", true),
        (texts, "rain", false),
        (&nil, "-999", true),
        (&nil, "3", true),
        (&nil, "-1", false),
    ] {
        let read = array("", component, &format!("2026-01-01T00:00:00Z,{token}"));
        assert_eq!(read.is_ok(), allowed, "{token}: {read:?}");
    }
}

#[test]
fn what_would_change_the_tokens_is_refused_where_described() {
    for component in [
        "<swe:Quantity optional='true'/>",
        "<swe:Quantity><swe:constraint xlink:href='urn:x'/></swe:Quantity>",
        "<swe:Quantity><swe:nilValues xlink:href='urn:x'/></swe:Quantity>",
        "<swe:Text><swe:constraint><swe:AllowedTokens><swe:pattern>a*</swe:pattern></swe:AllowedTokens>
         </swe:constraint></swe:Text>",
        "<swe:Quantity><swe:constraint><swe:AllowedTimes/></swe:constraint></swe:Quantity>",
        "<swe:QuantityRange/>",
        "<swe:DataChoice/>",
        "",
        "<swe:Time referenceTime='2026-01-01T00:00:00Z'><swe:uom code='s'/></swe:Time>",
        "<swe:Time referenceFrame='http://www.opengis.net/def/trs/USNO/0/GPS'/>",
        "<swe:Vector referenceFrame='urn:ogc:def:crs:EPSG::3857'><swe:coordinate name='lat'>
         <swe:Quantity definition='urn:x:latitude'/></swe:coordinate></swe:Vector>",
        "<swe:Quantity definition='urn:x:latitude'><swe:uom code='rad'/></swe:Quantity>",
    ] {
        // Without values, as a template of results is tried.
        let described = format!("{component}</swe:field><swe:field name='w'><swe:Quantity/>");
        assert!(array("", &described, "").is_err(), "{component}");
    }
    let utc = "<swe:Time referenceFrame='http://www.opengis.net/def/trs/BIPM/0/UTC'>
        <swe:uom xlink:href='http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'/></swe:Time></swe:field>
        <swe:field name='w'><swe:Quantity><swe:quality><swe:Quantity definition='urn:other'><swe:uom code='%'/>
        <swe:constraint><swe:AllowedValues/></swe:constraint></swe:Quantity></swe:quality><swe:uom code='m'/>
        </swe:Quantity>";
    let batch = array("", utc, "2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,1").unwrap();
    assert_eq!(
        (batch.row(0).unit, batch.row(0).property),
        (Some("m"), Some("urn:p"))
    );
}

#[test]
fn there_are_as_many_records_as_are_said_to_be() {
    let count = |count: &str| {
        format!("<swe:elementCount><swe:Count>{count}</swe:Count></swe:elementCount>")
    };
    let two = "2026-01-01T00:00:00Z,1;2026-01-01T00:00:01Z,2;";
    for (said, values, right) in [
        ("<swe:value>2</swe:value>", two, true),
        ("", two, true),
        ("<swe:value>3</swe:value>", two, false),
        ("<swe:value>1</swe:value>", two, false),
        ("<swe:value>two</swe:value>", two, false),
        ("<swe:value>2</swe:value>", "", false),
    ] {
        let read = array(&count(said), "<swe:Quantity/>", values);
        assert_eq!(read.is_ok(), right, "{said}");
    }
}

#[test]
fn a_simple_record_of_version_1_has_its_fields_and_their_time() {
    let record = "<swe:SimpleDataRecord gml:id='r'>
        <swe:field name='time'><swe:Time definition='urn:ogc:data:time:iso8601'>
        <swe:value>2026-01-02T00:00:00Z</swe:value>
        </swe:Time></swe:field>
        <swe:field name='speed'><swe:Quantity definition='urn:speed'><swe:uom code='m/s'/><swe:value>3.5</swe:value>
        </swe:Quantity></swe:field>
        <swe:field name='calm'><swe:Boolean definition='urn:calm'><swe:value>true</swe:value></swe:Boolean></swe:field>
        </swe:SimpleDataRecord>";
    let alone = "<swe:Quantity definition='urn:p'><swe:value>33</swe:value><swe:uom code='Cel'/>
        </swe:Quantity>";
    let read_old = |result: &str| {
        read(&format!(
            "<om:Observation {OLD}><om:samplingTime><gml:TimeInstant><gml:timePosition>2026-01-01T00:00:00Z
             </gml:timePosition></gml:TimeInstant></om:samplingTime><om:procedure xlink:href='urn:s'/>
             <om:observedProperty xlink:href='urn:p'/><om:result>{result}</om:result></om:Observation>"
        ))
    };
    let batch = read_old(record).unwrap();
    let rows: Vec<_> = batch
        .rows()
        .map(|row| (row.property, row.unit, row.value))
        .collect();
    let expected = [
        (Some("urn:speed"), Some("m/s"), Value::Number(3.5)),
        (Some("urn:calm"), None, Value::Bool(true)),
    ];
    assert_eq!(rows, expected);
    let day = "2026-01-02T00:00:00Z".parse().unwrap();
    assert!(batch.rows().all(|row| row.time == Some(day)));
    let batch = read_old(alone).unwrap();
    let row = batch.row(0);
    assert_eq!(
        (row.unit, row.value, batch.len()),
        (Some("Cel"), Value::Number(33.0), 1)
    );
    let late = record.replace(
        "</swe:SimpleDataRecord>",
        "<swe:field name='t'><swe:Time>
        <swe:value>2026-01-02T00:00:00Z</swe:value></swe:Time></swe:field></swe:SimpleDataRecord>",
    );
    assert!(read_old(&late).is_err());
}
