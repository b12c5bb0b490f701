"""What a refusal tells: a gateway that hides something answers, to who may not see it, as one that has nothing to hide.

Each role asks the same of two gateways, one with what is hidden and one without; status, fields and body must be equal
but for cursors, identifiers of what is new, and times of now.
"""

import contextlib
import itertools
import json
import re
import unittest
import urllib.parse

import aiocoap
from proton.reactor import Container, DurableSubscription
from proton.utils import LinkDetached

from access.scene import (
    STA, XML, Scene, capability, datastream, delete_sensor, feature, insert_observation, insert_sensor, insert_template,
    multi_datastream, named, observed, sensor)
from access.world import World, until
from amqp.peers import connection

ROLES = """
[role.owner]
read = ["#"]
publish = ["#"]
change = ["#"]

[role.writer]
publish = ["site/open/#"]

[role.reader]
read = ["site/open/#", "shared/open", "sos/urn:s:open/#"]

[role.narrow]
read = ["site/open/#", "shared/open", "sos/urn:s:open/#"]
publish = ["site/open/#", "sos/urn:s:open/#"]
change = ["site/open/#", "sos/urn:s:open/#"]

[role.monitor]
read = ["v1.1/#", "site/open/#", "shared/open", "sos/urn:s:open/#"]
publish = ["v1.1/#", "site/open/#", "sos/urn:s:open/#"]
change = ["v1.1/#", "site/open/#", "sos/urn:s:open/#"]

[role.slow]
read = ["site/open/#"]
publish = ["#"]
change = ["#"]
"""
"""Under the names that a world has: who publishes only, who reads, who does both and describes, who does so to entities
too, who may change what they may not read."""
CALLERS = (None, "writer", "reader", "narrow", "monitor", "slow")
SETS = ("Things", "Locations", "HistoricalLocations", "Datastreams", "MultiDatastreams", "Sensors", "ObservedProperties",
        "FeaturesOfInterest", "Observations", "Actuators", "TaskingCapabilities", "Tasks")
