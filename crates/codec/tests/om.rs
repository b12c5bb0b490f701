//! Observations and Measurements as other people's software writes and reads them.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name, sample};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Limits, Place, Time, Value};

fn read(text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name("om").unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

fn write(format: &str, batch: &Batch) -> String {
    let mut out = Vec::new();
    (by_name(format).unwrap().encode)(batch, &mut out);
    String::from_utf8(out).unwrap()
}

fn time(text: &str) -> Time {
    text.parse().unwrap()
}

const NAMESPACES: &str = r#"xmlns:om="http://www.opengis.net/om/2.0"
    xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:xlink="http://www.w3.org/1999/xlink"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xmlns:swe="http://www.opengis.net/swe/2.0" xmlns:x="http://www.w3.org/2001/XMLSchema""#;

fn observation(inner: &str) -> String {
    format!("<om:OM_Observation gml:id='o' {NAMESPACES}>{inner}</om:OM_Observation>")
}

const INSTANT: &str = "<om:phenomenonTime><gml:TimeInstant gml:id='i'>
    <gml:timePosition>2005-01-11T17:22:25.00</gml:timePosition>
    </gml:TimeInstant></om:phenomenonTime>";

#[test]
fn an_observation_in_an_answer_of_a_service_reads() {
    let text = format!(
        "<?xml version='1.0'?>
        <sos:GetObservationResponse xmlns:sos='http://www.opengis.net/sos/2.0'>
        <sos:observationData>{}</sos:observationData>
        </sos:GetObservationResponse>",
        observation(&format!(
            "<gml:description>scales</gml:description>
             <om:type xlink:href='http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement'/>
             {INSTANT}
             <om:resultTime xlink:href='#i'/>
             <om:procedure xlink:href='http://example.org/scales34'/>
             <om:parameter><om:NamedValue><om:name xlink:href='urn:x:hall'/>
               <om:value xsi:type='gml:MeasureType' uom='Cel'>22.3</om:value>
             </om:NamedValue></om:parameter>
             <om:observedProperty xlink:href='http://example.org/Mass'/>
             <om:featureOfInterest xlink:href='http://example.org/fruit?a=1&amp;b=2'/>
             <om:result xsi:type='gml:MeasureType' uom='kg'> 0.28 </om:result>"
        ))
    );
    let batch = read(&text).unwrap();
    let row = batch.row(0);
    assert_eq!((row.value, row.unit), (Value::Number(0.28), Some("kg")));
    assert_eq!(row.sensor, Some("http://example.org/scales34"));
    assert_eq!(row.time, Some(time("2005-01-11T17:22:25Z")));
    let extra = Extra {
        result_time: row.time,
        feature: Some("http://example.org/fruit?a=1&b=2"),
        parameters: Some(r#"{"urn:x:hall":22.3}"#),
        ..Extra::default()
    };
    assert_eq!(row.extra, extra);
}

#[test]
fn results_of_every_type_read() {
    for (result, value) in [
        ("xsi:type='x:boolean'>1<", Value::Bool(true)),
        ("xsi:type='x:integer'>20<", Value::Number(20.0)),
        ("xsi:type='x:string'> 5 <", Value::Text(" 5 ")),
        ("xsi:type='x:string'><", Value::Text("")),
        ("codeSpace='urn:fruits'>Banana<", Value::Text("Banana")),
        (">21.5<", Value::Number(21.5)),
        (
            "xsi:type='gml:ReferenceType' xlink:href='urn:a'><",
            Value::Text("urn:a"),
        ),
        ("nilReason='missing'><", Value::Null),
        ("xsi:type='x:double'>NaN<", Value::Null),
    ] {
        let text = observation(&format!("{INSTANT}<om:result {result}/om:result>"));
        assert_eq!(read(&text).unwrap().row(0).value, value, "{result}");
    }
}

#[test]
fn a_position_of_the_feature_is_the_place() {
    for (system, numbers) in [("EPSG/0/4326", "44.8 20.4"), ("OGC/1.3/CRS84", "20.4 44.8")] {
        let text = observation(&format!(
            "<om:featureOfInterest><sams:SF_SpatialSamplingFeature xmlns:sams='urn:sams'>
               <sf:sampledFeature xmlns:sf='urn:sf' xlink:href='urn:river'/>
               <sams:shape><gml:Point srsName='http://www.opengis.net/def/crs/{system}'>
                 <gml:pos>{numbers}</gml:pos></gml:Point></sams:shape>
             </sams:SF_SpatialSamplingFeature></om:featureOfInterest>
             <om:result>1</om:result>"
        ));
        let batch = read(&text).unwrap();
        let place = Place {
            latitude: 44.8,
            longitude: 20.4,
        };
        assert_eq!(batch.row(0).place, Some(place));
        assert_eq!(batch.row(0).extra.feature, Some("urn:river"));
    }
}

#[test]
fn an_array_of_several_fields_is_a_datastream_each() {
    let text = observation(
        "<om:procedure xlink:href='urn:mooring'/>
         <om:result xsi:type='swe:DataArrayPropertyType'><swe:DataArray>
           <swe:elementCount><swe:Count><swe:value>2</swe:value></swe:Count></swe:elementCount>
           <swe:elementType name='point'><swe:DataRecord>
             <swe:field name='when'><swe:Time definition='urn:t'><swe:uom xlink:href='urn:iso'/></swe:Time></swe:field>
             <swe:field name='depth'><swe:Quantity definition='urn:depth'><swe:uom code='m'/></swe:Quantity></swe:field>
             <swe:field name='sky'><swe:Category definition='urn:sky'/></swe:field>
             <swe:field name='wet'><swe:Boolean/></swe:field>
           </swe:DataRecord></swe:elementType>
           <swe:encoding><swe:TextEncoding blockSeparator='&#10;' tokenSeparator=';'
             decimalSeparator=','/></swe:encoding>
           <swe:values>
             2005-01-11;1,5;haze;true
             2005-01-12;;5;
           </swe:values>
         </swe:DataArray></om:result>",
    );
    let batch = read(&text).unwrap();
    let values: Vec<_> = batch.rows().map(|row| row.value).collect();
    let expected = [
        Value::Number(1.5),
        Value::Text("haze"),
        Value::Bool(true),
        Value::Null,
        Value::Text("5"),
        Value::Null,
    ];
    assert_eq!(values, expected);
    let row = batch.row(3);
    assert_eq!((row.naming, row.topic), (Naming::Below, "depth"));
    assert_eq!(
        (row.sensor, row.property),
        (Some("urn:mooring"), Some("urn:depth"))
    );
    assert_eq!(
        (row.unit, row.time),
        (Some("m"), Some(time("2005-01-12T00:00:00Z")))
    );
}

#[test]
fn an_observation_of_1_0_with_white_space_between_records_reads() {
    let text = "<om:Observation xmlns:om='http://www.opengis.net/om/1.0'
          xmlns:gml='http://www.opengis.net/gml' xmlns:swe='http://www.opengis.net/swe/1.0.1'
          xmlns:xlink='http://www.w3.org/1999/xlink'>
        <om:samplingTime><gml:TimePeriod><gml:beginPosition>2007-04-01T00:00:00.000-06:00</gml:beginPosition>
          <gml:endPosition indeterminatePosition='now'/></gml:TimePeriod></om:samplingTime>
        <om:procedure xlink:href='urn:station'/>
        <om:observedProperty xlink:href='urn:temperature'/>
        <om:featureOfInterest xlink:href='urn:ogc:def:nil:OGC:unknown'/>
        <om:result><swe:DataArray><swe:elementType name='r'><swe:SimpleDataRecord>
          <swe:field name='time'><swe:Time/></swe:field>
          <swe:field name='value'><swe:Quantity><swe:uom code='Cel'/></swe:Quantity></swe:field>
          </swe:SimpleDataRecord></swe:elementType>
          <swe:encoding><swe:TextBlock decimalSeparator='.' tokenSeparator=',' blockSeparator=' '/></swe:encoding>
          <swe:values>
2007-04-01T00:00:00.000-06:00,30.4
2007-04-01T00:00:10.000-06:00,-0.5 2007-04-01T00:00:20.000-06:00,1e-7
          </swe:values></swe:DataArray></om:result></om:Observation>";
    let batch = read(text).unwrap();
    let values: Vec<_> = batch.rows().filter_map(|row| row.value.number()).collect();
    assert_eq!(values, [30.4, -0.5, 1e-7]);
    let row = batch.row(2);
    assert_eq!(row.time, Some(time("2007-04-01T06:00:20Z")));
    assert_eq!((row.sensor, row.unit), (Some("urn:station"), Some("Cel")));
    assert_eq!(row.extra, Extra::default());
}

#[test]
fn a_block_may_be_longer_than_any_string() {
    let limits = Limits {
        text_bytes: 64,
        ..Limits::default()
    };
    let mut builder = BatchBuilder::new();
    for second in 0..100 {
        builder.begin();
        builder.time(Time::from_millis(second * 1000));
        builder.value(Value::Number(second as f64));
        builder.end().unwrap();
    }
    let batch = builder.finish();
    let text = write("om1", &batch);
    let decode = by_name("om1").unwrap().decode;
    decode(text.as_bytes(), &mut builder, &limits).unwrap();
    assert_eq!(builder.finish(), batch);
}

#[test]
fn a_datastream_is_one_observation_of_1_0() {
    let mut builder = BatchBuilder::new();
    for second in 0..4 {
        for topic in ["a", "b"] {
            builder.begin();
            builder.topic(Naming::Topic, topic);
            builder.unit("Cel");
            builder.time(Time::from_millis(second * 1000));
            builder.value(Value::Number(second as f64));
            builder.end().unwrap();
        }
    }
    let text = write("om1", &builder.finish());
    assert_eq!(text.matches("<om:Observation>").count(), 2);
    let block = "<swe:values>1970-01-01T00:00:00Z,0;1970-01-01T00:00:01Z,1;\
                 1970-01-01T00:00:02Z,2;1970-01-01T00:00:03Z,3;</swe:values>";
    assert_eq!(text.matches(block).count(), 2);
}

#[test]
fn an_observation_is_written_as_o_and_m_has_it() {
    let batch = sample::message(1, 0).select(|row| row == 0);
    let text = write("om", &batch);
    let expected = concat!(
        r#"<gml:featureMember><om:OM_Observation gml:id="o0">"#,
        r#"<om:type xlink:href="http://www.opengis.net/def/observationType/"#,
        r#"OGC-OM/2.0/OM_Measurement"/>"#,
        r#"<om:phenomenonTime><gml:TimeInstant gml:id="t0">"#,
        r#"<gml:timePosition>2026-11-20T09:41:00.250Z</gml:timePosition>"#,
        r#"</gml:TimeInstant></om:phenomenonTime><om:resultTime nilReason="unknown"/>"#,
        r#"<om:procedure xlink:href="urn:dev:mac:0024befffe800010"/>"#,
        r#"<om:parameter><om:NamedValue><om:name xlink:href="urn:weir:topic"/>"#,
        r#"<om:value xsi:type="xs:string">heating/substation-1/supply/temperature</om:value>"#,
        r#"</om:NamedValue></om:parameter>"#,
    );
    assert!(text.contains(expected), "{text}");
    let result = r#"<om:result xsi:type="gml:MeasureType" uom="Cel">75.88</om:result>"#;
    assert!(text.contains(result), "{text}");
}

#[test]
fn an_error_says_which_byte_and_which_rule() {
    let fault = |inner: &str| {
        let text = observation(inner);
        let error = read(&text).unwrap_err();
        (error.at - text.find(inner).unwrap(), error.to_string())
    };
    let (at, what) = fault("<om:result xsi:type='gml:MeasureType' uom='m'>x</om:result>");
    assert!(what.starts_with("expected a number"), "{what}");
    assert_eq!(at, 46);
    let (at, what) = fault("<om:resultTime xlink:href='#gone'/><om:result>1</om:result>");
    assert!(what.contains("one of the times given last"), "{what}");
    assert_eq!(at, 15);
    let (at, what) = fault("<om:result><gml:Point/></om:result>");
    assert!(what.contains("a result that is a number"), "{what}");
    assert_eq!(at, 11);
    let root = read("<html/>").unwrap_err().to_string();
    assert!(root.starts_with("expected om:OM_Observation"), "{root}");
    let none = read(&observation(INSTANT)).unwrap_err().to_string();
    assert!(
        none.starts_with("expected an observation with an om:result"),
        "{none}"
    );
    let bomb = "<!DOCTYPE a [<!ENTITY b 'bbbb'><!ENTITY c '&b;&b;'>]><om:Observation/>";
    assert!(
        read(bomb)
            .unwrap_err()
            .to_string()
            .contains("document types (DOCTYPE) are not read")
    );
}
