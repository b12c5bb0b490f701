"""The ETSI CoAP plugtests' list, one test each: TD_COAP_CORE, TD_COAP_BLOCK, TD_COAP_OBS, TD_COAP_LINK.

The parts of a proxy (CORE 24 to 30) are not the gateway's.
"""

import re
import unittest

from gateway import Gateway

from . import server
from .server import ACK, CON, DELETE, GET, NON, POST, PUT, RST, Client, block, message, uint, values

ETAG, OBSERVE, LOCATION_PATH, CONTENT_FORMAT = 4, 6, 8, 12
IF_MATCH, IF_NONE_MATCH, URI_QUERY, ACCEPT, LOCATION_QUERY = 1, 5, 15, 17, 20
BLOCK2, BLOCK1 = 23, 27
TEXT = (CONTENT_FORMAT, b"")


class Plugtest(unittest.TestCase):
    """A client of a gateway that nobody else changes."""

    def setUp(self):
        self.gateway = Gateway(settings={"coap.plugtest": "true"})
        self.addCleanup(self.gateway.close)
        self.client = self.another()

    def another(self):
        client = Client(self.gateway)
        self.addCleanup(client.close)
        return client

    def changed(self, answer):
        self.assertIn(answer.code, ("2.01", "2.04"))
        if answer.payload:
            self.assertIsNotNone(uint(answer, CONTENT_FORMAT))

    def content(self, answer):
        self.assertEqual(answer.code, "2.05")
        self.assertIsNotNone(uint(answer, CONTENT_FORMAT))
        self.assertTrue(answer.payload)


