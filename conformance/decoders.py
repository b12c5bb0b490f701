"""Other people's decoders, one per format: bytes to a list of observations as plain dictionaries.

Keys are those of weir's JSON; `time` is seconds since 1970. A key is absent where the format or the
message does not carry it.
"""

import csv
import datetime
import functools
import io
import json
import pathlib
import re
import xml.etree.ElementTree as ElementTree

import bson
import cbor2
import msgpack
import pyamf
import pyarrow
import sensor_web
import ubjson
from block import decoder as block_decoder
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

NAMES = ("topic", "sensor", "type", "value", "unit", "time", "lat", "lon")


def seconds(time):
    """A time in any of the forms decoders give, as seconds since 1970."""
    if isinstance(time, str):
        return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
    if isinstance(time, datetime.datetime):
        return time.replace(tzinfo=time.tzinfo or datetime.timezone.utc).timestamp()
    if isinstance(time, msgpack.Timestamp):
        return time.seconds + time.nanoseconds / 1e9
    return float(time)


def plain_value(text):
    """A value of a format that has only text."""
    words = {"true": True, "false": False, "null": None, "": None}
    if text in words:
        return words[text]
    try:
        return float(text)
    except ValueError:
        return text


def named(observation):
    kept = {name: observation[name] for name in NAMES if observation.get(name) is not None}
    if "time" in kept:
        kept["time"] = seconds(kept["time"])
    return kept


def message(decoded):
    return [named(observation) for observation in decoded["observations"]]


def xml(data):
    observations = []
    for element in ElementTree.fromstring(data).iter():
        if element.tag.rpartition("}")[2] != "observation":
            continue
        texts = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
        numbers = {name: plain_value(texts[name]) for name in ("value", "lat", "lon") if name in texts}
        observations.append(named({**texts, **numbers}))
    return observations


def senml(records, keys):
    """RFC 8428 section 4.6: resolves base fields."""
    base, observations = {}, []
    for record in records:
        record = {keys.get(key, key): value for key, value in record.items()}
        base.update({key: value for key, value in record.items() if key.startswith("b")})
        value = next((record[key] for key in ("v", "vb", "vs") if key in record), None)
        if value is None:
            continue
        if "v" in record:
            value += base.get("bv", 0)
        observation = {"topic": base.get("bn", "") + record.get("n", ""), "value": value}
        if "t" in record or "bt" in base:
            observation["time"] = base.get("bt", 0) + record.get("t", 0)
        observation["unit"] = record.get("u", base.get("bu"))
        observations.append(named(observation))
    return observations


# RFC 8428 section 6, table 4.
SENML_LABELS = {-2: "bn", -3: "bt", -4: "bu", -5: "bv", -6: "bs", -1: "bver"}
SENML_LABELS |= {0: "n", 1: "u", 2: "v", 3: "vs", 4: "vb", 5: "s", 6: "t", 7: "ut", 8: "vd"}


def separated(data):
    rows = csv.DictReader(io.StringIO(data.decode()))
    observations = []
    for row in rows:
        numbers = {name: plain_value(row[name]) for name in ("value", "lat", "lon") if row.get(name)}
        observations.append(named({**{k: v for k, v in row.items() if v}, **numbers}))
    return observations


@functools.cache
def protobuf_class():
    """The message class, from the .proto that weir ships, without a compiler of it."""
    root = pathlib.Path(__file__).resolve().parent.parent
    text = next(root.glob("crates/codec/**/*.proto")).read_text()
    text = re.sub(r"//.*", "", text)
    file = descriptor_pb2.FileDescriptorProto(name="weir.proto", package="weir", syntax="proto3")
    field = re.compile(r"(optional|repeated)?\s*([A-Za-z0-9_]+)\s+([a-z_]+)\s*=\s*(\d+)\s*;")
    for name, body in re.findall(r"message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}", text):
        described = file.message_type.add(name=name)
        for label, kind, field_name, number in field.findall(body):
            add_field(described, label, kind, field_name, int(number))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("weir.Message"))


def add_field(described, label, kind, name, number):
    kinds = descriptor_pb2.FieldDescriptorProto
    field = described.field.add(name=name, number=number)
    field.label = kinds.LABEL_REPEATED if label == "repeated" else kinds.LABEL_OPTIONAL
    if kind[0].isupper():
        field.type, field.type_name = kinds.TYPE_MESSAGE, f".weir.{kind}"
    else:
        field.type = getattr(kinds, f"TYPE_{kind.upper()}")
    if label != "repeated" and not kind[0].isupper():
        described.oneof_decl.add(name=f"_{name}")
        field.oneof_index = len(described.oneof_decl) - 1
        field.proto3_optional = True


def protobuf(data):
    observations = []
    for row in protobuf_class().FromString(data).observations:
        found = {field.name: value for field, value in row.ListFields()}
        value = next((found[key] for key in ("number", "text", "truth", "json") if key in found), None)
        time = {"time": found["time"] / 1e9} if "time" in found else {}
        observations.append(named({**found, "value": value, **time}))
    return observations


def unpack(text):
    """The bytes of pbf-string: two in each code point, one in the last of an odd number."""
    data = bytearray()
    for character in text.removeprefix("\ufeff").rstrip("\r\n"):
        plane, code = divmod(ord(character), 0x10000)
        data += code.to_bytes(2 if plane < 2 else 1, "big")
    return bytes(data)


