"""Certificates: the gateway's own is replaced under open connections, and clients prove who they are by theirs."""

import http.client
import pathlib
import shutil
import socket
import ssl
import tempfile
import unittest

import paho.mqtt.client as paho

import certificate
from access.world import ROLES, World, until


class Certificates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory(prefix="weir-certificates-")
        cls.addClassCleanup(kept.cleanup)
        cls.folder = pathlib.Path(kept.name)
        (cls.folder / "next").mkdir()
        cls.own, cls.key = certificate.make(cls.folder)
        cls.next = certificate.make(cls.folder / "next")
        certificate.authority(cls.folder)
        for name in ("pump", "stranger"):
            certificate.signed_client(cls.folder, name)
        certificate.authority(cls.folder, "self")
        more = certificate.entry(cls.folder, "pump", "writer")
        settings = {"tls.certificate": cls.own, "tls.key": cls.key, "tls.clients": f"{cls.folder}/ca.pem"}
        cls.world = World(ROLES, settings, more)
        cls.addClassCleanup(cls.world.close)
        cls.host, port = cls.world.gateway.ready["https"].rsplit(":", 1)
        cls.port = int(port)

    def context(self, name=None):
        # What is tried is what clients prove; the gateway's own certificate is another suite's.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if name:
            context.load_cert_chain(f"{self.folder}/{name}.pem", f"{self.folder}/{name}.key")
        return context

    def connect(self, name=None):
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.context(name), timeout=20)
        connection.connect()
        return connection

    @staticmethod
    def ask(connection, method="GET", path="/live/%23", body=None, headers=None):
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def publish(self, connection, headers=None):
        fields = {"Content-Type": "application/json", **(headers or {})}
        return self.ask(connection, "POST", "/live/site/tls", '{"value":1}', fields)[0]

    def test_a_certificate_is_who_its_client_is(self):
        self.assertEqual(self.publish(self.connect("pump")), 204)
        self.assertEqual(self.publish(self.connect("stranger")), 401)
        self.assertEqual(self.publish(self.connect()), 401)

    def test_what_a_request_presents_goes_before_the_certificate(self):
        connection = self.connect("pump")
        self.assertEqual(self.publish(connection, self.world.bearer("reader")), 403)
        self.assertEqual(self.publish(connection, {"Authorization": "Bearer x"}), 401)

    def test_a_certificate_of_another_authority_is_not_let_in(self):
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            connection = self.connect("self")
            self.publish(connection)

    def test_mqtt_takes_it_too(self):
        for name, code in (("pump", 0), ("stranger", 0x87)):
            connected = []
            client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
            client.on_connect = lambda _c, _d, _f, said, _p, connected=connected: connected.append(said.value)
            client.tls_set_context(self.context(name))
            host, port = self.world.gateway.ready["mqtts"].rsplit(":", 1)
            client.connect(host, int(port))
            client.loop_start()
            try:
                until(lambda connected=connected: connected, "CONNACK")
                self.assertEqual(connected[0], code, name)
            finally:
                client.disconnect()
                client.loop_stop()

    def test_the_certificate_is_replaced_and_no_connection_dropped(self):
        def shown():
            with socket.create_connection((self.host, self.port)) as tcp, \
                    self.context().wrap_socket(tcp, server_hostname="localhost") as tls:
                return tls.getpeercert(True)

        connection, before = self.connect("pump"), shown()
        self.assertEqual(self.publish(connection), 204)
        held = connection.sock
        shutil.copy(self.next[1], self.key)
        shutil.copy(self.next[0], self.own)
        until(lambda: shown() != before, "the new certificate is shown")
        self.assertEqual(self.publish(connection), 204)
        self.assertIs(connection.sock, held)
        fresh = shown()
        pathlib.Path(self.own).write_text("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
        until(lambda: self.world.events("certificate-refused"), "what is none is refused")
        self.assertEqual(shown(), fresh)
        self.assertEqual(self.publish(connection), 204)
