//! A sensor's life in every binding, asked as clients of 52North's server ask: prefixes of their own, an XML
//! declaration and comments, schema locations, extensions, times with an offset, references within a document,
//! all optional parts. The requests are ours; from theirs is only what they have in common.

use super::house::{House, house, text, texts, xml};
use weir_codec::document::{Element, exi, read_xml, soap};

const NAMESPACES: &str = r#"service="SOS" version="2.0.0"
  xmlns:s="http://www.opengis.net/sos/2.0" xmlns:sw="http://www.opengis.net/swes/2.0"
  xmlns:o="http://www.opengis.net/om/2.0" xmlns:g="http://www.opengis.net/gml/3.2"
  xmlns:e="http://www.opengis.net/swe/2.0" xmlns:l="http://www.opengis.net/sensorml/2.0"
  xmlns:f="http://www.opengis.net/fes/2.0" xmlns:w="http://www.opengis.net/ows/1.1"
  xmlns:x="http://www.w3.org/1999/xlink" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"
  xmlns:d="http://www.w3.org/2001/XMLSchema" xmlns:a="http://www.opengis.net/samplingSpatial/2.0"
  xmlns:b="http://www.opengis.net/sampling/2.0"
  i:schemaLocation="http://www.opengis.net/sos/2.0 http://schemas.opengis.net/sos/2.0/sos.xsd""#;

const SENSOR: &str = "http://example.org/procedure/buoy/7";
const OFFERING: &str = "http://example.org/offering/7";
const WAVES: &str = "http://example.org/property/waves";
const SML: &str = "http://www.opengis.net/sensorml/2.0";

/// A request's element of SOS or of SWE Service, with what is in it.
fn request(name: &str, inner: &str) -> String {
    format!("<!-- a comment --><{name} {NAMESPACES}>\n  {inner}\n</{name}>")
}

/// How requests go in, and answers out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    Pox,
    Soap(soap::Version),
    Exi,
}

impl Binding {
    pub(super) const ALL: [Self; 4] = [
        Binding::Pox,
        Binding::Soap(soap::Version::V11),
        Binding::Soap(soap::Version::V12),
        Binding::Exi,
    ];

    fn ask(self, house: &House, name: &str, inner: &str) -> Element {
        self.told(house, &request(name, inner))
    }

    /// What a request, an element of XML, is answered.
    pub(super) fn told(self, house: &House, request: &str) -> Element {
        let answer = match self {
            Binding::Pox => house.post(
                "text/xml; charset=UTF-8",
                format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{request}"),
            ),
            Binding::Soap(version) => {
                let media = match version {
                    soap::Version::V11 => "text/xml",
                    soap::Version::V12 => "application/soap+xml; charset=UTF-8",
                };
                house.post(media, soap::wrap(version, None, "", request))
            }
            Binding::Exi => {
                let packed = exi::from_xml(request.as_bytes()).unwrap();
                house.post("application/exi", packed)
            }
        };
        assert_eq!(answer.status, 200, "{self:?} {request}: {}", text(&answer));
        match self {
            Binding::Exi => exi::read(&answer.body).unwrap(),
            _ => read_xml(&answer.body).unwrap(),
        }
    }
}

const INSERT_SENSOR: &str = r#"
  <sw:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</sw:procedureDescriptionFormat>
  <sw:procedureDescription><l:PhysicalSystem g:id="buoy">
    <g:identifier codeSpace="uniqueID">http://example.org/procedure/buoy/7</g:identifier>
    <l:capabilities name="offerings"><l:CapabilityList><l:capability name="offeringID">
      <e:Text definition="urn:ogc:def:identifier:OGC:offeringID"><e:label>Buoy</e:label>
      <e:value>http://example.org/offering/7</e:value></e:Text></l:capability></l:CapabilityList></l:capabilities>
    <l:position><e:Vector referenceFrame="urn:ogc:def:crs:EPSG::4326"><e:coordinate name="northing">
      <e:Quantity axisID="y"><e:uom code="deg"/><e:value>51.5</e:value></e:Quantity></e:coordinate></e:Vector>
    </l:position></l:PhysicalSystem></sw:procedureDescription>
  <sw:observableProperty>http://example.org/property/waves</sw:observableProperty>
  <sw:observableProperty>http://example.org/property/count</sw:observableProperty>
  <sw:observableProperty>http://example.org/property/open</sw:observableProperty>
  <sw:observableProperty>http://example.org/property/words</sw:observableProperty>
  <sw:metadata><s:SosInsertionMetadata>
    <s:observationType>http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement</s:observationType>
    <s:observationType>http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_CountObservation</s:observationType>
    <s:observationType>http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_TruthObservation</s:observationType>
    <s:observationType>http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_TextObservation</s:observationType>
    <s:observationType>http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_GeometryObservation</s:observationType>
    <s:observationType>http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_ComplexObservation</s:observationType>
    <s:featureOfInterestType
      >http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingPoint</s:featureOfInterestType>
  </s:SosInsertionMetadata></sw:metadata>"#;

