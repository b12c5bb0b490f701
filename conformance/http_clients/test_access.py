"""One access policy and TLS, as clients meet them."""

import json
import pathlib
import ssl
import subprocess
import tempfile
import unittest

import httpx
import websockets.sync.client

import certificate
from gateway import BINARY, Gateway
from readers import streaming
from skips import program

POLICY = """
[role.publisher]
publish = ["site/#"]

[role.reader]
read = ["site/open/#"]
"""

JSON = {"name": "json", "media": "application/json", "text": True}


def token(name, role):
    """Makes a token as a person does: its secret, and its entry of the policy file."""
    made = subprocess.run(
        [BINARY, "token", name, "--role", role], capture_output=True, text=True, check=True
    )
    return made.stderr.strip().rpartition(" ")[2], made.stdout


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-policy-")
        cls.addClassCleanup(folder.cleanup)
        cls.writer, writer_entry = token("station", "publisher")
        cls.reader, reader_entry = token("board", "reader")
        policy = pathlib.Path(folder.name) / "policy.toml"
        policy.write_text(POLICY + writer_entry + reader_entry)
        cls.gateway = Gateway(settings={"access.policy": str(policy)})
        cls.addClassCleanup(cls.gateway.close)
        for topic in ("site/open/a", "site/closed/a"):
            assert cls.post(topic, cls.writer) == 204

    @classmethod
    def post(cls, topic, secret=None, value=1):
        headers = {"Content-Type": "application/json"}
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        body = json.dumps({"value": value})
        return cls.gateway.request("POST", f"/live/{topic}", body, headers)[0]

    def read(self, path, secret=None):
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        return self.gateway.request("GET", path, headers=headers)

    def test_without_a_token_nothing_is_read_or_published(self):
        self.assertIn(self.post("site/open/a"), (401, 403))
        status, headers, _ = self.read("/live/site/open/a")
        self.assertEqual(status, 401)
        self.assertIn("Bearer", headers["WWW-Authenticate"])

    def test_a_wrong_token_is_401(self):
        self.assertEqual(self.read("/live/site/open/a", "wrong")[0], 401)

    def test_a_publisher_may_not_publish_elsewhere(self):
        self.assertEqual(self.post("elsewhere/a", self.writer), 403)

    def test_a_reader_sees_of_a_wide_filter_what_it_may_see(self):
        status, _, body = self.read("/live/site/%23", self.reader)
        self.assertEqual(status, 200)
        topics = [row["topic"] for row in json.loads(body)["observations"]]
        self.assertEqual(topics, ["site/open/a"])

    def test_a_stream_delivers_what_may_be_seen_and_nothing_else(self):
        with httpx.Client(headers={"Authorization": f"Bearer {self.reader}"}, timeout=20) as client:
            since = client.get(f"{self.gateway.url}/live/site/%23").headers["Weir-Cursor"]
            for value in range(3):
                self.post("site/closed/a", self.writer, value)
                self.post("site/open/a", self.writer, value)
            got = []
            for messages, _ in streaming(self.gateway, "site/%23", JSON, since=since, client=client):
                for data in messages:
                    rows = json.loads(data)["observations"]
                    got += [(row["topic"], row["value"]) for row in rows]
                if len(got) == 3:
                    break
        self.assertEqual(got, [("site/open/a", value) for value in range(3)])

    def test_history_and_catalog_obey_the_same_policy(self):
        _, _, body = self.read("/history/site/%23", self.reader)
        self.assertNotIn(b"closed", body)
        _, _, body = self.read("/catalog", self.reader)
        self.assertNotIn(b"closed", body)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-tls-")
        cls.addClassCleanup(folder.cleanup)
        cls.certificate, key = certificate.make(folder.name)
        settings = {"tls.certificate": cls.certificate, "tls.key": key}
        cls.gateway = Gateway(settings=settings)
        cls.addClassCleanup(cls.gateway.close)
        cls.url = f"https://{cls.gateway.ready['https']}"
        cls.context = ssl.create_default_context(cafile=cls.certificate)

    def exchange(self, client):
        answer = client.post(f"{self.url}/live/tls/a", json={"value": 3})
        self.assertEqual(answer.status_code, 204)
        answer = client.get(f"{self.url}/live/tls/a")
        self.assertEqual(answer.json()["observations"][0]["value"], 3)
        return answer.http_version

    def test_http_1_1_over_tls(self):
        with httpx.Client(verify=self.context, timeout=20) as client:
            self.assertEqual(self.exchange(client), "HTTP/1.1")

    def test_http_2_is_negotiated(self):
        with httpx.Client(verify=self.context, http2=True, timeout=20) as client:
            self.assertEqual(self.exchange(client), "HTTP/2")

    def test_curl_over_tls(self):
        command = [program(self, "curl"), "-sS", "--cacert", self.certificate, "--json", '{"value":1}']
        command += ["-o", "/dev/null", "-w", "%{http_code} %{http_version}", f"{self.url}/live/tls/c"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "204 2")

    def test_what_it_says_of_itself_is_by_the_clients_scheme(self):
        capabilities = "/sos?service=SOS&request=GetCapabilities&AcceptVersions=2.0.0"
        asked = ["/soap/observations?wsdl", "/dpws/observations?wsdl", "/sta/v1.1", capabilities]
        authority = self.gateway.ready["https"]
        for http2 in (False, True):
            with httpx.Client(verify=self.context, http2=http2, timeout=20) as client:
                for path in asked:
                    said = client.get(self.url + path).text
                    self.assertIn(f"{self.url}/", said, path)
                    self.assertNotIn(f"http://{authority}", said, path)

    def test_a_websocket_over_tls(self):
        with httpx.Client(verify=self.context, timeout=20) as client:
            self.exchange(client)
        url = f"wss://{self.gateway.ready['https']}/live/tls/a?snapshot&bare"
        with websockets.sync.client.connect(url, ssl=self.context) as socket:
            self.assertEqual(json.loads(socket.recv(timeout=20))["observations"][0]["value"], 3)
