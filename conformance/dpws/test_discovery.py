"""The device is found by two independent stacks, WSDiscovery (WS-Discovery of April 2005) and sdc11073 (1.1), from
another network namespace, by IPv4 and IPv6."""

import socket
import sys
import threading
import unittest

from lxml import etree
from sdc11073.wsdiscovery import WSDiscovery
from sdc11073.wsdiscovery.wsdimpl import MatchBy
from sdc11073.xml_types.wsd_types import ScopesType
from wsdiscovery import QName, Scope
from wsdiscovery.actions import constructProbe, constructResolve
from wsdiscovery.discovery import ThreadedWSDiscovery
from wsdiscovery.message import createSOAPMessage, parseSOAPMessage
from wsdiscovery.namespaces import NS_ACTION_BYE, NS_ACTION_HELLO

from dpws.network import HERE, LINK, THERE, THERE6, Device, network, searched

DPWS10 = "http://schemas.xmlsoap.org/ws/2006/02/devprof"
DPWS11 = "http://docs.oasis-open.org/ws-dd/ns/dpws/2009/01"
OWN = "urn:weir:device"
WAIT_S = 30
# By the interface that faces the gateway, known once there is one.
GROUP_V6 = ("ff02::c", 3702)


def group_v6(port=0):
    """A socket whose multicasts leave by the link; with the port of WS-Discovery it hears the group there."""
    network()
    index = socket.if_nametoindex(LINK)
    client = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    client.settimeout(WAIT_S)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
    client.bind(("::", port))
    if port:
        group = socket.inet_pton(socket.AF_INET6, GROUP_V6[0]) + index.to_bytes(4, sys.byteorder)
        client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
    return client


def answer(client, request):
    """What comes back to a request, from the device's own address of the link."""
    while True:
        datagram, peer = client.recvfrom(65536)
        message = parseSOAPMessage(datagram, peer[0])
        if message and message.getRelatesTo() == request.getMessageId():
            assert peer[0].split("%")[0] in ("fe80::1", THERE6), peer
            return message


def heard(client, action):
    """The next message of this action."""
    while True:
        datagram, peer = client.recvfrom(65536)
        message = parseSOAPMessage(datagram, peer[0])
        if message and message.getAction() == action:
            return message


class Older(unittest.TestCase):
    """WSDiscovery 2.1.2."""

    @classmethod
    def setUpClass(cls):
        network()
        cls.gateway = Device()
        cls.client = ThreadedWSDiscovery()
        cls.client.start()

    @classmethod
    def tearDownClass(cls):
        cls.client.stop()
        cls.gateway.close()

    def search(self, attempts=30, **what):
        self.client.clearRemoteServices()
        for _ in range(attempts):
            if found := self.client.searchServices(**what, timeout=1):
                return found
        return []

    def test_it_is_found_by_its_types_and_by_its_scopes(self):
        for what in (
            {"types": [QName(DPWS10, "Device")]},
            {"types": [QName(OWN, "Gateway")]},
            {"scopes": [Scope("http://example.com/plant")]},
            {"types": [QName(OWN, "Gateway")], "scopes": [Scope("urn:weir:test")]},
        ):
            (found,) = self.search(**what)
            self.assertEqual(found.getXAddrs(), [self.gateway.device_url])
            self.assertRegex(found.getEPR(), r"^urn:uuid:[0-9a-f-]{36}$")
            scopes = [scope.getValue() for scope in found.getScopes()]
            self.assertEqual(scopes, ["http://example.com/plant/hall", "urn:weir:test"])

    def test_who_looks_for_another_does_not_find_it(self):
        for what in (
            {"types": [QName(OWN, "Pump")]},
            {"scopes": [Scope("http://example.com/pla")]},
        ):
            self.assertEqual(self.search(attempts=2, **what), [])