def influx(data):
    """Observations of weir in line protocol, without escapes that the tests do not send."""
    observations = []
    for line in data.decode().splitlines():
        series, fields, *time = re.split(r"(?<!\\) ", line)
        parts = [part.split("=", 1) for part in series.split(",")[1:] + fields.split(",")]
        found = {name: value for name, value in parts}
        numbers = {name: plain_value(found[name]) for name in ("value", "lat", "lon") if name in found}
        times = {"time": int(time[0]) / 1e9} if time else {}
        observations.append(named({**found, **numbers, **times}))
    return observations


def arrow(data):
    table = pyarrow.ipc.open_stream(data).read_all()
    index = table.schema.get_field_index("time")
    table = table.set_column(index, "time", table.column("time").cast(pyarrow.int64()))
    rows = table.to_pylist()
    return [named({**row, "time": row["time"] and row["time"] / 1e9}) for row in rows]


def gwt_tokens(answer):
    """The tokens of a GWT-RPC answer, forwards, strings in place of their numbers where told apart."""
    body = answer.strip().removeprefix("//OK").replace("].concat([", ",").rstrip(")")
    *tokens, table, flags, version = json.loads(re.sub(r"'([^']*)'", r'"\1"', re.sub(r"\\x", r"\\u00", body)))
    return [tokens[::-1], table, flags, version]


class Gwt:
    """A reader of GWT-RPC answers for the classes that weir sends, from their description alone."""

    DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$_"

    def __init__(self, answer):
        tokens, self.table, _, _ = gwt_tokens(answer)
        self.tokens, self.objects = iter(tokens), []

    def string(self):
        index = next(self.tokens)
        return self.table[index - 1] if index else None

    def object(self):
        index = next(self.tokens)
        if index <= 0:
            return self.objects[-index - 1] if index else None
        place = len(self.objects)
        self.objects.append(None)
        name = self.table[index - 1].split("/")[0].rpartition(".")[2]
        self.objects[place] = getattr(self, name)()
        return self.objects[place]

    def ArrayList(self):
        return [self.object() for _ in range(next(self.tokens))]

    def Timestamp(self):
        digits = functools.reduce(lambda sum, digit: sum * 64 + self.DIGITS.index(digit), next(self.tokens), 0)
        digits -= 2**64 if digits >= 2**63 else 0
        return digits // 1000 + next(self.tokens) / 1e9

    def Place(self):
        return [next(self.tokens), next(self.tokens)]

    def Extra(self):
        return [self.object(), self.string(), self.string(), self.string(), *(self.object() for _ in range(3))]

    def Observation(self):
        self.object()
        kind, number = next(self.tokens), next(self.tokens)
        lat, lon = self.object() or (None, None)
        names = {"sensor": self.string()}
        text = self.string()
        value = [None, number, bool(number), text, text][kind]
        names |= {name: read() for name, read in (("time", self.object), *((n, self.string) for n in ("topic", "type", "unit")))}
        return named({**names, "value": value, "lat": lat, "lon": lon})


def gwt(data):
    return Gwt(data.decode()).object()


def block(data):
    observations = block_decoder.decode(data)
    return [named({**found, "time": found["time"] / 1e9} if "time" in found else found) for found in observations]


DECODERS = {
    "json": lambda data: message(json.loads(data)),
    "plain": lambda data: [{"value": plain_value(line)} for line in data.decode().splitlines()],
    "xml": xml,
    "senml-json": lambda data: senml(json.loads(data), {}),
    "senml-cbor": lambda data: senml(cbor2.loads(data), SENML_LABELS),
    "cbor": lambda data: message(cbor2.loads(data)),
    "msgpack": lambda data: message(msgpack.unpackb(data)),
    "bson": lambda data: message(bson.decode(data, bson.CodecOptions(tz_aware=True))),
    "ubjson": lambda data: message(ubjson.loadb(data)),
    "protobuf": protobuf,
    "pbf-string": lambda data: protobuf(unpack(data.decode())),
    "amf3": lambda data: message(next(pyamf.decode(data, encoding=pyamf.AMF3, timezone_offset=None))),
    "gwt": gwt,
    "om": lambda data: [named(found) for found in sensor_web.om(data)],
    "om1": lambda data: [named(found) for found in sensor_web.om1(data)],
    "swe-text": lambda data: [named(found) for found in sensor_web.swe_text(data)],
    "exi": lambda data: xml(sensor_web.exi()(data)),
    "exi-c": lambda data: xml(sensor_web.exi()(data)),
    "exi-s": lambda data: xml(sensor_web.exi(schema=True)(data)),
    "exi-sc": lambda data: xml(sensor_web.exi(schema=True)(data)),
    "exi-om": lambda data: [named(found) for found in sensor_web.om(sensor_web.exi()(data))],
    "exi-om-c": lambda data: [named(found) for found in sensor_web.om(sensor_web.exi()(data))],
    "soap": xml,
    "csv": separated,
    "block": block,
    "jsonld": lambda data: [named(found) for found in sensor_web.graph("json-ld")(data)],
    "turtle": lambda data: [named(found) for found in sensor_web.graph("turtle")(data)],
    "ntriples": lambda data: [named(found) for found in sensor_web.graph("nt")(data)],
    "influx": influx,
    "arrow": arrow,
}
"""Formats that are read; each has an independent decoder or is missing here and fails its tests."""
