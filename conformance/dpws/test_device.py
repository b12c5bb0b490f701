"""sdc11073, a whole DPWS 1.1 stack, reads the device's metadata and WSDL, subscribes, receives observations at its
own HTTP server, renews and unsubscribes. It validates every message by the specifications' schemas, and
notifications by the service's own."""

import pathlib
import queue
import tempfile
import unittest
from xml.sax.saxutils import escape

from lxml import etree
from sdc11073.consumer.consumerimpl import SdcConsumer, default_components_factory
from sdc11073.definitions_sdc import SdcV1Definitions
from sdc11073.dispatch import DispatchKey
from sdc11073.namespaces import PrefixNamespace
from sdc11073.observableproperties import strongbind
from sdc11073.wsdiscovery import WSDiscovery
from sdc11073.xml_types.dpws_types import DeviceEventingFilterDialectURI
from sdc11073.xml_types.eventing_types import FilterType

from dpws.network import HERE, HERE6, THERE, THERE6, Device, kept, network, schemas, searched
from receiver import Receiver, Sink

OBSERVATIONS = "urn:weir:observations"
ACTION = "urn:weir:device/Observation"
TOPICS = "urn:weir:device/Topics"
SERVICE = "urn:weir:device/observations"
EVENTING = "http://schemas.xmlsoap.org/ws/2004/08/eventing"
WAIT_S = 30


def words(element, name):
    """The texts of an element's members of this name."""
    return [found.text for found in element.iter(f"{{{OBSERVATIONS}}}{name}")]


def subscribed(gateway, sink, text, dialect):
    """Status and answer of a Subscribe that no stack made."""
    status, _, body = gateway.request(
        "POST",
        "/dpws/observations",
        f"""<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"
          xmlns:a="http://www.w3.org/2005/08/addressing" xmlns:e="{EVENTING}"><s:Header>
          <a:Action>{EVENTING}/Subscribe</a:Action><a:MessageID>urn:uuid:1</a:MessageID></s:Header>
          <s:Body><e:Subscribe><e:Delivery><e:NotifyTo><a:Address>{sink}</a:Address></e:NotifyTo></e:Delivery>
          <e:Filter Dialect="{escape(dialect)}">{escape(text)}</e:Filter></e:Subscribe></s:Body></s:Envelope>""",
        {"Content-Type": "application/soap+xml"},
    )
    return status, body


class Stack(unittest.TestCase):
    """What the tests have in common."""

    @classmethod
    def setUpClass(cls):
        network()
        cls.gateway = Device()
        cls.folder = tempfile.TemporaryDirectory()
        status, _, wsdl = cls.gateway.request("GET", "/soap/observations?wsdl")
        assert status == 200
        (schema,) = schemas(wsdl)
        path = kept(cls.folder.name, "observations.xsd", schema)
        cls.schema = PrefixNamespace("w", OBSERVATIONS, f"{OBSERVATIONS}.xsd", pathlib.Path(path))

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()
        cls.folder.cleanup()

    def consumer(self, url=None):
        components = default_components_factory()
        components.additional_schema_specs.add(self.schema)
        consumer = SdcConsumer(
            url or self.gateway.device_url, SdcV1Definitions, ssl_context_container=None, components=components
        )
        consumer.start_all(check_get_service=False)
        self.addCleanup(consumer.stop_all)
        return consumer

    def subscribe(self, consumer, text, dialect=TOPICS, expires=60):
        """A subscription, and the queue of what is received."""
        (hosted,) = consumer.host_description.relationship.Hosted
        wanted = FilterType()
        wanted.text, wanted.Dialect = text, dialect
        tag = etree.QName(OBSERVATIONS, "observations")
        subscription = consumer.mk_subscription(hosted, wanted, [DispatchKey(ACTION, tag)])
        received = queue.Queue()
        strongbind(subscription, notification_data=received.put)
        subscription.subscribe(expires)
        return subscription, received


