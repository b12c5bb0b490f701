"""Requests as the tests send them, and answers against OGC's schemas."""

import io

from ogc_schemas import archive, schema

SOS2 = (
    ("http://www.opengis.net/sos/2.0", "sos/2.0/sos.xsd"),
    ("http://www.opengis.net/swes/2.0", "swes/2.0/swes.xsd"),
    ("http://www.opengis.net/sampling/2.0", "sampling/2.0/samplingFeature.xsd"),
    ("http://www.opengis.net/samplingSpatial/2.0", "samplingSpatial/2.0/spatialSamplingFeature.xsd"),
    ("http://www.opengis.net/sensorml/2.0", "sensorML/2.0/sensorML.xsd"),
    ("http://www.opengis.net/ows/1.1", "ows/1.1.0/owsAll.xsd"),
)
SOS1 = (
    ("http://www.opengis.net/sos/1.0", "sos/1.0.0/sosAll.xsd"),
    ("http://www.opengis.net/om/1.0", "om/1.0.0/om.xsd"),
    ("http://www.opengis.net/sampling/1.0", "sampling/1.0.0/sampling.xsd"),
    ("http://www.opengis.net/sensorML/1.0.1", "sensorML/1.0.1/sensorML.xsd"),
    ("http://www.opengis.net/ows/1.1", "ows/1.1.0/owsAll.xsd"),
)
SPECIALIZED = (
    ("http://www.opengis.net/om/1.0", "om/1.0.0/extensions/observationSpecialization_override.xsd"),
    ("http://www.opengis.net/sampling/1.0", "sampling/1.0.0/sampling.xsd"),
)
"""Result models of O&M 1.0 beside om:Observation: sosAll.xsd brings this namespace without them."""


def check(test, imports, document):
    """Fails unless the document is valid."""
    archive(test).close()
    schema(*imports).validate(io.StringIO(document.decode().partition("?>\n")[2] or document.decode()))


NAMES = """service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
 xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
 xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:swe="http://www.opengis.net/swe/2.0"
 xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" """
TYPES = "http://www.opengis.net/def/observationType/OGC-OM/2.0"
POINT = "http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingPoint"


def insert_sensor(sensor, offering=None, observes="urn:p:level", related=""):
    """One that is offered under a name of its own, where that is said; `related` are elements of related features."""
    named = f"""<sml:capabilities name="offerings"><sml:CapabilityList><sml:capability name="offeringID"><swe:Text
      definition="http://www.opengis.net/def/offering/identifier"><swe:value>{offering}</swe:value></swe:Text>
      </sml:capability></sml:CapabilityList></sml:capabilities>""" if offering else ""
    return f"""<swes:InsertSensor {NAMES}>
<swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
<swes:procedureDescription><sml:PhysicalSystem gml:id="s"><gml:identifier codeSpace="uniqueID">{sensor}</gml:identifier>
{named}</sml:PhysicalSystem></swes:procedureDescription><swes:observableProperty>{observes}</swes:observableProperty>
{related}<swes:metadata><sos:SosInsertionMetadata><sos:observationType>{TYPES}/OM_Measurement</sos:observationType>
<sos:featureOfInterestType>{POINT}</sos:featureOfInterestType></sos:SosInsertionMetadata></swes:metadata>
</swes:InsertSensor>"""


INSERT_SENSOR = insert_sensor("urn:s:gauge", related="""<swes:relatedFeature><swes:FeatureRelationship>
<swes:role>urn:r:samples</swes:role><swes:target xlink:href="urn:f:river"/></swes:FeatureRelationship></swes:relatedFeature>
""")


def observation(number, sensor="urn:s:gauge", observes="urn:p:level"):
    """One, a second after the one before."""
    time = f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return f"""<sos:observation><om:OM_Observation gml:id="o{number}"><om:type xlink:href="{TYPES}/OM_Measurement"/>
<om:phenomenonTime><gml:TimeInstant gml:id="t{number}"><gml:timePosition>{time}</gml:timePosition></gml:TimeInstant>
</om:phenomenonTime><om:resultTime xlink:href="#t{number}"/><om:procedure xlink:href="{sensor}"/>
<om:observedProperty xlink:href="{observes}"/><om:featureOfInterest xlink:href="urn:f:river"/>
<om:result xsi:type="gml:MeasureType" uom="m">{number / 100}</om:result></om:OM_Observation></sos:observation>"""


def insert_observation(offering, *observations):
    return f"""<sos:InsertObservation {NAMES}><sos:offering>{offering}</sos:offering>{"".join(observations)}
</sos:InsertObservation>"""


def insert_observations(count, first=0):
    """A request that inserts so many, from this number on."""
    return insert_observation("urn:s:gauge/observations", *(observation(first + number) for number in range(count)))


def insert_template(sensor, name):
    return f"""<sos:InsertResultTemplate {NAMES}><sos:proposedTemplate><sos:ResultTemplate>
<swes:identifier>{name}</swes:identifier><sos:offering>{sensor}/observations</sos:offering>
<sos:observationTemplate><om:OM_Observation gml:id="x"><om:phenomenonTime nilReason="template"/>
<om:resultTime nilReason="template"/><om:procedure xlink:href="{sensor}"/><om:observedProperty xlink:href="urn:p:level"/>
<om:featureOfInterest xlink:href="urn:f:river"/><om:result/></om:OM_Observation></sos:observationTemplate>
<sos:resultStructure><swe:DataRecord><swe:field name="time">
<swe:Time definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime"><swe:uom code="s"/></swe:Time></swe:field>
<swe:field name="level"><swe:Quantity definition="urn:p:level"><swe:uom code="m"/></swe:Quantity></swe:field>
</swe:DataRecord></sos:resultStructure>
<sos:resultEncoding><swe:TextEncoding tokenSeparator="," blockSeparator="@@"/></sos:resultEncoding>
</sos:ResultTemplate></sos:proposedTemplate></sos:InsertResultTemplate>"""


INSERT_TEMPLATE = insert_template("urn:s:gauge", "urn:t:1")

INSERT_RESULT = f"""<sos:InsertResult {NAMES}><sos:template>urn:t:1</sos:template>
<sos:resultValues>2026-02-01T00:00:00Z,1.5@@2026-02-01T00:01:00Z,1.75</sos:resultValues></sos:InsertResult>"""