class Core(Plugtest):
    def test_td_coap_core_01_get(self):
        self.content(self.client.exchange(GET, "test"))

    # [RFC7252-5.8.4-1]
    def test_td_coap_core_02_delete(self):
        self.assertEqual(self.client.exchange(DELETE, "test").code, "2.02")

    # [RFC7252-5.8.3-1]
    def test_td_coap_core_03_put(self):
        self.changed(self.client.exchange(PUT, "test", [TEXT], payload=b"new"))
        self.assertEqual(self.client.exchange(GET, "test").payload, b"new")

    def test_td_coap_core_04_post(self):
        self.changed(self.client.exchange(POST, "test", [TEXT], payload=b"new"))

    def test_td_coap_core_05_get_not_confirmable(self):
        self.content(self.client.exchange(GET, "test", kind=NON))

    def test_td_coap_core_06_delete_not_confirmable(self):
        self.assertEqual(self.client.exchange(DELETE, "test", kind=NON).code, "2.02")

    def test_td_coap_core_07_put_not_confirmable(self):
        self.changed(self.client.exchange(PUT, "test", [TEXT], kind=NON, payload=b"new"))

    def test_td_coap_core_08_post_not_confirmable(self):
        self.changed(self.client.exchange(POST, "test", [TEXT], kind=NON, payload=b"new"))

    def separate(self, token, kind=CON):
        """Asks what takes a while; the answer, once the empty acknowledgement came."""
        mid = self.client.request(GET, "separate", kind=kind, token=token)
        if kind == CON:
            first = self.client.next()
            self.assertEqual((first.kind, first.code, first.mid), (ACK, "0.00", mid))
            self.assertEqual((first.token, first.payload), (b"", b""))
        answer = self.client.next()
        self.assertEqual((answer.kind, answer.token), (kind, token))
        self.content(answer)
        return answer

    def test_td_coap_core_09_a_separate_answer(self):
        answer = self.separate(b"tk")
        self.client.acknowledge(answer)
        self.assertIsNone(self.client.next(wait_s=4))

    # [RFC7252-5.3.1-4]
    def test_td_coap_core_10_tokens_of_every_length(self):
        for length in range(1, 9):
            self.content(self.client.exchange(GET, "test", token=bytes(range(length))))

    def test_td_coap_core_11_a_separate_answer_has_the_token(self):
        self.client.acknowledge(self.separate(b"12345678"))

    # [RFC7252-5.3.1-4]
    def test_td_coap_core_12_an_empty_token(self):
        self.content(self.client.exchange(GET, "test", token=b""))

    def test_td_coap_core_13_a_path_of_several_segments(self):
        self.content(self.client.exchange(GET, "seg1/seg2/seg3"))

    def test_td_coap_core_14_several_arguments_of_a_query(self):
        pairs = [(URI_QUERY, text) for text in (b"first=1", b"second=2", b"third=3")]
        answer = self.client.exchange(GET, "query", pairs)
        self.content(answer)
        self.assertIn(b"first=1 second=2 third=3", answer.payload)

    def test_td_coap_core_15_a_lost_request_or_answer(self):
        first = self.client.exchange(PUT, "test", [TEXT], payload=b"once")
        again = message(CON, PUT, first.mid, [*server.path("test"), TEXT], b"tk", b"once")
        self.client.send(again)
        self.assertEqual(self.client.next(), first)
        mid = self.client.request(GET, "test")
        lost = self.client.next()
        self.client.send(message(CON, GET, mid, server.path("test"), b"tk"))
        self.assertEqual(self.client.next(), lost)

    def test_td_coap_core_16_a_separate_answer_on_a_lossy_link(self):
        mid = self.client.request(GET, "separate")
        lost = self.client.next()
        self.client.send(message(CON, GET, mid, server.path("separate"), b"tk"))
        self.assertEqual(self.client.next(), lost, "the acknowledgement comes again")
        answer = self.client.next()
        self.assertEqual((answer.kind, answer.code), (CON, "2.05"))
        self.assertEqual(self.client.next(), answer, "what is not acknowledged comes again")
        self.client.acknowledge(answer)
        self.assertIsNone(self.client.next(wait_s=7))

    def test_td_coap_core_17_a_separate_answer_not_confirmable(self):
        self.separate(b"tk", kind=NON)

    def test_td_coap_core_18_several_options_of_a_location(self):
        answer = self.client.exchange(POST, "test", [TEXT], payload=b"new")
        self.assertEqual(answer.code, "2.01")
        self.assertEqual(values(answer, LOCATION_PATH), [b"location1", b"location2", b"location3"])

    def test_td_coap_core_19_a_location_with_a_query(self):
        answer = self.client.exchange(POST, "location-query", [TEXT], payload=b"new")
        self.assertEqual(answer.code, "2.01")
        self.assertEqual(values(answer, LOCATION_QUERY), [b"first=1", b"second=2"])

    def test_td_coap_core_20_what_is_accepted(self):
        text = self.client.exchange(GET, "multi-format", [(ACCEPT, b"")])
        self.assertEqual((text.code, uint(text, CONTENT_FORMAT)), ("2.05", 0))
        xml = self.client.exchange(GET, "multi-format", [(ACCEPT, bytes([41]))])
        self.assertEqual((xml.code, uint(xml, CONTENT_FORMAT)), ("2.05", 41))
        self.assertTrue(xml.payload.startswith(b"<"))
        neither = self.client.exchange(GET, "multi-format", [(ACCEPT, bytes([60]))])
        self.assertEqual(neither.code, "4.06")

    # [RFC7252-5.8.1-1] [RFC7252-5.9.1.3-1]
    def test_td_coap_core_21_a_tag_that_still_holds(self):
        first = self.client.exchange(GET, "validate")
        self.content(first)
        (tag,) = values(first, ETAG)
        valid = self.client.exchange(GET, "validate", [(ETAG, tag)])
        self.assertEqual((valid.code, values(valid, ETAG), valid.payload), ("2.03", [tag], b""))
        self.changed(self.another().exchange(PUT, "validate", [TEXT], payload=b"other"))
        third = self.client.exchange(GET, "validate", [(ETAG, tag)])
        self.assertEqual((third.code, third.payload), ("2.05", b"other"))
        self.assertNotEqual(values(third, ETAG), [tag])

    def test_td_coap_core_22_if_match(self):
        (first,) = values(self.client.exchange(GET, "validate"), ETAG)
        matching = self.client.exchange(PUT, "validate", [(IF_MATCH, first), TEXT], payload=b"one")
        self.assertEqual(matching.code, "2.04")
        read = self.client.exchange(GET, "validate")
        (second,) = values(read, ETAG)
        self.assertEqual(read.payload, b"one")
        self.assertNotEqual(second, first)
        self.assertEqual(self.another().exchange(PUT, "validate", [TEXT], payload=b"two").code, "2.04")
        late = self.client.exchange(PUT, "validate", [(IF_MATCH, second), TEXT], payload=b"three")
        self.assertEqual(late.code, "4.12")
        self.assertEqual(self.client.exchange(GET, "validate").payload, b"two")

    # [RFC7252-5.8.3-2]
    def test_td_coap_core_23_if_none_match(self):
        create = [(IF_NONE_MATCH, b""), TEXT]
        self.assertEqual(self.client.exchange(PUT, "create1", create, payload=b"one").code, "2.01")
        self.assertEqual(self.client.exchange(PUT, "create1", create, payload=b"two").code, "4.12")
        self.assertEqual(self.client.exchange(GET, "create1").payload, b"one")

    def test_td_coap_core_31_ping(self):
        self.assertEqual(self.client.ask(b"\x40\x00\x12\x34", wait_s=5), b"\x70\x00\x12\x34")