class Describes(Stack):
    def test_the_device_says_what_it_is_and_hosts(self):
        description = self.consumer().host_description
        self.assertEqual(description.this_device.FriendlyName[0].text, "hall 3")
        self.assertEqual(description.this_model.Manufacturer[0].text, "weir")
        relationship = description.relationship
        self.assertRegex(relationship.Host.EndpointReference.Address, "^urn:uuid:")
        (hosted,) = relationship.Hosted
        self.assertEqual(hosted.ServiceId, SERVICE)
        self.assertEqual({name.localname for name in hosted.Types}, {"Observations", "ObservationSource"})
        self.assertEqual(hosted.EndpointReference[0].Address, f"{self.gateway.device_url}/observations")

    def test_the_hosted_service_has_a_wsdl_with_an_event_source(self):
        hosted = self.consumer().hosted_services[SERVICE]
        sources = [
            port.get("name")
            for port in hosted.wsdl_node.iter("{http://schemas.xmlsoap.org/wsdl/}portType")
            if port.get(f"{{{EVENTING}}}EventSource") == "true"
        ]
        self.assertEqual(sources, ["ObservationSource"])

    def test_a_directed_probe_is_answered(self):
        matches = self.consumer().send_probe()
        self.assertEqual(matches.ProbeMatch[0].XAddrs, [self.gateway.device_url])

    def test_zeep_calls_the_operations_where_the_device_hosts_them(self):
        import zeep

        client = zeep.Client(f"{self.gateway.url}/dpws/observations?wsdl")
        service = client.bind("Device", "Observations12")
        service.publish(topic="zeep/a", observation=[{"topic": "zeep/a", "number": 4.5}])
        (latest,) = service.latest(filter=["zeep/#"])
        self.assertEqual(latest.number, 4.5)


class Pushes(Stack):
    def test_what_is_found_by_what_it_is_pushes(self):
        with WSDiscovery(HERE) as finder:
            (found,) = searched(finder, [etree.QName("urn:weir:device", "Gateway")])
        _, received = self.subscribe(self.consumer(found.x_addrs[0]), "yard/#")
        self.gateway.publish_value("yard/t", 8.25)
        event = received.get(timeout=WAIT_S)
        self.assertEqual(words(event.p_msg.msg_node, "number"), ["8.25"])

    def test_observations_are_pushed_to_who_subscribes(self):
        subscription, received = self.subscribe(self.consumer(), "hall/#")
        self.assertTrue(subscription.is_subscribed)
        self.gateway.publish_value("attic/t", 1)
        self.gateway.publish_value("hall/t", 21.5)
        event = received.get(timeout=WAIT_S)
        self.assertEqual(event.action, ACTION)
        self.assertEqual(words(event.p_msg.msg_node, "topic"), ["hall/t"])
        self.assertEqual(words(event.p_msg.msg_node, "number"), ["21.5"])
        metrics = self.gateway.request("GET", "/metrics")[2].decode()
        pushed = [line for line in metrics.splitlines() if 'binding="dpws",scheme="push",direction="out"' in line]
        self.assertGreaterEqual(int(pushed[0].rsplit(" ", 1)[1]), 1)

    def test_a_filter_by_action_is_for_all(self):
        dialect = DeviceEventingFilterDialectURI.ACTION
        _, received = self.subscribe(self.consumer(), ACTION, dialect)
        self.gateway.publish_value("anything/t", 3)
        topics = []
        while "anything/t" not in topics:
            topics += words(received.get(timeout=WAIT_S).p_msg.msg_node, "topic")

    def test_it_is_renewed_and_ends_when_it_is_to(self):
        consumer = self.consumer()
        subscription, received = self.subscribe(consumer, "ends/#", expires=60)
        self.assertEqual(subscription.granted_expires, 60)
        self.assertEqual(subscription.renew(600), 600)
        self.assertTrue(590 <= subscription.get_status() <= 600)
        self.gateway.publish_value("ends/t", 1)
        received.get(timeout=WAIT_S)
        subscription.unsubscribe()
        self.assertFalse(subscription.is_subscribed)
        # One who is still subscribed tells that what follows was pushed by then.
        _, others = self.subscribe(self.consumer(), "ends/#")
        self.gateway.publish_value("ends/t", 2)
        others.get(timeout=WAIT_S)
        self.assertTrue(received.empty())

    def test_a_stopping_gateway_says_so(self):
        with Device() as gateway:
            self.gateway, before = gateway, self.gateway
            try:
                consumer = self.consumer()
                ended = queue.Queue()
                strongbind(consumer, subscription_end_data=ended.put)
                self.subscribe(consumer, "#")
                self.assertEqual(gateway.terminate(), 0)
                status = ended.get(timeout=WAIT_S).subscription.end_status
                self.assertEqual(status, f"{EVENTING}/SourceShuttingDown")
            finally:
                self.gateway = before

    def test_what_cannot_be_is_refused_as_the_specification_names_it(self):
        consumer = self.consumer()
        for text, dialect, name in (
            ("a", "http://www.w3.org/TR/1999/REC-xpath-19991116", "FilteringRequestedUnavailable"),
            ("urn:other", DeviceEventingFilterDialectURI.ACTION, "FilterActionNotSupported"),
            ("a/#/b", TOPICS, "InvalidMessage"),
        ):
            subscription, _ = self.subscribe(consumer, text, dialect)
            self.assertFalse(subscription.is_subscribed, text)
            self.assertIn(name, self.asked_plainly(HERE, text, dialect), text)

    def test_a_sink_elsewhere_is_refused(self):
        for sink in (THERE, "127.0.0.1", "169.254.169.254"):
            said = self.asked_plainly(sink, "#", TOPICS)
            self.assertIn("InvalidMessage", said)
            self.assertIn("dpws.sinks", said)

    def asked_plainly(self, sink, text, dialect):
        """The fault that Subscribe is answered with, without a stack."""
        dialect = str(dialect.value if hasattr(dialect, "value") else dialect)
        status, body = subscribed(self.gateway, f"http://{sink}:9/", text, dialect)
        self.assertGreaterEqual(status, 400)
        return body.decode()


