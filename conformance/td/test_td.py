"""Descriptions of a real gateway are valid by their official schemas, and other people's programs use what they say."""

import hashlib
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import jsonschema
import openapi_spec_validator

import skips
from gateway import Gateway

HERE = pathlib.Path(__file__).resolve().parent.parent
MODULES = HERE / "node_modules"
WAIT_S = 60


def schema(test, name):
    """An official schema, as its authors publish it on npm."""
    path = MODULES / name
    if not path.exists():
        skips.skip(test, f"{name} is absent: npm ci in conformance/")
    return json.loads(path.read_text())


def thing_schema(test):
    return schema(test, "wot-thing-description-types/schema/td-json-schema-validation.json")


def check(rules, document):
    """Fails unless the document is valid."""
    validator = jsonschema.validators.validator_for(rules, jsonschema.Draft7Validator)
    fault = jsonschema.exceptions.best_match(validator(rules).iter_errors(document))
    if fault is not None:
        raise AssertionError(f"{fault.json_path}: {fault.message[:500]}")


def references(document):
    """Every `$ref` within a document."""
    if isinstance(document, dict):
        if isinstance(document.get("$ref"), str):
            yield document["$ref"]
        for value in document.values():
            yield from references(value)
    elif isinstance(document, list):
        for value in document:
            yield from references(value)


def resolve(document, reference):
    """What a reference leads to (RFC 6901 section 6)."""
    for step in urllib.parse.unquote(reference.removeprefix("#/")).split("/"):
        document = document[step.replace("~1", "/").replace("~0", "~")]
    return document