class Blocks(Plugtest):
    def fetch(self, method, resource, exponent, first, code="2.05"):
        """The blocks behind the first one, asked for in this size; the whole body."""
        number, more, size = self.block2(first)
        self.assertEqual((number, more), (0, 1))
        self.assertEqual(len(first.payload), 16 << size)
        exponent = min(exponent, size)
        body, tag = first.payload, values(first, ETAG)
        while more:
            number = len(body) >> (exponent + 4)
            answer = self.client.exchange(method, resource, [(BLOCK2, block(number, 0, exponent))])
            self.assertEqual((answer.code, values(answer, ETAG)), (code, tag))
            told, more, size = self.block2(answer)
            self.assertEqual((told, size), (number, exponent))
            self.assertTrue(len(answer.payload) == 16 << size or not more)
            self.assertLessEqual(len(answer.payload), 16 << size)
            body += answer.payload
        return body

    def block2(self, answer):
        value = uint(answer, BLOCK2)
        return value >> 4, value >> 3 & 1, value & 7

    def send(self, method, resource, exponent, body, code):
        """Sends a body in blocks; the last answer."""
        size = 16 << exponent
        count = (len(body) + size - 1) // size
        for number in range(count):
            more = number + 1 < count
            pairs = [(BLOCK1, block(number, more, exponent)), TEXT]
            piece = body[number * size : (number + 1) * size]
            answer = self.client.exchange(method, resource, pairs, payload=piece)
            self.assertEqual(answer.code, "2.31" if more else code)
            self.assertEqual(values(answer, BLOCK1), [block(number, more, exponent)])
        return answer

    def large(self):
        return self.fetch(GET, "large", 6, self.client.exchange(GET, "large"))

    def test_td_coap_block_01_a_get_that_names_its_size(self):
        for exponent in range(7):
            first = self.client.exchange(GET, "large", [(BLOCK2, block(0, 0, exponent))])
            self.content(first)
            self.assertEqual(self.fetch(GET, "large", exponent, first), self.large())

    # [RFC7959-2.4-7]
    def test_td_coap_block_02_a_get_that_names_a_size_later(self):
        for exponent in range(7):
            first = self.client.exchange(GET, "large")
            self.assertEqual(self.fetch(GET, "large", exponent, first), self.large())

    # [RFC7959-2.3-2] [RFC7959-2.3-3]
    def test_td_coap_block_03_put_in_blocks(self):
        for exponent in range(7):
            body = bytes(range(65, 91)) * 50 + bytes([exponent])
            self.send(PUT, "large-update", exponent, body, "2.04")
            first = self.client.exchange(GET, "large-update", [(BLOCK2, block(0, 0, 6))])
            self.assertEqual(self.fetch(GET, "large-update", 6, first), body)

    # [RFC7252-5.8.2-1]
    def test_td_coap_block_04_post_that_creates(self):
        body = b"0123456789" * 150
        created = self.send(POST, "large-create", 5, body, "2.01")
        folder, name = values(created, LOCATION_PATH)
        self.assertEqual(folder, b"large-create")
        self.assertNotIn(b"/", name)
        place = f"large-create/{name.decode()}"
        first = self.client.exchange(GET, place)
        self.assertEqual(self.fetch(GET, place, 6, first), body)

    # [RFC7959-2.7-1]
    def test_td_coap_block_05_blocks_both_ways(self):
        body = b"abcdefghij" * 150
        last = self.send(POST, "large-post", 5, body, "2.04")
        answer = self.fetch(POST, "large-post", 5, last, "2.04")
        self.assertTrue(answer.startswith(b"ABCDEFGHIJ"))
        self.assertGreater(len(answer), 1024)

    def test_td_coap_block_06_blocks_of_sixteen_bytes(self):
        first = self.client.exchange(GET, "large", [(BLOCK2, block(0, 0, 0))])
        self.assertEqual(len(first.payload), 16)
        self.assertEqual(self.fetch(GET, "large", 0, first), self.large())


