"""Requests of the shapes that 52North publishes with its server (52North/SOS, static/examples): which elements, where,
in what order, with what extensions. The documents are ours."""

LAKE = "http://example.org/lake"
OFFERING, SENSOR, FEATURE = f"{LAKE}/offering/1", f"{LAKE}/procedure/1", f"{LAKE}/feature/1"
SYSTEM, MAST = f"{LAKE}/offering/system", f"{LAKE}/procedure/system"
NAMES = """service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
 xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:swe="http://www.opengis.net/swe/2.0"
 xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:gml="http://www.opengis.net/gml/3.2"
 xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:om="http://www.opengis.net/om/2.0"
 xmlns:sams="http://www.opengis.net/samplingSpatial/2.0" xmlns:sf="http://www.opengis.net/sampling/2.0"
 xmlns:fes="http://www.opengis.net/fes/2.0" xmlns:xs="http://www.w3.org/2001/XMLSchema"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://www.opengis.net/sos/2.0 http://schemas.opengis.net/sos/2.0/sos.xsd" """
OLD_NAMES = NAMES.replace("swe/2.0", "swe/1.0.1").replace("sensorml/2.0", "sensorML/1.0.1").replace("/gml/3.2", "/gml")
SML, SML101 = "http://www.opengis.net/sensorml/2.0", "http://www.opengis.net/sensorML/1.0.1"
KINDS = "http://www.opengis.net/def/observationType/OGC-OM/2.0"
POINT = "http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingPoint"
WGS84 = "http://www.opengis.net/def/crs/EPSG/0/4326"
TYPES = (
    "Measurement",
    "CategoryObservation",
    "CountObservation",
    "TextObservation",
    "TruthObservation",
    "GeometryObservation",
    "ComplexObservation",
    "SWEArrayObservation",
    "ReferenceObservation",
)
PROPERTIES = ("condition", "count", "height", "note", "frozen", "place", "waves", "weather", "link")