class Newer(unittest.TestCase):
    """sdc11073 3.0.0."""

    @classmethod
    def setUpClass(cls):
        network()
        cls.gateway = Device()

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def test_it_is_found_by_its_types_and_by_its_scopes(self):
        with WSDiscovery(HERE) as client:
            for types, scopes, count in (
                ([etree.QName(DPWS11, "Device")], None, 1),
                ([etree.QName(OWN, "Gateway")], ScopesType("http://example.com/plant"), 1),
                (None, ScopesType("urn:weir:test", MatchBy.strcmp), 1),
                (None, ScopesType("urn:weir", MatchBy.strcmp), 0),
            ):
                found = searched(client, types, scopes, attempts=30 if count else 2)
                self.assertEqual(len(found), count, (types, scopes))
                for service in found:
                    self.assertEqual(service.x_addrs, [self.gateway.device_url])

    def test_it_says_where_it_is_when_its_address_is_known(self):
        with WSDiscovery(HERE) as client:
            (found,) = searched(client, [etree.QName(OWN, "Gateway")])
            resolved, told = [], threading.Event()

            def take(service):
                resolved.append(service)
                told.set()

            client.set_remote_service_resolve_match_callback(take)
            client._send_resolve(found.epr)
            self.assertTrue(told.wait(WAIT_S))
            self.assertEqual(resolved[0].x_addrs, [self.gateway.device_url])

    def test_hostile_datagrams_do_no_harm(self):
        probe = createSOAPMessage(constructProbe([QName(OWN, "Gateway")], [])).encode()
        bomb = b'<!DOCTYPE a [<!ENTITY b "%s"><!ENTITY c "&b;&b;&b;&b;">]>' % (b"x" * 500) + probe[22:]
        hostile = [
            b"",
            bytes(range(256)),
            probe[:300],
            bomb,
            probe.replace(b"</d:Types>", b" p:x" * 1500 + b"</d:Types>"),
            b"<a>" * 1300,
            probe.replace(b"Probe", b"Hello"),
            probe.replace(b"MessageID", b"MessageIx"),
        ]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.bind((HERE, 0))
            for datagram in hostile * 50:
                client.sendto(datagram, ("239.255.255.250", 3702))
                client.sendto(datagram, (THERE, 3702))
        with WSDiscovery(HERE) as client:
            self.assertEqual(len(searched(client, [etree.QName(OWN, "Gateway")])), 1)

    def test_a_flood_of_questions_is_answered_with_little(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.bind((HERE, 0))
            client.settimeout(WAIT_S)
            for _ in range(300):
                probe = constructProbe([QName(OWN, "Gateway")], [])
                client.sendto(createSOAPMessage(probe).encode(), (THERE, 3702))
            asked, answers = 300, {client.recv(65536)}
            client.settimeout(2)
            while True:
                try:
                    answers.add(client.recv(65536))
                except TimeoutError:
                    break
        self.assertLess(len(answers), asked / 4)

    def test_it_is_found_and_resolved_over_ipv6(self):
        with group_v6() as client:
            probe = constructProbe([QName(OWN, "Gateway")], [])
            client.sendto(createSOAPMessage(probe).encode(), GROUP_V6)
            (match,) = answer(client, probe).getProbeResolveMatches()
            self.assertEqual(match.getXAddrs(), [self.gateway.device_url])
            resolve = constructResolve(match.getEPR())
            client.sendto(createSOAPMessage(resolve).encode(), GROUP_V6)
            (resolved,) = answer(client, resolve).getProbeResolveMatches()
            self.assertEqual(resolved.getEPR(), match.getEPR())
            self.assertEqual(resolved.getXAddrs(), [self.gateway.device_url])


class ComesAndGoes(unittest.TestCase):
    """Hello when it starts, Bye when it stops."""

    def test_both_stacks_hear_it(self):
        network()
        heard = {name: threading.Event() for name in ("hello 1.0", "hello 1.1", "bye 1.0", "bye 1.1")}
        older = ThreadedWSDiscovery()
        older.setRemoteServiceHelloCallback(lambda service: heard["hello 1.0"].set(), types=[QName(OWN, "Gateway")])
        older.setRemoteServiceByeCallback(lambda epr: heard["bye 1.0"].set())
        older.start()
        self.addCleanup(older.stop)
        with WSDiscovery(HERE) as newer:
            newer.set_remote_service_hello_callback(
                lambda address, service: heard["hello 1.1"].set(), types=[etree.QName(OWN, "Gateway")]
            )
            newer.set_remote_service_bye_callback(lambda address, epr: heard["bye 1.1"].set())
            with Device() as gateway:
                for name in ("hello 1.0", "hello 1.1"):
                    self.assertTrue(heard[name].wait(WAIT_S), name)
                self.assertFalse(heard["bye 1.1"].is_set())
                self.assertEqual(gateway.terminate(), 0)
            for name in ("bye 1.0", "bye 1.1"):
                self.assertTrue(heard[name].wait(WAIT_S), name)

    def test_it_is_heard_over_ipv6(self):
        network()
        with group_v6(port=3702) as client:
            with Device({"http.listen": f"[{THERE6}]:0"}) as gateway:
                hello = heard(client, NS_ACTION_HELLO)
                self.assertEqual(hello.getXAddrs(), [gateway.device_url])
                self.assertIn(f"[{THERE6}]", gateway.device_url)
                self.assertEqual(gateway.terminate(), 0)
            self.assertEqual(heard(client, NS_ACTION_BYE).getEPR(), hello.getEPR())

    def test_its_address_outlives_it(self):
        network()
        with Device() as gateway, WSDiscovery(HERE) as client:
            (before,) = searched(client, [etree.QName(OWN, "Gateway")])
            gateway.restart()
            (after,) = searched(client, [etree.QName(OWN, "Gateway")])
            self.assertEqual(before.epr, after.epr)
            self.assertGreaterEqual(after.metadata_version, before.metadata_version)

    def test_it_is_silent_unless_it_is_asked_to_be_found(self):
        network()
        with Device({"dpws.discovery": "false"}), WSDiscovery(HERE) as client:
            self.assertEqual(searched(client, [etree.QName(OWN, "Gateway")], attempts=2), [])


if __name__ == "__main__":
    unittest.main()
