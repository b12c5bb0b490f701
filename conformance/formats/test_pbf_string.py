"""pbf-string: packed and unpacked by a reader and writer made from its description alone."""

import unittest

from decoders import protobuf, unpack
from formats.weir import MESSAGE, Refused, decoded, encoded


def pack(data):
    """Two bytes in one code point; see the module's documentation."""
    text = []
    for at in range(0, len(data) - 1, 2):
        code = data[at] << 8 | data[at + 1]
        # Surrogates and all that Python takes for the end of a line, which is what the rule lists.
        escaped = 0xD800 <= code <= 0xDFFF or code == 0xFEFF or len(f"a{chr(code)}b".splitlines()) > 1
        text.append(chr(code + 0x10000 if escaped else code))
    if len(data) % 2:
        text.append(chr(0x20000 + data[-1]))
    return "".join(text)


class PbfString(unittest.TestCase):
    def test_ours_unpacks_to_protobuf(self):
        for count in range(len(MESSAGE["observations"]) + 1):
            message = {"observations": MESSAGE["observations"][:count]}
            text = encoded("pbf-string", message).decode().rstrip("\n")
            data = encoded("protobuf", message)
            self.assertEqual(unpack(text), data)
            self.assertEqual(len(text), (len(data) + 1) // 2)
            self.assertEqual(text, pack(data))
            self.assertEqual(len(protobuf(data)), count)

    def test_theirs_is_read(self):
        self.assertEqual(decoded(pack(encoded("protobuf")), "pbf-string"), MESSAGE)
        self.assertEqual(decoded("", "pbf-string"), {"observations": []})

    def test_a_byte_alone_in_the_middle_is_refused(self):
        with self.assertRaisesRegex(Refused, "a single byte at the end alone at byte 0"):
            decoded("\U0002000a\u0a02", "pbf-string")


if __name__ == "__main__":
    unittest.main()