/// An observation with all that may stand in it; its result time refers to its phenomenon time.
fn observation(number: u32, property: &str, result: &str) -> String {
    let minute = 10 + number;
    format!(
        r##"<s:observation><o:OM_Observation g:id="o{number}"><g:description>one of several</g:description>
        <g:identifier codeSpace="">http://example.org/observation/{number}</g:identifier>
        <o:type x:href="http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement"/>
        <o:phenomenonTime><g:TimeInstant g:id="time{number}">
        <g:timePosition>2026-03-01T01:{minute}:00.000+01:00</g:timePosition></g:TimeInstant></o:phenomenonTime>
        <o:resultTime x:href="#time{number}"/><o:procedure x:href="{SENSOR}"/>
        <o:parameter><o:NamedValue>
        <o:name x:href="http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry"/>
        <o:value><g:Point g:id="here{number}"><g:pos srsName="http://www.opengis.net/def/crs/EPSG/0/4326"
        >51.5 7.25</g:pos></g:Point></o:value></o:NamedValue></o:parameter>
        <o:observedProperty x:href="http://example.org/property/{property}"/>
        <o:featureOfInterest><a:SF_SpatialSamplingFeature g:id="feature{number}">
        <g:identifier codeSpace="">http://example.org/feature/7</g:identifier><g:name>Bay</g:name>
        <b:type x:href="http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingPoint"/>
        <b:sampledFeature x:href="http://example.org/sea"/><a:shape><g:Point g:id="point{number}">
        <g:pos srsName="http://www.opengis.net/def/crs/EPSG/0/4326">51.5 7.25</g:pos></g:Point></a:shape>
        </a:SF_SpatialSamplingFeature></o:featureOfInterest>{result}</o:OM_Observation></s:observation>"##
    )
}