class Observing(Plugtest):
    def register(self, resource="obs", kind=CON, client=None):
        client = client or self.client
        answer = client.exchange(GET, resource, [(OBSERVE, b"")], kind=kind)
        self.content(answer)
        self.assertIsNotNone(uint(answer, OBSERVE))
        return answer

    def told(self, before, kind=CON, wait_s=8):
        """The next notification, which must be newer than the one before."""
        answer = self.client.next(wait_s)
        self.assertIsNotNone(answer, "no notification")
        self.assertEqual((answer.kind, answer.token), (kind, b"tk"))
        self.content(answer)
        self.assertEqual(values(answer, CONTENT_FORMAT), values(before, CONTENT_FORMAT))
        ahead = (uint(answer, OBSERVE) - uint(before, OBSERVE)) % (1 << 24)
        self.assertTrue(0 < ahead < 1 << 23, "numbers grow")
        if kind == CON:
            self.client.acknowledge(answer)
        return answer

    def change(self, payload, resource="obs", format=b""):
        other = self.another()
        pairs = [(CONTENT_FORMAT, format)]
        self.assertEqual(other.exchange(PUT, resource, pairs, payload=payload).code, "2.04")

    def last(self, code):
        """An error as the last notification."""
        answer = self.client.next(wait_s=8)
        self.assertEqual((answer.kind, answer.code, answer.token), (CON, code, b"tk"))
        self.assertIsNone(uint(answer, OBSERVE))
        self.client.acknowledge(answer)
        self.assertIsNone(self.client.next(wait_s=6))

    # [RFC7641-4.3.1-1]
    def test_td_coap_obs_01_confirmable(self):
        first = self.register()
        second = self.told(first)
        self.told(second)

    def test_td_coap_obs_02_not_confirmable(self):
        first = self.register("obs-non", kind=NON)
        second = self.told(first, kind=NON)
        self.told(second, kind=NON)

    def test_td_coap_obs_04_who_lost_its_observers_takes_them_again(self):
        self.told(self.register())
        self.gateway.restart()
        self.assertIsNone(self.client.next(wait_s=6))
        self.told(self.register())

    def test_td_coap_obs_05_who_is_gone_is_told_no_more(self):
        before = self.told(self.register())
        self.change(b"one")
        first = self.client.next()
        self.change(b"two")
        again = self.client.next()
        self.assertEqual((first.payload, again.payload), (b"one", b"two"))
        self.assertGreater(uint(again, OBSERVE), uint(first, OBSERVE))
        self.assertGreater(uint(first, OBSERVE), uint(before, OBSERVE))

    def test_td_coap_obs_06_a_reset_ends_it(self):
        self.told(self.register())
        self.change(b"one")
        answer = self.client.next()
        self.client.acknowledge(answer, kind=RST)
        self.change(b"two")
        self.assertIsNone(self.client.next(wait_s=6))

    # [RFC7641-4.2-6]
    def test_td_coap_obs_07_what_is_deleted_is_told(self):
        self.told(self.register())
        self.assertEqual(self.another().exchange(DELETE, "obs").code, "2.02")
        self.last("4.04")

    # [RFC7641-4.2-5]
    def test_td_coap_obs_08_another_content_format_ends_it(self):
        self.told(self.register())
        self.change(b"{}", format=bytes([50]))
        self.last("4.06")

    def test_td_coap_obs_09_what_is_put_is_told(self):
        before = self.told(self.register())
        for payload in (b"one", b"two"):
            self.change(payload)
            before = self.told(before)
            self.assertEqual(before.payload, payload)

    def test_td_coap_obs_10_another_get_ends_nothing(self):
        before = self.told(self.register())
        other = self.client.exchange(GET, "obs", token=b"t2")
        self.content(other)
        self.assertIsNone(uint(other, OBSERVE))
        self.told(before)

    # [RFC7641-4.5-4]
    def test_td_coap_obs_11_one_notification_at_a_time(self):
        self.told(self.register())
        for payload in (b"one", b"two", b"three", b"four"):
            self.change(payload)
        first = self.client.next()
        self.assertIsNone(self.client.next(wait_s=1.5))
        self.client.acknowledge(first)
        newest = self.client.next()
        self.assertEqual(newest.payload, b"four")
        self.client.acknowledge(newest)
        self.assertIsNone(self.client.next(wait_s=1))

    def test_td_coap_obs_12_observe_1_ends_it(self):
        self.told(self.register())
        answer = self.client.exchange(GET, "obs", [(OBSERVE, b"\x01")])
        self.content(answer)
        self.assertIsNone(uint(answer, OBSERVE))
        self.assertIsNone(self.client.next(wait_s=6))