SOS2 = "/sos?service=SOS&version=2.0.0&request="
SOS1 = "/sos?service=SOS&version=1.0.0&request="
SOAP = {"Content-Type": "application/soap+xml"}
SPAN = {"range": {"from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}, "maxDataPoints": 100}
TOPICS = ("site/closed/x", "site/closed/nothing", "site/closed/#", "site/+/a", "site/open/a", "site/open/nothing", "#",
          "shared/+", "shared/closed", "site/closed", "site/closed/kept", "site/closed/+")


class Pair:
    """Two gateways for one role: `hides` has what is hidden."""

    def __init__(self, test, who):
        self.test, self.who = test, who
        # Who may read all entities may read hidden ones too; of them only what hangs on the others is hidden.
        self.is_deep = who != "monitor"
        self.scenes = [self.scene(hides) for hides in (True, False)]
        self.hidden = self.scenes[0].hidden
        self.ids = self.scenes[0].ids
        assert self.ids == self.scenes[1].ids, "what is open has the same numbers"

    def scene(self, hides):
        world = World(ROLES, settings={"dpws.discovery": "true"}, entries={"owner": "owner"})
        self.test.addCleanup(world.close)
        return Scene(world, hides, self.is_deep)

    def ask(self, method, path, body=None, headers=None):
        """The status of both, which must be one."""
        hides, open_ = (self.asked(scene.world, method, path, body, headers) for scene in self.scenes)
        with self.test.subTest(who=self.who, method=method, path=path, body=body):
            self.test.assertEqual(hides, open_)
            if "closed" not in path + str(body):
                # Who may read a capability is told what it says itself.
                self.test.assertNotIn("closed", hides[2].replace("site/closed/valve", ""))
            self.test.assertNotIn("271828", hides[2])
            self.test.assertNotIn(hides[0], (500, 502, 503), hides)
        return open_[0]

    def asked(self, world, method, path, body, headers):
        if isinstance(body, (dict, list)):
            body, headers = json.dumps(body), {"Content-Type": "application/json", **(headers or {})}
        fields = {**world.bearer(self.who), **(headers or {})}
        status, fields, said = world.gateway.request(method, path, body, fields)
        # The number of what is new tells how much there was, and so do cursors; docs/concepts/security.md says so.
        number = r"\(\d+\)$" if status == 201 else "$^"
        fields = sorted((name.lower(), re.sub(number, "", plain(world, value))) for name, value in fields.items()
                        if name.lower() not in ("date", "weir-cursor", "content-length"))
        return status, fields, plain(world, said.decode("utf-8", "replace"))


def plain(world, text):
    """Without what is another at another time, on another port, or of what is new."""
    for address in world.gateway.ready.values():
        if isinstance(address, str):
            text = text.replace(address, "ADDRESS").replace(re.sub("[^0-9a-z]", "-", address), "ADDRESS")
    text = re.sub(r'20(?!26-01-01)\d\d-\d\d-\d\dT[\d:.]+Z', "NOW", text)
    text = re.sub(r'"cursor":"[^"]*"', '"cursor":""', text)
    text = re.sub(r"<w:cursor>[^<]*<", "<w:cursor><", text)
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "uuid", text)


class Alike(unittest.TestCase):
    """One test for each caller and each service."""

    def pair(self, who):
        return Pair(self, who)

    def sensorthings_reads(self, pair):
        ids = [*range(1, 60), 999999]
        for set_ in SETS:
            pair.ask("GET", f"{STA}{set_}?$count=true")
            for number in [*ids, *pair.hidden.get(set_, "").split()]:
                pair.ask("GET", f"{STA}{set_}({number})")
        for url in [
            "FeaturesOfInterest?$expand=Observations($count=true)", "FeaturesOfInterest?$count=true&$top=1",
            "FeaturesOfInterest?$filter=Observations/result gt 22", "FeaturesOfInterest?$filter=Observations/result gt 99",
            "FeaturesOfInterest?$orderby=Observations/result desc", "Observations?$count=true&$top=2",
            "Observations?$filter=result gt 100&$count=true", "Observations?$orderby=result desc&$top=3",
            "Observations?$filter=FeatureOfInterest/name eq 'room'&$count=true", "Observations?$skip=2&$top=2",
            "Observations?$filter=Datastream/Thing/name eq 'house'", "Things?$expand=Datastreams($count=true)",
            "Things?$expand=Locations,Datastreams($expand=Observations($top=1))", "Locations?$expand=Things",
            "Sensors?$expand=Datastreams($count=true)", "ObservedProperties?$expand=Datastreams($expand=Thing)",
            "Datastreams?$expand=Thing,Sensor,ObservedProperty,Observations&$count=true",
            "Datastreams?$filter=substringof('closed',name)", "Datastreams?$orderby=name desc&$top=1",
            "Datastreams('site%2Fclosed%2Fx')", "Datastreams('site%2Fclosed%2Fnothing')/Observations",
            "Datastreams('site%2Fclosed%2Fx')/Thing", "Things('shared')?$expand=Locations", "Things('site%2Fclosed')",
            "Locations('shared')", "Things('shared')/Locations", "Sensors('urn:s:closed')", "Sensors('urn:s:mole')",
            "FeaturesOfInterest('urn:f:river')", "FeaturesOfInterest('urn:f:river')/Observations?$count=true",
        ] + [f"{set_}({pair.ids[set_]})/{way}?$count=true" for set_, way in (
                ("FeaturesOfInterest", "Observations"), ("Things", "Datastreams"), ("Sensors", "Datastreams"),
                ("ObservedProperties", "Datastreams"), ("Datastreams", "Observations"))]:
            pair.ask("GET", STA + urllib.parse.quote(url, safe="/?$=&(),'%;:"))

    def sensorthings_refused_writes(self, pair):
        for set_ in SETS:
            for number in ["1", "2", "3", "999999", *pair.hidden.get(set_, "").split(), "'site%2Fclosed%2Fx'", "'shared'"]:
                if number == pair.ids.get(set_) or (set_, pair.who) in (("Things", "monitor"), ("Locations", "monitor")):
                    continue
                for method in ("PATCH", "PUT"):
                    pair.ask(method, f"{STA}{set_}({number})", {"result": 1, "name": "x", "description": "y"})
        for set_, number in ((set_, number) for set_, numbers in pair.hidden.items() for number in numbers.split()):
            asked = [{"id": "1", "method": method, "url": f"{set_}({number})", "body": {"result": 1}}
                     for method in ("get", "patch", "delete")]
            for one in asked:
                pair.ask("POST", STA + "$batch", {"requests": [one]})
                pair.ask("POST", STA + "$batch", {"requests": [{**one, "atomicityGroup": "g"}]})
            pair.ask("POST", f"{STA}{set_}({number})/Observations", {"result": 1})
            pair.ask("DELETE", f"{STA}{set_}({number})")
        hidden = pair.hidden["Datastreams"]
        pair.ask("POST", STA + "Observations", {"result": 1, "Datastream": {"@iot.id": int(hidden)}})
        pair.ask("POST", STA + "CreateObservations", [
            {"Datastream": {"@iot.id": int(hidden)}, "components": ["result"], "dataArray": [[1]]}])
        shared = pair.scenes[0].links()
        for topic in ("site/closed/x", "site/closed/nothing", "site/closed/a"):
            pair.ask("POST", STA + "Datastreams", datastream("new", topic, **shared))
            deep = datastream("new", topic, Sensor=shared["Sensor"], ObservedProperty=shared["ObservedProperty"])
            pair.ask("POST", f"{STA}Things({pair.ids['Things']})/Datastreams", deep)
            pair.ask("POST", STA + "Datastreams", {**deep, "Thing": named("site")})
        for topic in ("site/closed/m", "site/closed/x", "site/closed", "site/closed/nothing"):
            pair.ask("POST", STA + "MultiDatastreams", multi_datastream(
                "new", topic, shared["Thing"], shared["Sensor"], [shared["ObservedProperty"]]))
        pair.ask("POST", f"{STA}TaskingCapabilities({pair.ids['TaskingCapabilities']})/Tasks", {
            "taskingParameters": {"open": True}}) if pair.who != "slow" else None
        for number in (pair.hidden["Datastreams"], 999998):
            pair.ask("GET", f"{STA}Datastreams({number})/Observations", headers={"Accept": "text/event-stream"})
        if pair.who != "monitor":
            pair.ask("POST", STA + "TaskingCapabilities", capability("site/closed/x", shared["Thing"]))
        pair.ask("PATCH", f"{STA}Datastreams({pair.ids['Datastreams']})", {
            "Thing": {"@iot.id": int(pair.hidden.get("Things", 999998))}})
        if pair.who != "monitor":
            for body in (named("new"), {**named("new"), "Datastreams": [datastream("x", Sensor=1, ObservedProperty=1)]}):
                pair.ask("POST", STA + "Things", body)
            pair.ask("POST", STA + "Sensors", sensor("new"))
            pair.ask("POST", STA + "ObservedProperties", observed("new"))
            pair.ask("POST", STA + "FeaturesOfInterest", feature("new"))

    def sensorthings_deletions(self, pair):
        for set_ in ("Observations", "FeaturesOfInterest", "Sensors", "ObservedProperties", "Things", "Locations"):
            pair.ask("DELETE", f"{STA}{set_}({pair.ids[set_]})")
            pair.ask("GET", f"{STA}{set_}({pair.ids[set_]})")
        pair.ask("GET", STA + "Observations?$count=true")
        pair.ask("GET", STA + "Datastreams?$count=true&$expand=Thing")
        if pair.who == "slow":
            # Who may change what they may not read has.
            return
        world = pair.scenes[0].world
        status, said = world.ask(f"{STA}Datastreams({pair.hidden['Datastreams']})/Observations", "owner")
        self.assertEqual((status, len(json.loads(said)["value"])), (200, 6), "what is hidden is whole")

    def live(self, pair):
        for topic in TOPICS:
            quoted = urllib.parse.quote(topic, safe="/+")
            for path in (f"/live/{quoted}", f"/history/{quoted}", f"/history/{quoted}?limit=1", f"/catalog/{quoted}",
                         f"/history/{quoted}?agg=max:1h", f"/td/{quoted}", f"/asyncapi.json?topic={quoted}"):
                pair.ask("GET", path)
            pair.ask("POST", "/live/", json.dumps([topic, "site/open/a"]))
            pair.ask("POST", "/grafana/query", {**SPAN, "targets": [{"refId": "A", "target": topic}]})
            pair.ask("POST", "/grafana/variable", {"payload": {"target": topic}, **SPAN})
            for name in ("latest", "history", "describe"):
                pair.ask("POST", "/soap/observations", soap(f"<w:{name}><w:filter>{topic}</w:filter></w:{name}>"), SOAP)
        for path in ("/catalog", "/td", "/td?limit=1", "/asyncapi.json", "/openapi.json", "/metrics", "/health/live",
                     "/health/ready", "/formats", "/.well-known/host-meta.json"):
            pair.ask("GET", path)
        for path, body in (("/metrics", {}), ("/search", {"target": ""}), ("/tag-values", {"key": "topic"}),
                           ("/tag-values", {"key": "unit"}), ("/annotations", {"annotation": {"query": "#"}, **SPAN})):
            pair.ask("POST", "/grafana" + path, body)
        for topic in ("site/closed/x", "site/closed/nothing", "site/closed/kept"):
            pair.ask("POST", f"/live/{topic}", {"value": 1}) if pair.who != "slow" else None
            pair.ask("PUT", f"/catalog/{topic}", {"unit": "K"})
            pair.ask("DELETE", f"/catalog/{topic}")

    def sos(self, pair):
        for version, names in ((SOS2, ("procedure", "offering", "featureOfInterest", "observation")),
                               (SOS1, ("procedure", "offering", "FeatureOfInterestId", "ObservationId"))):
            pair.ask("GET", version + "GetCapabilities")
            pair.ask("GET", version + "GetObservation")
            for value in ("urn:s:closed", "urn:s:mole", "urn:s:none"):
                pair.ask("GET", f"{version}DescribeSensor&procedure={value}&procedureDescriptionFormat="
                                "http://www.opengis.net/sensorml/2.0&outputFormat=text/xml;subtype=%22sensorML/1.0.1%22")
                pair.ask("GET", f"{version}GetObservation&{names[0]}={value}&offering={value}/observations"
                                "&observedProperty=urn:p:level&responseFormat=text/xml;subtype=%22om/1.0.0%22")
                pair.ask("GET", f"{version}GetResultTemplate&offering={value}/observations&observedProperty=urn:p:level")
            for value in ("urn:f:river", pair.ids["FeaturesOfInterest"], "urn:weir:feature:site/closed", "cellar",
                          "urn:weir:feature:shared/closed", "urn:weir:feature:shared"):
                pair.ask("GET", f"{version}GetFeatureOfInterest&{names[2]}={value}")
                pair.ask("GET", f"{version}GetFeatureOfInterestTime&{names[2]}={value}")
            for value in ("urn:weir:observation:site%252Fclosed%252Fx:2026-01-01T00:00:00Z", "urn:weir:observation:x"):
                pair.ask("GET", f"{version}GetObservationById&{names[3]}={value}")
        pair.ask("GET", SOS2 + "GetDataAvailability")
        pair.ask("GET", SOS2 + "GetDataAvailability&procedure=urn:s:closed")
        pair.ask("GET", SOS2 + "GetFeatureOfInterest")
        pair.ask("GET", SOS2 + "GetObservation&observedProperty=urn:p:level")
        for body in (
            insert_observation("urn:s:closed", "urn:o:closed"), insert_observation("urn:s:none", "urn:o:none"),
            insert_observation("urn:s:mole"), insert_observation("urn:s:mole", "urn:s:open/observations"),
            insert_template("urn:s:mole", "urn:t:closed"), insert_sensor("urn:s:new", "urn:o:closed"),
            insert_sensor("urn:s:new2", "urn:o:none"),
        ):
            pair.ask("POST", "/sos", body, XML)
        if pair.who not in ("monitor", "slow"):
            for name in ("urn:s:closed", "urn:s:mole", "urn:s:none"):
                pair.ask("POST", "/sos", insert_sensor(name), XML)
        for name in ("urn:s:mole", "urn:s:closed", "urn:s:none"):
            pair.ask("POST", "/sos", delete_sensor(name), XML)
        pair.ask("GET", SOS2 + "GetCapabilities")

    def mqtt(self, pair):
        def seen(world):
            with world.mqtt(pair.who) as client:
                if client.seen.connected[0]:
                    return client.seen.connected
                codes = []
                wanted = (*TOPICS, "$share/g/site/closed/#", "$as/json/#", "v1.1/Observations", "v1.1/Datastreams",
                          "v1.1/Datastreams(" + pair.hidden["Datastreams"] + ")", "v1.1/Datastreams(77)/Observations",
                          "v1.1/Datastreams(" + pair.hidden["Datastreams"] + ")/Observations")
                for one, topic in itertools.chain(((client.subscribe, topic) for topic in wanted), (
                        (client.publish, topic) for topic in ("site/closed/x", "site/closed/nothing", "v1.1/Observations",
                                                              "v1.1/Datastreams(77)/Observations",
                                                              f"v1.1/Datastreams({pair.hidden['Datastreams']})/Observations"))):
                    if one == client.publish and pair.who == "slow":
                        continue
                    client.seen.acknowledged.clear()
                    client.subscribe(topic, 1) if one == client.subscribe else client.publish(topic, '{"result":1}', 1)
                    until(lambda: client.seen.acknowledged, topic)
                    codes.append((topic, client.seen.acknowledged[0]))
                return codes, sorted({it.topic for it in client.seen.came if it.retain})

        hides, open_ = (seen(scene.world) for scene in pair.scenes)
        self.assertEqual(hides, open_)

    def coap(self, pair):
        paths = [f"/{mount}/{urllib.parse.quote(topic, safe='/+')}"
                 for mount in ("live", "history", "catalog") for topic in TOPICS]
        for path in [*paths, "/.well-known/core", "/catalog"]:
            with self.subTest(who=pair.who, path=path):
                hides, open_ = (scene.world.coap(path, pair.who) for scene in pair.scenes)
                self.assertEqual(hides[0], open_[0])
                self.assertEqual(*(plain(scene.world, said[1].decode("utf-8", "replace"))
                                   for scene, said in zip(pair.scenes, (hides, open_))))
        for path in ("/live/site/closed/x", "/live/site/closed/nothing"):
            if pair.who != "slow":
                hides, open_ = (scene.world.coap(path, pair.who, aiocoap.POST, b"{}") for scene in pair.scenes)
                self.assertEqual(hides, open_)

    def amqp(self, pair):
        def seen(world):
            told = []
            options = {"user": pair.who, "password": world.secrets[pair.who], "allow_insecure_mechs": True}
            with connection(world.gateway, **options) as opened:
                for topic in TOPICS:
                    for make in (opened.create_receiver, opened.create_sender):
                        try:
                            make(topic).close()
                            told.append((topic, "attached"))
                        except LinkDetached as refused:
                            told.append((topic, plain(world, str(refused))))
            return told

        hides, open_ = (seen(scene.world) for scene in pair.scenes)
        self.assertEqual(hides, open_)


def soap(body):
    return ('<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope" xmlns:w="urn:weir:observations"><e:Body>'
            f"{body}</e:Body></e:Envelope>")


def _test(who):
    def run(self):
        pair = self.pair(who)
        self.sensorthings_reads(pair)
        self.live(pair)
        self.mqtt(pair)
        self.coap(pair)
        if who:
            self.amqp(pair)
        self.sensorthings_refused_writes(pair)
        self.sos(pair)
        self.sensorthings_reads(pair)
        self.sensorthings_deletions(pair)

    return run


for _who in CALLERS:
    setattr(Alike, f"test_{_who or 'nobody'}_is_answered_alike_where_something_is_hidden", _test(_who))


class Numbers(unittest.TestCase):
    """F1: without a credential no number is told from another."""

    def test_without_a_credential_every_number_is_answered_alike(self):
        world = World(ROLES, entries={"owner": "owner"})
        self.addCleanup(world.close)
        scene = Scene(world, True, True)
        for set_ in SETS:
            numbers = [*range(1, 20), 999999, *scene.ids.get(set_, "").split(), *scene.hidden.get(set_, "").split()]
            for method in ("PATCH", "PUT", "DELETE"):
                answers = {world.ask(f"{STA}{set_}({n})", None, method, {"result": 1}) for n in numbers}
                self.assertEqual({status for status, _ in answers}, {401}, set_)
                self.assertEqual(len(answers), 1, answers)
                asked = [{"id": "1", "method": method.lower(), "url": f"{set_}({n})", "body": {}} for n in numbers]
                batches = {world.ask(STA + "$batch", None, "POST", {"requests": [one]}) for one in asked}
                self.assertEqual(len(batches), 1, batches)
            said = world.ask(f"{STA}{set_}", None, "POST", {"result": 1})
            self.assertEqual(said[0], 401, said)
            self.assertNotIn(b"site/", said[1])


class Names(unittest.TestCase):
    def test_a_name_of_a_durable_link_is_each_users_own(self):
        world = World()
        self.addCleanup(world.close)

        @contextlib.contextmanager
        def receiver(who):
            container = Container()
            container.container_id = "box"
            options = {"user": who, "password": world.secrets[who], "allow_insecure_mechs": True, "container": container}
            with connection(world.gateway, **options) as opened:
                yield opened.create_receiver("site/open/#", credit=10, name="n", options=DurableSubscription())

        with receiver("reader") as first, receiver("other") as second:
            world.publish_both()
            for link in (first, second):
                self.assertEqual(link.receive(timeout=20).address, "site/open/a")
                link.accept()


if __name__ == "__main__":
    unittest.main()