class Fails(Stack):
    def test_a_sink_that_fails_costs_itself_only(self):
        ends = queue.Queue()

        def only_the_end(_path, _headers, body):
            ended = b"SubscriptionEnd" in body
            if ended:
                ends.put(body)
            return 202 if ended else 500

        sink = Receiver(only_the_end, HERE)
        self.addCleanup(sink.close)
        url = f"{sink.url}/"
        consumer = self.consumer()
        (hosted,) = consumer.host_description.relationship.Hosted
        wanted = FilterType()
        wanted.text, wanted.Dialect = "fails/#", TOPICS
        consumer._subscription_mgr._end_to_url = url
        failing = consumer._subscription_mgr.mk_subscription(hosted, wanted)
        failing.notification_url = url
        failing.subscribe(600)
        self.assertTrue(failing.is_subscribed)
        _, received = self.subscribe(self.consumer(), "fails/#")
        for value in range(3):
            self.gateway.publish_value("fails/t", value)
        for value in range(3):
            self.assertEqual(words(received.get(timeout=WAIT_S).p_msg.msg_node, "number"), [str(value)])
        self.assertIn(b"DeliveryFailure", ends.get(timeout=WAIT_S))
        self.assertEqual(failing.get_status(), 0)


class OverIpv6(unittest.TestCase):
    def test_observations_are_pushed_over_ipv6(self):
        network()
        gateway = Device({"http.listen": f"[{THERE6}]:0"})
        self.addCleanup(gateway.close)
        sink = Sink(HERE6)
        self.addCleanup(sink.close)
        status, body = subscribed(gateway, f"{sink.url}/", "hall/#", TOPICS)
        self.assertEqual(status, 200, body)
        self.assertIn(f"http://[{THERE6}]:".encode(), body)
        gateway.publish_value("hall/t", 21.5)
        message = etree.fromstring(sink.received.get(timeout=WAIT_S))
        self.assertEqual(words(message, "number"), ["21.5"])
        status, body = subscribed(gateway, f"http://[{THERE6}]:{sink.server_port}/", "hall/#", TOPICS)
        self.assertGreaterEqual(status, 400, body)


if __name__ == "__main__":
    unittest.main()