class Links(Plugtest):
    def links(self, query=None, resource=".well-known/core"):
        """Targets and attributes of the links that are found."""
        pairs = [(URI_QUERY, query.encode())] if query else []
        answer = self.client.exchange(GET, resource, pairs)
        self.assertEqual((answer.code, uint(answer, CONTENT_FORMAT)), ("2.05", 40))
        body = answer.payload
        while uint(answer, BLOCK2) is not None and uint(answer, BLOCK2) & 8:
            number = (uint(answer, BLOCK2) >> 4) + 1
            exponent = uint(answer, BLOCK2) & 7
            pairs = [*pairs[:1], (BLOCK2, block(number, 0, exponent))] if query else [(BLOCK2, block(number, 0, exponent))]
            answer = self.client.exchange(GET, resource, pairs)
            body += answer.payload
        found = re.findall(r'<([^>]*)>((?:;[^,;="]+(?:="[^"]*"|=[^,;]*)?)*)', body.decode())
        return dict(found)

    # [RFC7252-7.2-1] [RFC6690-4-1]
    def test_td_coap_link_01_what_there_is(self):
        found = self.links()
        for resource in ("/test", "/large", "/obs", "/link1", "/path"):
            self.assertIn(resource, found)

    def test_td_coap_link_02_by_type(self):
        self.assertEqual(sorted(self.links("rt=Type1")), ["/link1", "/link3"])

    def test_td_coap_link_03_whatever_has_a_type(self):
        found = self.links("rt=*")
        self.assertLessEqual({"/link1", "/link2", "/link3", "/link4"}, set(found))
        self.assertTrue(all(";rt=" in attributes for attributes in found.values()), found)
        self.assertNotIn("/link5", found)

    # [RFC6690-4.1-1]
    def test_td_coap_link_04_by_one_of_several_types(self):
        self.assertEqual(sorted(self.links("rt=Type2")), ["/link1", "/link2"])

    # [RFC6690-4.1-1]
    def test_td_coap_link_05_by_the_beginning_of_an_interface(self):
        self.assertEqual(sorted(self.links("if=If*")), ["/link1", "/link2"])

    def test_td_coap_link_06_whatever_has_a_size(self):
        found = self.links("sz=*")
        self.assertIn("/large", found)
        self.assertTrue(all(";sz=" in attributes for attributes in found.values()), found)

    # [RFC6690-4.1-2]
    def test_td_coap_link_07_by_target(self):
        self.assertEqual(list(self.links("href=/link1")), ["/link1"])

    # [RFC6690-4.1-2]
    def test_td_coap_link_08_by_the_beginning_of_a_target(self):
        self.assertEqual(sorted(self.links("href=/link*")), [f"/link{number}" for number in range(1, 6)])

    # [RFC7252-7.2.1-1]
    def test_td_coap_link_09_links_that_lead_to_links(self):
        self.assertIn("ct=40", self.links("href=/path")["/path"].replace('"', ""))
        below = self.links(resource="path")
        self.assertEqual(sorted(below), ["/path/sub1", "/path/sub2", "/path/sub3"])
        self.assertEqual(self.client.exchange(GET, "path/sub1").payload, b"/path/sub1")
