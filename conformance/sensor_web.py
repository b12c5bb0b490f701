"""Decoders of the formats of OGC and of W3C's graphs and EXI, by ElementTree, rdflib and EXIficient: bytes to a list of
observations with the keys of `decoders`, times still as text."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import urllib.parse
import xml.etree.ElementTree as ElementTree

import rdflib

import skips

XLINK = "{http://www.w3.org/1999/xlink}href"
NAMES = {"procedure": "sensor", "observedProperty": "type", "featureOfInterest": "feature"}


def local(element):
    return element.tag.rpartition("}")[2]


def first(element, name):
    """The first element below of this local name."""
    return next((found for found in element.iter() if local(found) == name), None)


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def links(element):
    """What an observation refers to."""
    found = {}
    for child in element:
        href = child.get(XLINK, "")
        if local(child) in NAMES and href and not href.startswith("urn:ogc:def:nil:"):
            found[NAMES[local(child)]] = href
    return found


def position(element):
    """The first position below an element."""
    found = first(element, "pos")
    if found is None:
        return {}
    latitude, longitude = map(float, found.text.split())
    return {"lat": latitude, "lon": longitude}


def om(data):
    """O&M 2.0: parameters hold what O&M has no place for."""
    observations = []
    for element in ElementTree.fromstring(data).iter("{http://www.opengis.net/om/2.0}OM_Observation"):
        found = {**links(element), **position(element)}
        for parameter in element.iter("{http://www.opengis.net/om/2.0}NamedValue"):
            name, value = parameter
            found[name.get(XLINK).removeprefix("urn:weir:")] = value.text
        time = first(element, "timePosition")
        if time is not None:
            found["time"] = time.text
        result = first(element, "result")
        if result.get("uom"):
            found["unit"] = result.get("uom")
        found["value"] = float(result.text) if is_number(result.text) else result.text
        observations.append(found)
    return observations


def om1(data):
    """O&M 1.0: a block of values, described by the fields of a record."""
    observations = []
    for element in ElementTree.fromstring(data).iter("{http://www.opengis.net/om/1.0}Observation"):
        common = {**links(element), **position(element)}
        for parameter in element.iter("{http://www.opengis.net/om/1.0}parameter"):
            common[parameter[0].get("definition").removeprefix("urn:weir:")] = first(parameter, "value").text
        unit = first(element, "uom")
        if unit is not None:
            common["unit"] = unit.get("code") or unit.get(XLINK)
        fields = [field.get("name") for field in element.iter() if local(field) == "field"]
        block = first(element, "TextBlock")
        for record in first(element, "values").text.strip(block.get("blockSeparator")).split(block.get("blockSeparator")):
            observations.append({**common, **tokens(fields, record.split(block.get("tokenSeparator")))})
    return observations


def tokens(fields, record):
    found = {name: token for name, token in zip(fields, record, strict=True) if token}
    return {name: float(text) if is_number(text) else text for name, text in found.items()}


def swe_text(data):
    """Records, described by lines that begin with `#`."""
    described, observations = [], []
    for line in data.decode().splitlines():
        if line.startswith("#"):
            described.append(json.loads(line[1:]))
            continue
        record = line.split(",")
        names = described[int(record[0]) if described[-1]["fields"][0] == "stream" else -1]
        fields = names["fields"]
        named = {key: value for key, value in names.items() if key not in ("fields", "elementCount")}
        observations.append({**named, **tokens(fields, record)})
    return observations


SOSA = rdflib.Namespace("http://www.w3.org/ns/sosa/")
TIME = rdflib.Namespace("http://www.w3.org/2006/time#")
QUDT = rdflib.Namespace("http://qudt.org/schema/qudt/")
GEO = rdflib.Namespace("http://www.w3.org/2003/01/geo/wgs84_pos#")
WEIR = rdflib.Namespace("urn:weir:")


def name(node):
    """What a resource is called; weir's own space holds names that are no IRIs."""
    return node and urllib.parse.unquote(str(node).removeprefix("urn:weir:name:"))


def graph(syntax):
    def decode(data):
        found = rdflib.Graph().parse(data=data, format=syntax)
        return [observation(found, node) for node in found.subjects(rdflib.RDF.type, SOSA.Observation)]

    return decode


def observation(found, node):
    def plain(*path):
        value = node
        for step in path:
            value = value is not None and found.value(value, step) or None
        return None if value is None else value.toPython()

    return {
        "topic": plain(WEIR.topic),
        "sensor": name(found.value(node, SOSA.madeBySensor)),
        "type": name(found.value(node, SOSA.observedProperty)),
        "value": plain(SOSA.hasSimpleResult),
        "unit": str(plain(SOSA.hasResult, QUDT.hasUnit, QUDT.ucumCode) or "") or None,
        "time": str(plain(SOSA.phenomenonTime, TIME.inXSDDateTimeStamp) or "") or None,
        "lat": plain(GEO.location, GEO.lat),
        "lon": plain(GEO.location, GEO.long),
    }


JAVA = pathlib.Path(__file__).resolve().parent.parent / "build/java"
SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "crates/codec/schema/weir.xsd"
JARS = ("exificient-1*", "exificient-core*", "exificient-grammars*", "xercesImpl*", "xml-apis*", "slf4j-api*")


def needs_exificient(test):
    if not shutil.which("java") or not any(JAVA.glob("exificient-1*.jar")):
        skips.skip(test, "EXIficient is not installed (no Java or Maven)")


def exificient_encodes(document, *options):
    """A document as EXI, with the options in the header."""
    jars = [str(next(JAVA.glob(f"{name}.jar"), name)) for name in JARS]
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in.xml"), pathlib.Path(folder, "out.exi")
        source.write_bytes(document)
        command = ["java", "-cp", ":".join(jars), "com.siemens.ct.exi.main.cmd.EXIficientCMD", "-encode"]
        command += ["-includeOptions", *options, "-i", str(source), "-o", str(target)]
        subprocess.run(command, capture_output=True, check=True)
        return target.read_bytes()


def exi(schema=False):
    """EXI to XML by EXIficient, which takes the options from the header."""

    def decode(data):
        jars = [str(next(JAVA.glob(f"{name}.jar"), name)) for name in JARS]
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "in.exi"), pathlib.Path(folder, "out.xml")
            source.write_bytes(data)
            command = ["java", "-cp", ":".join(jars), "com.siemens.ct.exi.main.cmd.EXIficientCMD", "-decode"]
            command += ["-i", str(source), "-o", str(target)]
            command += ["-schema", str(SCHEMA)] if schema else []
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if not target.exists() or not target.stat().st_size:
                raise AssertionError(f"EXIficient: {done.stdout}{done.stderr}")
            return target.read_bytes()

    return decode