fn insert_observations() -> String {
    let observations = [
        observation(
            0,
            "waves",
            r#"<o:result i:type="g:MeasureType" uom="m">0.25</o:result>"#,
        ),
        observation(
            1,
            "waves",
            r#"<o:result i:type="g:MeasureType" uom="m">0.5</o:result>"#,
        ),
        observation(2, "count", r#"<o:result i:type="d:integer">12</o:result>"#),
        observation(3, "open", r#"<o:result i:type="d:boolean">true</o:result>"#),
        observation(4, "words", r#"<o:result i:type="d:string">calm</o:result>"#),
    ];
    format!(
        "<s:offering>{OFFERING}</s:offering>{}",
        observations.concat()
    )
}

const TEMPORAL: &str = r#"<s:temporalFilter><f:During><f:ValueReference>om:phenomenonTime</f:ValueReference>
  <g:TimePeriod g:id="tp"><g:beginPosition>2026-03-01T01:09:00.000+01:00</g:beginPosition>
  <g:endPosition>2026-03-01T01:10:30.000+01:00</g:endPosition></g:TimePeriod></f:During>
  </s:temporalFilter>"#;
const SPATIAL: &str = r#"<s:spatialFilter><f:BBOX><f:ValueReference>om:featureOfInterest/*/sams:shape</f:ValueReference>
  <g:Envelope srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><g:lowerCorner>51 7</g:lowerCorner>
  <g:upperCorner>52 8</g:upperCorner></g:Envelope></f:BBOX></s:spatialFilter>"#;

fn read(house: &House, binding: Binding) {
    let parts = format!(
        "<sw:extension><e:Boolean definition=\"MergeObservationsIntoDataArray\"><e:value>true</e:value></e:Boolean>\
         </sw:extension><s:procedure>{SENSOR}</s:procedure><s:offering>{OFFERING}</s:offering>\
         <s:observedProperty>{WAVES}</s:observedProperty>{TEMPORAL}\
         <s:featureOfInterest>http://example.org/feature/7</s:featureOfInterest>{SPATIAL}\
         <s:responseFormat>http://www.opengis.net/om/2.0</s:responseFormat>"
    );
    let found = binding.ask(house, "s:GetObservation", &parts);
    assert_eq!(texts(&found, "result"), ["0.25"], "{binding:?}");
    let id = texts(&found, "identifier").remove(0);
    let all = binding.ask(house, "s:GetObservation", "");
    let mut results = texts(&all, "result");
    results.sort();
    assert_eq!(
        results,
        ["0.25", "0.5", "12", "calm", "true"],
        "{binding:?}"
    );
    let one = format!("<s:observation>{id}</s:observation>");
    let found = binding.ask(house, "s:GetObservationById", &one);
    assert_eq!(texts(&found, "result"), ["0.25"], "{binding:?}");
    let features = format!("<s:procedure>{SENSOR}</s:procedure>{SPATIAL}");
    let found = binding.ask(house, "s:GetFeatureOfInterest", &features);
    assert_eq!(
        texts(&found, "identifier"),
        ["http://example.org/feature/7"]
    );
}

fn exchange_results(house: &House, binding: Binding) {
    let template = format!(
        r#"<s:proposedTemplate><s:ResultTemplate><sw:identifier>http://example.org/template/7</sw:identifier>
        <s:offering>{OFFERING}</s:offering><s:observationTemplate><o:OM_Observation g:id="template">
        <o:type x:href="http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement"/>
        <o:phenomenonTime nilReason="template"/><o:resultTime nilReason="template"/>
        <o:procedure x:href="{SENSOR}"/><o:observedProperty x:href="{WAVES}"/>
        <o:featureOfInterest x:href="http://example.org/feature/7"/><o:result/></o:OM_Observation>
        </s:observationTemplate><s:resultStructure><e:DataRecord><e:field name="phenomenonTime">
        <e:Time definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime">
        <e:uom x:href="http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"/></e:Time></e:field>
        <e:field name="waves"><e:Quantity definition="{WAVES}"><e:uom code="m"/></e:Quantity></e:field>
        </e:DataRecord></s:resultStructure><s:resultEncoding><e:TextEncoding tokenSeparator="\#" blockSeparator="@"/>
        </s:resultEncoding></s:ResultTemplate></s:proposedTemplate>"#
    )
    .replace("\\#", "#");
    binding.ask(house, "s:InsertResultTemplate", &template);
    let values = "<s:template>http://example.org/template/7</s:template><s:resultValues>\
        2@2026-03-01T02:00:00.000+01:00#0.75@2026-03-01T02:10:00.000+01:00#1.5@</s:resultValues>";
    binding.ask(house, "s:InsertResult", values);
    let names = format!(
        "<s:offering>{OFFERING}</s:offering><s:observedProperty>{WAVES}</s:observedProperty>"
    );
    let found = binding.ask(house, "s:GetResultTemplate", &names);
    assert!(found.find("TextEncoding").is_some(), "{binding:?}");
    let later = TEMPORAL
        .replace("01:09:00", "01:59:00")
        .replace("01:10:30", "02:05:00");
    let found = binding.ask(house, "s:GetResult", &(names + &later + SPATIAL));
    assert_eq!(
        texts(&found, "resultValues"),
        ["1\n2026-03-01T01:00:00Z,0.75"]
    );
}

/// [SOS2-13.1-1] [SOS2-13.5-1]
#[test]
fn a_sensors_life_is_told_in_every_binding() {
    for binding in Binding::ALL {
        let house = house();
        let accept = "<w:AcceptVersions><w:Version>2.0.0</w:Version></w:AcceptVersions>\
             <w:Sections><w:Section>OperationsMetadata</w:Section>\
             <w:Section>Contents</w:Section></w:Sections>";
        let root = binding.ask(&house, "s:GetCapabilities", accept);
        assert!(root.find("OperationsMetadata").is_some(), "{binding:?}");
        let root = binding.ask(&house, "sw:InsertSensor", INSERT_SENSOR);
        assert_eq!(texts(&root, "assignedOffering"), [OFFERING]);
        binding.ask(&house, "s:InsertObservation", &insert_observations());
        read(&house, binding);
        exchange_results(&house, binding);
        let root = binding.ask(&house, "s:GetCapabilities", "");
        assert_eq!(
            texts(root.find("ObservationOffering").unwrap(), "name"),
            ["Buoy"]
        );
        let procedure = format!("<sw:procedure>{SENSOR}</sw:procedure>");
        let format =
            format!("<sw:procedureDescriptionFormat>{SML}</sw:procedureDescriptionFormat>");
        let root = binding.ask(&house, "sw:DescribeSensor", &(procedure.clone() + &format));
        assert!(root.find("capabilities").is_some(), "{binding:?}");
        let update = format!(
            "{procedure}{format}<sw:description><sw:SensorDescription><sw:data><l:PhysicalSystem g:id=\"new\">\
             <g:identifier codeSpace=\"uniqueID\">{SENSOR}</g:identifier></l:PhysicalSystem></sw:data>\
             </sw:SensorDescription></sw:description>"
        );
        let root = binding.ask(&house, "sw:UpdateSensorDescription", &update);
        assert_eq!(texts(&root, "updatedProcedure"), [SENSOR]);
        let root = binding.ask(&house, "sw:DeleteSensor", &procedure);
        assert_eq!(texts(&root, "deletedProcedure"), [SENSOR]);
        let root = binding.ask(&house, "s:GetCapabilities", "");
        assert!(root.find("ObservationOffering").is_none(), "{binding:?}");
    }
}

/// [SOS2-13.2-1]
#[test]
fn key_value_pairs_with_all_that_is_optional_are_understood() {
    let house = house();
    let pox = Binding::Pox;
    pox.ask(&house, "sw:InsertSensor", INSERT_SENSOR);
    pox.ask(&house, "s:InsertObservation", &insert_observations());
    exchange_results(&house, pox);
    let spaces = "namespaces=xmlns(om,http://www.opengis.net/om/2.0),\
        xmlns(sams,http://www.opengis.net/samplingSpatial/2.0)";
    let place =
        "spatialFilter=om:featureOfInterest/*/sams:shape,51,7,52,8,urn:ogc:def:crs:EPSG::4326";
    let time = "temporalFilter=om:phenomenonTime,2026-03-01T01:09:00.000+01:00\
        /2026-03-01T01:10:30.000+01:00";
    let names = format!("version=2.0.0&offering={OFFERING}&observedProperty={WAVES}");
    let query = format!(
        "Request=GetObservation&{names}&procedure={SENSOR}&featureOfInterest=http://example.org/feature/7\
         &{spaces}&{place}&{time}&responseFormat=http://www.opengis.net/om/2.0&MergeObservationsIntoDataArray=true"
    );
    let found = house.document(&query);
    assert_eq!(texts(&found, "result"), ["0.25"]);
    let id = texts(&found, "identifier").remove(0);
    for (query, local, expected) in [
        (
            format!("request=GetObservationById&version=2.0.0&observation={id}"),
            "result",
            "0.25",
        ),
        (
            format!(
                "request=GetFeatureOfInterest&version=2.0.0&procedure={SENSOR}&{spaces}&{place}"
            ),
            "identifier",
            "http://example.org/feature/7",
        ),
        (
            format!("request=GetObservation&{names}&temporalFilter=om:phenomenonTime,latest"),
            "result",
            "1.5",
        ),
        (
            format!("request=GetResult&{names}&{spaces}&{place}&{time}"),
            "resultValues",
            "1\n2026-03-01T00:10:00Z,0.25",
        ),
    ] {
        assert_eq!(texts(&house.document(&query), local), [expected], "{query}");
    }
    let capabilities =
        "request=GetCapabilities&AcceptVersions=2.0.0,1.0.0&sections=ServiceIdentification";
    assert_eq!(xml(&house.get(capabilities)).local, "Capabilities");
    let delete = format!("request=DeleteSensor&version=2.0.0&procedure={SENSOR}");
    let deleted = xml(&house.form(&delete));
    assert_eq!(texts(&deleted, "deletedProcedure"), [SENSOR]);
}
