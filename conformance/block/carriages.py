"""Opens what carries a message of `block`, written from docs/reference/block.md, "Inside other formats"."""

import base64
import json
import xml.etree.ElementTree as ElementTree

from .decoder import Bytes, Damaged

SWE = "{http://www.opengis.net/swe/2.0}"


def expect(holds, what, at=0):
    if not holds:
        raise Damaged(at, what)


def whole(data):
    return Bytes(data, 0, len(data))


def ended(bytes_):
    expect(bytes_.at == bytes_.end, "the end", bytes_.at)


def from_base64(text):
    return base64.b64decode(b"".join(text.split()), validate=True)


def cbor_head(bytes_):
    """Major type and argument of an item of definite length (RFC 8949 section 3)."""
    first = bytes_.byte()
    major, short = first >> 5, first & 31
    if short < 24:
        return major, short
    expect(short < 28, "a definite length")
    return major, int.from_bytes(bytes_.take(1 << (short - 24)), "big")


def cbor_text(bytes_, wanted):
    major, size = cbor_head(bytes_)
    expect(major == wanted, f"major type {wanted}")
    return bytes_.take(size)


def from_cbor(item):
    bytes_ = whole(item)
    block = cbor_text(bytes_, 2)
    ended(bytes_)
    return block


def from_protobuf(message):
    bytes_ = whole(message)
    expect(bytes_.byte() == 1 << 3 | 2, "field 1, of bytes")
    block = bytes_.take(bytes_.varint())
    ended(bytes_)
    return block


def from_swe(document):
    """The block, and what the array says of it: count, what is observed, unit."""
    array = ElementTree.fromstring(document)
    expect(array.tag == SWE + "DataArray", "a swe:DataArray")
    encoding = array.find(f"{SWE}encoding/{SWE}BinaryEncoding")
    expect(encoding.get("byteEncoding") == "base64", "base64")
    expect(encoding.get("byteOrder") == "littleEndian", "the least byte first")
    member = encoding.find(f"{SWE}member/{SWE}Block")
    expect(member.get("compression") == "application/vnd.weir.block", "a block of weir's")
    count = int(array.findtext(f"{SWE}elementCount/{SWE}Count/{SWE}value"))
    quantity = array.find(f".//{SWE}Quantity")
    block = from_base64(array.findtext(f"{SWE}values").encode())
    return block, count, quantity.get("definition"), quantity.find(f"{SWE}uom").get("code")


def from_senml_json(pack):
    [record] = json.loads(pack)
    expect(not any(label.endswith("_") for label in record), "labels that are understood")
    text = record["vd"]
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def from_senml_cbor(pack):
    bytes_ = whole(pack)
    expect(cbor_head(bytes_) == (4, 1), "an array of one record")
    major, members = cbor_head(bytes_)
    expect(major == 5, "a record")
    found = {}
    for _ in range(members):
        label = cbor_head(bytes_)
        expect(label in ((0, 0), (0, 8)), "a name or a data value")
        found[label[1]] = cbor_text(bytes_, 3 if label[1] == 0 else 2)
    ended(bytes_)
    return found[8]


#: By the names of `weir convert`: how to get at the block.
CARRIAGES = {
    "block-base64": from_base64,
    "block-cbor": from_cbor,
    "block-protobuf": from_protobuf,
    "block-swe": lambda document: from_swe(document)[0],
    "block-senml-json": from_senml_json,
    "block-senml-cbor": from_senml_cbor,
}