class Described(unittest.TestCase):
    """A gateway with some datastreams."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(settings={"coap.listen_tcp": "127.0.0.1:0", **cls.settings})

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def get(self, path, **headers):
        status, found, body = self.gateway.request("GET", path, headers=headers)
        self.assertEqual(status, 200, body)
        return json.loads(body), found


class Open(Described):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gateway.publish("hall/temperature", {"value": 21.5, "unit": "Cel", "type": "temperature"})
        cls.gateway.publish("hall/door", {"value": True})
        cls.gateway.publish("plant/odd level/50%", {"value": "a < b"})

    def test_every_thing_is_valid_and_the_directory_lists_it(self):
        rules = thing_schema(self)
        things, headers = self.get("/td")
        self.assertEqual(headers["Content-Type"], "application/ld+json")
        self.assertEqual([thing["title"] for thing in things], ["hall", "plant/odd level"])
        for thing in things:
            check(rules, thing)
            alone, headers = self.get("/td/" + urllib.parse.quote(thing["title"]))
            self.assertEqual(headers["Content-Type"], "application/td+json")
            self.assertEqual(alone, thing)

    def test_all_that_is_open_has_its_forms_and_nothing_else(self):
        thing, _ = self.get("/td/hall")
        forms = thing["properties"]["temperature"]["forms"]
        ready = self.gateway.ready
        for listener in ("http", "mqtt", "amqp", "coap", "coap+tcp"):
            mine = [form for form in forms if form["href"].startswith(f"{listener}://{ready[listener]}/")]
            self.assertTrue(mine, listener)
        schemes = {urllib.parse.urlsplit(form["href"]).scheme for form in forms}
        brokered = {"mqtt", "mqtt+ws", "amqp", "amqp10+ws"}
        self.assertEqual(schemes, {"http", "ws", "coap", "coap+tcp", "coap+ws", *brokered})
        read = [form for form in forms if form["op"] == ["readproperty"] and form["href"].startswith("http:")]
        self.assertEqual({form["contentType"] for form in read}, {one["media"] for one in self.gateway.formats()})
        subprotocols = {form.get("subprotocol") for form in forms}
        self.assertLessEqual({"sse", "longpoll", "weir.json", "cov:observe"}, subprotocols)

    def test_every_form_that_reads_by_http_can_be_read_as_it_says(self):
        thing, _ = self.get("/td")
        forms = [form for one in thing for value in one["properties"].values() for form in value["forms"]]
        read = [form for form in forms if "readproperty" in form["op"] and form["href"].startswith("http:")]
        self.assertGreater(len(read), 60)
        for form in read:
            path = form["href"].removeprefix(self.gateway.url)
            status, headers, body = self.gateway.request("GET", path)
            self.assertEqual((status, headers["Content-Type"]), (200, form["contentType"]), body)

    def test_openapi_is_valid_and_describes_what_is_there(self):
        document, _ = self.get("/openapi.json")
        openapi_spec_validator.validate(document)
        self.assertEqual(document["servers"], [{"url": self.gateway.url}])
        wanted = {"/live/{topic}", "/history/{topic}", "/catalog", "/formats", "/health/ready", "/metrics"}
        self.assertLessEqual(wanted | {"/sta/v1.1/{set}", "/sos", "/soap/observations"}, set(document["paths"]))
        media = {one["media"] for one in self.gateway.formats()}
        self.assertEqual(set(document["components"]["responses"]["Message"]["content"]), media)
        for path, item in document["paths"].items():
            if "get" in item and "{" not in path:
                required = [one for one in item["get"].get("parameters", []) if one.get("required")]
                values = {one["name"]: one["schema"].get("enum", [""])[0] for one in required}
                status, _, said = self.gateway.request("GET", f"{path}?{urllib.parse.urlencode(values)}")
                self.assertIn(str(status), item["get"]["responses"], f"{path}: {said!r}")

    def test_asyncapi_is_valid_and_its_references_lead_somewhere(self):
        document, _ = self.get("/asyncapi.json")
        check(schema(self, "@asyncapi/specs/schemas/3.0.0-without-$id.json"), document)
        found = list(references(document))
        self.assertTrue(found)
        for reference in found:
            resolve(document, reference)
        protocols = {server["protocol"] for server in document["servers"].values()}
        self.assertLessEqual({"http", "ws", "mqtt", "coap", "coap+tcp", "mqtt+ws"}, protocols)
        addresses = {channel["address"] for channel in document["channels"].values()}
        self.assertLessEqual({"/live/hall/door", "$as/json/hall/door"}, addresses)

    def test_bad_input_is_told_what_is_wrong(self):
        for path, expected in (
            ("/td/nowhere", 404),
            ("/td/%zz", 400),
            ("/td/a%23", 400),
            ("/td?limit=0", 400),
            ("/td?as=fax", 400),
            ("/asyncapi.json?topic=a%23b", 400),
            ("/asyncapi.json?topic=nowhere", 404),
        ):
            status, _, body = self.gateway.request("GET", path)
            self.assertEqual(status, expected, f"{path}: {body!r}")
            self.assertGreater(len(body), 10)
        self.assertEqual(self.gateway.request("POST", "/td", b"{}")[0], 405)


class Consumed(Described):
    """By node-wot of Eclipse Thingweb, which knows no more than the Thing Description."""

    def consume(self, *arguments):
        if not (MODULES / "@node-wot").exists():
            skips.skip(self, "node-wot is absent: npm ci in conformance/")
        node = skips.program(self, "node")
        command = [node, "javascript/wot.mjs", *arguments]
        return subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def once(self, scheme, operation, name, *argument):
        process = self.consume(scheme, operation, f"{self.gateway.url}/td/{name}", "t", *argument)
        said, complaint = process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 0, complaint)
        return said.splitlines()

    def value(self, line):
        return json.loads(line)["observations"][-1]["value"]

    def test_a_property_is_read_and_written_by_http_and_coap(self):
        self.gateway.publish_value("room/t", 1.5)
        for scheme, value in (("http", 2.5), ("coap", 3.5)):
            self.assertEqual(self.value(self.once(scheme, "read", "room")[-1]), value - 1)
            message = json.dumps({"observations": [{"value": value}]})
            self.assertEqual(self.once(scheme, "write", "room", message)[-1], "written")
            # node-wot says so whatever the answer was.
            self.assertEqual(self.value(self.once(scheme, "read", "room")[-1]), value)

    def test_a_property_is_observed_by_sse_and_mqtt_and_coap(self):
        for scheme in ("http", "mqtt", "coap"):
            name = f"seen-{scheme}"
            self.gateway.publish_value(f"{name}/t", 0)
            process = self.consume(scheme, "observe", f"{self.gateway.url}/td/{name}", "t", "3")
            while "observing" not in (line := process.stderr.readline()):
                self.assertTrue(line, f"{scheme}: {process.stdout.read()}")
            for value in range(1, 6):
                self.gateway.publish_value(f"{name}/t", value)
            said, complaint = process.communicate(timeout=WAIT_S)
            values = [self.value(line) for line in said.splitlines() if line.startswith("{")]
            self.assertEqual(len(values), 3, complaint)
            # CoAP notifies of a state (RFC 7641 section 1.3), and begins with that of the registration.
            self.assertEqual(values, sorted(values))
            if scheme != "coap":
                self.assertEqual(values, [1, 2, 3])


class Generated(Described):
    """openapi-python-client makes a client of /openapi.json, which then publishes and reads."""

    def client(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-openapi-"))
        self.addCleanup(lambda: __import__("shutil").rmtree(folder, ignore_errors=True))
        tool = pathlib.Path(sys.executable).parent / "openapi-python-client"
        command = [tool, "generate", "--url", f"{self.gateway.url}/openapi.json", "--meta", "none"]
        search = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
        made = subprocess.run(
            [*command, "--output-path", folder / "made"],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            env={**os.environ, "PATH": search},
        )
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        sys.path.insert(0, str(folder))
        self.addCleanup(sys.path.remove, str(folder))
        return importlib.import_module("made")

    def test_a_generated_client_publishes_and_reads(self):
        made = self.client()
        call = {
            name: importlib.import_module(f"made.api.{name}")
            for name in ("live.publish", "live.read_latest", "history.read_history", "catalog.read_datastream")
        }
        models = importlib.import_module("made.models")
        client = made.Client(base_url=self.gateway.url)
        for value in (21.5, 22.5):
            one = models.Observation(value=value, unit="Cel", type_="temperature")
            body = models.Message(observations=[one])
            stored = call["live.publish"].sync_detailed("kitchen/t", client=client, body=body)
            self.assertEqual(stored.status_code, 204)
        latest = call["live.read_latest"].sync("kitchen/t", client=client)
        self.assertEqual([one.value for one in latest.observations], [22.5])
        self.assertEqual((latest.observations[0].unit, latest.observations[0].type_), ("Cel", "temperature"))
        past = call["history.read_history"].sync("kitchen/t", client=client, limit=1)
        self.assertEqual([one.value for one in past.observations], [21.5])
        past = call["history.read_history"].sync("kitchen/t", client=client, limit=1, page=past.next_)
        self.assertEqual([one.value for one in past.observations], [22.5])
        known = call["catalog.read_datastream"].sync("kitchen/t", client=client)
        self.assertEqual((known.topic, known.unit), ("kitchen/t", "Cel"))


class Attacked(Described):
    """schemathesis asks all that /openapi.json allows, and more: nothing is a server's error."""

    def test_no_request_is_a_servers_error(self):
        self.gateway.publish_value("hall/t", 1)
        tool = pathlib.Path(sys.executable).parent / "schemathesis"
        command = [tool, "--config-file", HERE / "td/schemathesis.toml", "run", f"{self.gateway.url}/openapi.json"]
        with tempfile.TemporaryDirectory() as folder:
            asked = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=5 * WAIT_S)
        self.assertEqual(asked.returncode, 0, asked.stdout[-4000:] + asked.stderr[-1000:])
        self.assertEqual(self.gateway.request("GET", "/health/ready")[0], 200)