def xml(request):
    """A request as a document, with what may stand around it."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- ours -->\n{request}\n'


def soap(request):
    """The same in an envelope of SOAP 1.2."""
    space = "http://www.w3.org/2003/05/soap-envelope"
    return f'<env:Envelope xmlns:env="{space}"><env:Body>{request}</env:Body></env:Envelope>'


def metadata():
    properties = "".join(f"<swes:observableProperty>{LAKE}/{name}</swes:observableProperty>" for name in PROPERTIES)
    types = "".join(f"<sos:observationType>{KINDS}/OM_{name}</sos:observationType>" for name in TYPES)
    return f"""<!-- multiple values possible -->{properties}<swes:metadata><sos:SosInsertionMetadata>{types}
      <sos:featureOfInterestType>{POINT}</sos:featureOfInterestType></sos:SosInsertionMetadata></swes:metadata>"""


def position():
    axes = (("easting", "x", "degree", "7.5"), ("northing", "y", "degree", "47.5"), ("altitude", "z", "m", "395"))
    return "".join(
        f"""<swe:coordinate name="{name}"><swe:Quantity axisID="{axis}"><swe:uom code="{unit}"/>
        <swe:value>{value}</swe:value></swe:Quantity></swe:coordinate>"""
        for name, axis, unit, value in axes
    )


def description(procedure=SENSOR, offerings=((OFFERING, "Lake #1"),), attached="http://example.org/unknown"):
    """A system of SensorML 2.0 with offerings of names of their own."""
    own = "".join(
        f"""<sml:capability name="offeringID"><swe:Text definition="urn:ogc:def:identifier:OGC:offeringID">
        <swe:label>{name}</swe:label><swe:value>{uri}</swe:value></swe:Text></sml:capability>"""
        for uri, name in offerings
    )
    return f"""<sml:PhysicalSystem gml:id="lake1"><!-- unique -->
      <gml:identifier codeSpace="uniqueID">{procedure}</gml:identifier>
      <sml:identification><sml:IdentifierList><sml:identifier>
      <sml:Term definition="urn:ogc:def:identifier:OGC:1.0:longName"><sml:label>longName</sml:label>
      <sml:value>A buoy in the lake</sml:value></sml:Term></sml:identifier></sml:IdentifierList></sml:identification>
      <sml:capabilities name="offerings"><sml:CapabilityList>{own}</sml:CapabilityList></sml:capabilities>
      <sml:capabilities name="metadata"><sml:CapabilityList><sml:capability name="mobile">
      <swe:Boolean definition="mobile">
      <swe:value>false</swe:value></swe:Boolean></sml:capability></sml:CapabilityList></sml:capabilities>
      <sml:featuresOfInterest><sml:FeatureList definition="http://www.opengis.net/def/featureOfInterest/identifier">
      <swe:label>featuresOfInterest</swe:label><sml:feature xlink:href="{FEATURE}"/></sml:FeatureList>
      </sml:featuresOfInterest>
      <sml:inputs><sml:InputList><sml:input name="lake"><sml:ObservableProperty definition="{LAKE}/water"/></sml:input>
      </sml:InputList></sml:inputs><sml:outputs><sml:OutputList>
      <sml:output name="count"><swe:Count definition="{LAKE}/count"/></sml:output>
      <sml:output name="height"><swe:Quantity definition="{LAKE}/height"><swe:uom code="m"/></swe:Quantity></sml:output>
      <sml:output name="weather"><swe:DataRecord><swe:field name="air"><swe:Quantity definition="{LAKE}/air">
      <swe:uom code="Cel"/></swe:Quantity></swe:field></swe:DataRecord></sml:output></sml:OutputList></sml:outputs>
      <sml:attachedTo xlink:href="{attached}" xlink:title="{attached}"/>
      <sml:position><swe:Vector referenceFrame="urn:ogc:def:crs:EPSG::4326">{position()}</swe:Vector></sml:position>
      </sml:PhysicalSystem>"""


def insert_sensor(inner=None, form=SML, names=NAMES):
    return f"""<swes:InsertSensor {names}><swes:procedureDescriptionFormat>{form}</swes:procedureDescriptionFormat>
      <swes:procedureDescription>{inner or description()}</swes:procedureDescription>{metadata()}</swes:InsertSensor>"""


def old_description():
    """A system of SensorML 1.0.1; the field's name is the offering's."""

    def field(name, value, definition=""):
        return f"""<swe:SimpleDataRecord><swe:field name="{name}"><swe:Text{definition}><swe:value>{value}</swe:value>
          </swe:Text></swe:field></swe:SimpleDataRecord>"""

    identifies = ' definition="urn:ogc:def:identifier:OGC:offeringID"'
    return f"""<sml:SensorML version="1.0.1"><sml:member><sml:System><sml:identification><sml:IdentifierList>
      <sml:identifier name="uniqueID"><sml:Term definition="urn:ogc:def:identifier:OGC:1.0:uniqueID">
      <sml:value>{SENSOR}</sml:value></sml:Term></sml:identifier></sml:IdentifierList></sml:identification>
      <sml:capabilities name="offerings">{field("Lake #1", OFFERING, identifies)}</sml:capabilities>
      <sml:capabilities name="parentProcedures">{field("parentProcedure", MAST)}</sml:capabilities>
      <sml:capabilities name="featuresOfInterest">{field("featureOfInterestID", FEATURE)}</sml:capabilities>
      <sml:position name="sensorPosition"><swe:Position referenceFrame="urn:ogc:def:crs:EPSG::4326"><swe:location>
      <swe:Vector gml:id="STATION_LOCATION">{position()}</swe:Vector></swe:location></swe:Position></sml:position>
      <sml:inputs><sml:InputList><sml:input name="lake"><swe:ObservableProperty definition="{LAKE}/water"/></sml:input>
      </sml:InputList></sml:inputs><sml:outputs><sml:OutputList><sml:output name="count">
      <swe:Count definition="{LAKE}/count"/></sml:output></sml:OutputList></sml:outputs>
      </sml:System></sml:member></sml:SensorML>"""


def component():
    """A component that is attached to a system by its title."""
    return f"""<sml:PhysicalComponent gml:id="cup">
      <gml:identifier codeSpace="uniqueID">{LAKE}/procedure/cup</gml:identifier>
      <sml:typeOf xlink:title="cups"/><sml:parameters><sml:ParameterList><sml:parameter name="gain">
      <swe:Quantity definition="{LAKE}/gain"><swe:label>Gain</swe:label><swe:uom code="dB"/><swe:value>20</swe:value>
      </swe:Quantity></sml:parameter></sml:ParameterList></sml:parameters>
      <sml:attachedTo xlink:title="{MAST}"/></sml:PhysicalComponent>"""


def place(number, system=WGS84, coordinates="47.5 7.5"):
    """A feature of interest, inline."""
    return f"""<om:featureOfInterest><sams:SF_SpatialSamplingFeature gml:id="ssf{number}">
      <gml:identifier codeSpace="">{FEATURE}</gml:identifier><gml:name>The lake</gml:name>
      <sf:type xlink:href="{POINT}"/>
      <sf:sampledFeature xlink:href="{LAKE}/world"/><sams:shape><gml:Point gml:id="p{number}">
      <gml:pos srsName="{system}">{coordinates}</gml:pos></gml:Point></sams:shape></sams:SF_SpatialSamplingFeature>
      </om:featureOfInterest>"""


def instant(number, hour):
    return f"""<om:phenomenonTime><gml:TimeInstant gml:id="t{number}">
      <gml:timePosition>2026-03-0{hour}T12:00:00.000+00:00
      </gml:timePosition></gml:TimeInstant></om:phenomenonTime><om:resultTime xlink:href="#t{number}"/>"""


def observation(number, kind, name, result, parameters="", feature=None, times=None, procedure=SENSOR):
    """One: `number` makes its identifiers, and the day of its time."""
    return f"""<sos:observation><om:OM_Observation gml:id="o{number}"><gml:description>ours</gml:description>
      <gml:identifier codeSpace="">{LAKE}/observation/{number}</gml:identifier><om:type xlink:href="{KINDS}/OM_{kind}"/>
      {times or instant(number, number)}<om:procedure xlink:href="{procedure}"/>{parameters}
      <om:observedProperty xlink:href="{LAKE}/{name}"/>{feature or place(number)}{result}
      </om:OM_Observation></sos:observation>"""


def insert(*observations, offerings=(OFFERING,), extension=""):
    own = "".join(f"<sos:offering>{offering}</sos:offering>" for offering in offerings)
    return f"""<sos:InsertObservation {NAMES}>{extension}<!-- multiple offerings are possible -->{own}
      {"".join(observations)}</sos:InsertObservation>"""


CATEGORY = '<om:result xsi:type="gml:ReferenceType" xlink:href="calm"/>'
REFERENCE = '<om:result xsi:type="gml:ReferenceType" xlink:href="urn:x:link" xlink:title="title" xlink:role="role"/>'
COUNT = '<om:result xsi:type="xs:integer">15</om:result>'
MEASURE = '<om:result xsi:type="gml:MeasureType" uom="m">0.28</om:result>'
TEXT = '<om:result xsi:type="xs:string">a note</om:result>'
TRUTH = '<om:result xsi:type="xs:boolean">true</om:result>'
GEOMETRY = f"""<om:result xsi:type="gml:GeometryPropertyType"><gml:Point gml:id="v">
  <gml:pos srsName="{WGS84}">47.9 7.5</gml:pos>
  </gml:Point></om:result>"""
COMPLEX = f"""<om:result xsi:type="swe:DataRecordPropertyType"><swe:DataRecord>
  <swe:field name="air"><swe:Quantity definition="{LAKE}/air"><swe:uom code="Cel"/><swe:value>18.5</swe:value>
  </swe:Quantity></swe:field>
  <swe:field name="sky"><swe:Category definition="{LAKE}/sky"><swe:codeSpace xlink:href="NOT_DEFINED"/>
  <swe:value>sunny</swe:value>
  </swe:Category></swe:field><swe:field name="birds"><swe:Count definition="{LAKE}/birds"><swe:value>35</swe:value>
  </swe:Count></swe:field>
  <swe:field name="said"><swe:Text definition="{LAKE}/said"><swe:value>by hand</swe:value></swe:Text></swe:field>
  <swe:field name="freezing"><swe:Boolean definition="{LAKE}/freezing"><swe:value>false</swe:value></swe:Boolean>
  </swe:field>
  </swe:DataRecord></om:result>"""
PERIOD = """<om:phenomenonTime><gml:TimePeriod gml:id="ph">
  <gml:beginPosition>2026-03-07T12:00:00+02:00</gml:beginPosition>
  <gml:endPosition>2026-03-07T12:02:00+02:00</gml:endPosition></gml:TimePeriod></om:phenomenonTime><om:resultTime>
  <gml:TimeInstant gml:id="rt"><gml:timePosition>2026-03-07T12:05:00+02:00</gml:timePosition></gml:TimeInstant>
  </om:resultTime>"""
ARRAY = f"""<om:result xsi:type="swe:DataArrayPropertyType"><swe:DataArray><swe:elementCount><swe:Count>
  <swe:value>3</swe:value>
  </swe:Count></swe:elementCount><swe:elementType name="defs"><swe:DataRecord><swe:field name="phenomenonTime">
  <swe:Time definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime">
  <swe:uom xlink:href="http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"/></swe:Time></swe:field>
  <swe:field name="waves">
  <swe:Quantity definition="{LAKE}/waves"><swe:uom code="m"/></swe:Quantity></swe:field></swe:DataRecord>
  </swe:elementType>
  <swe:encoding><swe:TextEncoding tokenSeparator="#" blockSeparator="@"/></swe:encoding><swe:values>
  2026-03-07T12:00:00+02:00#0.5@2026-03-07T12:01:00+02:00#0.75@2026-03-07T12:02:00+02:00#1.25
  </swe:values></swe:DataArray></om:result>"""
SPLIT = """<swes:extension><swe:Boolean definition="SplitDataArrayIntoObservations"><swe:value>true</swe:value>
  </swe:Boolean>
  </swes:extension>"""


def parameter(name, value):
    return f'<om:parameter><om:NamedValue><om:name xlink:href="{name}"/>{value}</om:NamedValue></om:parameter>'


PARAMETERS = "".join(
    parameter(*pair)
    for pair in (
        ("quantity", '<om:value xsi:type="gml:MeasureType" uom="cm">5.0</om:value>'),
        ("truth", '<om:value xsi:type="xs:boolean">true</om:value>'),
        ("category", '<om:value xsi:type="gml:ReferenceType" xlink:href="calm"/>'),
        ("count", '<om:value xsi:type="xs:integer">3</om:value>'),
        ("text", '<om:value xsi:type="xs:string">words</om:value>'),
    )
)
DEPTH = parameter(
    "http://www.opengis.net/def/param-name/OGC-OM/2.0/depth",
    """<om:value xsi:type="swe:QuantityPropertyType"><swe:Quantity
    definition="http://www.opengis.net/def/param-name/OGC-OM/2.0/depth"><swe:uom code="cm"/><swe:value>5.0</swe:value>
    </swe:Quantity></om:value>""",
)
HERE = parameter(
    "http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry",
    f"""<om:value xsi:type="gml:GeometryPropertyType"><gml:Point gml:id="here"><gml:description>here</gml:description>
    <gml:identifier codeSpace="">here</gml:identifier><gml:name>here</gml:name>
    <gml:pos srsName="{WGS84}">47.9 7.9</gml:pos>
    </gml:Point></om:value>""",
)


def multiple():
    """Several in one, the later referring to the time and the feature of the first."""
    times = '<om:phenomenonTime xlink:href="#t1"/><om:resultTime xlink:href="#t1"/>'
    feature = '<om:featureOfInterest xlink:href="#ssf1"/>'
    rest = (
        ("CountObservation", "count", COUNT),
        ("Measurement", "height", MEASURE),
        ("TextObservation", "note", TEXT),
        ("TruthObservation", "frozen", TRUTH),
    )
    others = (observation(number + 2, *one, feature=feature, times=times) for number, one in enumerate(rest))
    return insert(observation(1, "CategoryObservation", "condition", CATEGORY), *others)


def template(number, name, fields, kind="Measurement", feature=None):
    return f"""<sos:InsertResultTemplate {NAMES}><sos:proposedTemplate><!-- after InsertSensor --><sos:ResultTemplate>
      <swes:identifier>{LAKE}/template/{number}</swes:identifier><sos:offering>{OFFERING}</sos:offering>
      <sos:observationTemplate><om:OM_Observation gml:id="template"><om:type xlink:href="{KINDS}/OM_{kind}"/>
      <om:phenomenonTime nilReason="template"/><om:resultTime nilReason="template"/>
      <om:procedure xlink:href="{SENSOR}"/>
      <om:observedProperty xlink:href="{LAKE}/{name}"/>{feature or place(1)}<om:result/></om:OM_Observation>
      </sos:observationTemplate><sos:resultStructure><swe:DataRecord>{fields}</swe:DataRecord></sos:resultStructure>
      <sos:resultEncoding><swe:TextEncoding tokenSeparator="#" blockSeparator="@"/></sos:resultEncoding>
      </sos:ResultTemplate>
      </sos:proposedTemplate></sos:InsertResultTemplate>"""


def time_field(component="Time", meaning="PhenomenonTime"):
    return f"""<swe:field name="{meaning}">
      <swe:{component} definition="http://www.opengis.net/def/property/OGC/0/{meaning}">
      <swe:uom xlink:href="http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"/></swe:{component}></swe:field>"""


def field(name, component, inner=""):
    return f'<swe:field name="{name}"><swe:{component} definition="{LAKE}/{name}">{inner}</swe:{component}></swe:field>'


def axis(name, short):
    return f"""<swe:coordinate name="{name}"><swe:Quantity definition="{name}" axisID="{short}"><swe:uom code="deg"/>
      </swe:Quantity></swe:coordinate>"""


GEOMETRY_FIELD = f"""<swe:field name="samplingGeometry"><swe:Vector
  definition="http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry" referenceFrame="{WGS84}">
  {axis("latitude", "lat")}{axis("longitude", "lon")}</swe:Vector></swe:field>"""
METRES = '<swe:uom code="m"/>'


def insert_result(number, values):
    return f"""<sos:InsertResult {NAMES}><sos:template>{LAKE}/template/{number}</sos:template>
      <sos:resultValues>{values}</sos:resultValues></sos:InsertResult>"""


def get_observation(inner):
    return f"<sos:GetObservation {NAMES}>{inner}</sos:GetObservation>"


def during(begin, end, reference="phenomenonTime"):
    return f"""<sos:temporalFilter><fes:During><fes:ValueReference>{reference}</fes:ValueReference>
      <gml:TimePeriod gml:id="tp"><gml:beginPosition>{begin}</gml:beginPosition><gml:endPosition>{end}</gml:endPosition>
      </gml:TimePeriod></fes:During></sos:temporalFilter>"""


def equals(time, reference="phenomenonTime"):
    return f"""<sos:temporalFilter><fes:TEquals><fes:ValueReference>{reference}</fes:ValueReference>
      <gml:TimeInstant gml:id="ti"><gml:timePosition>{time}</gml:timePosition></gml:TimeInstant></fes:TEquals>
      </sos:temporalFilter>"""


def box(reference, lower, upper):
    return f"""<sos:spatialFilter><fes:BBOX><fes:ValueReference>
      {reference}
      </fes:ValueReference><gml:Envelope srsName="{WGS84}"><gml:lowerCorner>{lower}</gml:lowerCorner>
      <gml:upperCorner>{upper}</gml:upperCorner></gml:Envelope></fes:BBOX></sos:spatialFilter>"""


SHAPE = "om:featureOfInterest/sams:SF_SpatialSamplingFeature/sams:shape"


def result_filter(literal):
    return f"""<swes:extension><sosrf:ResultFilter xmlns:sosrf="http://www.opengis.net/sosrf/1.0">
      <fes:PropertyIsEqualTo>
      <fes:ValueReference>.</fes:ValueReference><fes:Literal>{literal}</fes:Literal></fes:PropertyIsEqualTo>
      </sosrf:ResultFilter></swes:extension>"""


UPDATE = f"""<swes:UpdateSensorDescription {NAMES}><swes:procedure>{SENSOR}</swes:procedure>
  <swes:procedureDescriptionFormat>{SML}</swes:procedureDescriptionFormat><swes:description><swes:SensorDescription>
  <swes:data>
  {description(offerings=((OFFERING, "Lake, renamed"), (f"{LAKE}/offering/2", "Lake #2")))}</swes:data>
  </swes:SensorDescription></swes:description></swes:UpdateSensorDescription>"""