POLICY = """[role.reader]
read = ["hall/#"]
[role.device]
read = ["hall/#"]
publish = ["hall/#"]
change = ["hall/#"]
[role.all]
read = ["#"]
publish = ["#"]
[role.guest]
read = ["public/#"]
[token.board]
sha256 = "{board}"
role = "device"
[token.reader]
sha256 = "{reader}"
role = "reader"
[token.root]
sha256 = "{root}"
role = "all"
[anonymous]
role = "guest"
"""


class Beyond(Described):
    """A gateway that is reached through a server of somebody's, and in a domain, as well."""

    settings = {
        "xmpp.component": "weir.example",
        "xmpp.url": "xmpp://127.0.0.1:9",
        "xmpp.password": "unused: nothing listens there",
        "dds.domain": "77",
    }

    def test_forms_of_xmpp_and_dds_lead_to_a_node_and_to_a_domain(self):
        self.gateway.publish("hall/odd level", {"value": 21.5})
        thing, _ = self.get("/td/hall")
        check(thing_schema(self), thing)
        forms = {form["href"].partition(":")[0]: form for form in thing["properties"]["odd level"]["forms"]}
        xmpp, dds = forms["xmpp"], forms["dds"]
        self.assertEqual(xmpp["href"], "xmpp:weir.example?;node=$as/json/hall/odd%20level")
        self.assertEqual(xmpp["op"], ["readproperty", "observeproperty", "unobserveproperty", "writeproperty"])
        self.assertEqual(xmpp["security"], "auto_sc")
        self.assertEqual(dds["href"], "dds://77/")
        self.assertEqual((dds["ddsv:topic"], dds["ddsv:key"]), ("weir/Observation", "hall/odd level"))
        status, _, idl = self.gateway.request("GET", dds["ddsv:idl"])
        self.assertEqual(status, 200)
        self.assertIn(dds["ddsv:type"].split("::")[1].encode(), idl)
        document, _ = self.get("/asyncapi.json")
        check(schema(self, "@asyncapi/specs/schemas/3.0.0-without-$id.json"), document)
        self.assertEqual(document["servers"]["xmpp-weir-example"]["host"], "weir.example")


class Restricted(unittest.TestCase):
    """With a policy a caller is told of what they may read, and ways to write of what they may write."""

    def setUp(self):
        hashes = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("board", "reader", "root")}
        with tempfile.NamedTemporaryFile("w", suffix=".toml", delete=False) as file:
            file.write(POLICY.format(**hashes))
        self.addCleanup(os.unlink, file.name)
        self.gateway = Gateway(settings={"access.policy": file.name})
        self.addCleanup(self.gateway.close)
        for topic in ("hall/t", "secret/t", "public/t"):
            headers = {"Authorization": "Bearer root"}
            answer = self.gateway.request("POST", f"/live/{topic}", b'{"value":1}', headers)
            self.assertEqual(answer[0], 204, answer[2])

    def told(self, token, path="/td"):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        status, _, body = self.gateway.request("GET", path, headers=headers)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def test_each_caller_is_told_their_own(self):
        rules = thing_schema(self)
        for token, names in (("board", ["hall"]), ("root", ["hall", "public", "secret"]), (None, ["public"])):
            things = self.told(token)
            self.assertEqual([thing["title"] for thing in things], names)
            for thing in things:
                check(rules, thing)
        self.assertEqual(self.gateway.request("GET", "/td/secret")[0], 404)
        self.assertNotIn("secret", json.dumps(self.told("board", "/asyncapi.json")))

    def test_ways_to_write_are_for_who_may_write(self):
        def operations(token):
            forms = self.told(token, "/td/hall")["properties"]["t"]["forms"]
            return {operation for form in forms for operation in form["op"]}

        self.assertIn("writeproperty", operations("board"))
        self.assertNotIn("writeproperty", operations("reader"))

    def test_security_is_what_is_configured(self):
        thing = self.told("board", "/td/hall")
        self.assertEqual(thing["security"], "bearer_sc")
        definitions = thing["securityDefinitions"]
        self.assertEqual(definitions["query_sc"], {"scheme": "bearer", "in": "query", "name": "access_token"})
        self.assertNotIn("basic_sc", definitions)
        for form in thing["properties"]["t"]["forms"]:
            scheme = form["href"].partition(":")[0]
            logins = dict.fromkeys(("mqtt", "amqp", "amqp10"), "login_sc")
            expected = {"coap": "query_sc", **logins}.get(scheme.partition("+")[0])
            self.assertEqual(form.get("security"), expected, form)
        self.assertEqual(self.told(None, "/td/public")["security"], "nosec_sc")
        document = self.told("board", "/openapi.json")
        openapi_spec_validator.validate(document)
        self.assertEqual(document["security"], [{"bearer": []}])
        document = self.told("board", "/asyncapi.json")
        check(schema(self, "@asyncapi/specs/schemas/3.0.0-without-$id.json"), document)
        self.assertEqual(set(document["components"]["securitySchemes"]), {"bearer", "query", "login"})


if __name__ == "__main__":
    unittest.main()
