"""Whom a browser takes the gateway for: by which name it is reached, what a proxy says, what runs in its origin."""

import contextlib
import socket
import unittest

from gateway import Gateway

EVIL = "evil.example"
CAPABILITIES = "/sos?service=SOS&request=GetCapabilities"


def answers(gateway, *requests):
    """Status and head of each answer to whole requests on one connection."""
    found = []
    with contextlib.closing(socket.create_connection((gateway.host, gateway.port), timeout=30)) as link:
        stream = link.makefile("rb")
        for request in requests:
            link.sendall(request.encode())
            line = stream.readline()
            if not line:
                break
            status, fields = int(line.split()[1]), {}
            while (line := stream.readline().strip()):
                name, _, value = line.decode().partition(":")
                fields[name.lower()] = value.strip()
            fields["body"] = stream.read(int(fields.get("content-length", 0)))
            found.append((status, fields))
    return found


def get(target, *fields):
    return "\r\n".join([f"GET {target} HTTP/1.1", *fields, "", ""])


def status(gateway, *request):
    return answers(gateway, get(*request))[0][0]


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def test_the_target_names_the_host_where_it_names_one(self):
        for target in (f"http://{EVIL}/catalog", f"HTTP://{EVIL}:80/catalog", f"https://{EVIL}/", f"http://{EVIL}?x"):
            self.assertEqual(status(self.gateway, target, "Host: 127.0.0.1"), 421, target)
        self.assertEqual(status(self.gateway, "http://127.0.0.1/catalog", f"Host: {EVIL}"), 200)
        self.assertEqual(status(self.gateway, "http://localhost:1/catalog", "Host: localhost:1"), 200)

    def test_a_host_that_is_none_is_refused(self):
        for fields in (["Host:"], ["Host: a@127.0.0.1"], ["Host: 127.0.0.1", f"Host: {EVIL}"], [], ["Host: a, b"],
                       [f"Host: 127.0.0.1/{EVIL}"], [f"Host: [{EVIL}]"], [f"Host: {EVIL.replace('.', '%2e')}"]):
            self.assertEqual(status(self.gateway, "/catalog", *fields), 400, fields)
        for target in (f"http://127.0.0.1@{EVIL}/catalog", f"http://{EVIL}@127.0.0.1/catalog", "http:///catalog",
                       f"ftp://{EVIL}/catalog", "catalog", "*"):
            self.assertEqual(status(self.gateway, target, "Host: 127.0.0.1"), 400, target)

    def test_each_request_of_a_connection_is_looked_at(self):
        both = answers(self.gateway, get("/catalog", "Host: 127.0.0.1"), get("/catalog", f"Host: {EVIL}"))
        self.assertEqual([status for status, _ in both], [200, 421])

    def test_only_a_listed_proxy_says_by_which_name_it_was_reached(self):
        said = [f"X-Forwarded-Host: {EVIL}", "X-Forwarded-Proto: https", f"Forwarded: host={EVIL};proto=https",
                "X-Forwarded-For: 192.0.2.1"]
        for near in ("Host: 127.0.0.1:80", "Host: gateway"):
            body = answers(self.gateway, get(CAPABILITIES, near, *said))[0][1]["body"]
            self.assertNotIn(EVIL.encode(), body)
        self.assertEqual(status(self.gateway, "/catalog", f"Host: {EVIL}", "X-Forwarded-Host: localhost"), 421)


class Proxies(unittest.TestCase):
    def test_a_listed_proxy_is_believed_within_the_gateways_names(self):
        settings = {"http.trusted_proxies": "127.0.0.0/8", "http.hosts": "data.example"}
        with Gateway(settings=settings) as gateway:
            def links(*fields):
                return answers(gateway, get(CAPABILITIES, "Host: 127.0.0.1:80", *fields))[0]

            code, fields = links("X-Forwarded-Host: data.example", "X-Forwarded-Proto: https")
            self.assertEqual(code, 200)
            self.assertIn(b"https://data.example/sos", fields["body"])
            # A proxy puts its own word behind the client's.
            code, fields = links(f"X-Forwarded-Host: {EVIL}, data.example", "X-Forwarded-Proto: http, https")
            self.assertIn(b"https://data.example/sos", fields["body"])
            self.assertEqual(links(f"X-Forwarded-Host: {EVIL}")[0], 421)
            for wrong in ("", "a@data.example", "data.example/x", "data.example,"):
                self.assertEqual(links(f"X-Forwarded-Host: {wrong}")[0], 400, wrong)
            self.assertIn(b"http://127.0.0.1:80/sos", links(f"Forwarded: host={EVIL}")[1]["body"])

    def test_another_address_is_not_believed(self):
        with Gateway(settings={"http.trusted_proxies": "192.0.2.0/24, ::1"}) as gateway:
            asked = get(CAPABILITIES, "Host: 127.0.0.1", f"X-Forwarded-Host: {EVIL}")
            code, fields = answers(gateway, asked)[0]
            self.assertEqual(code, 200)
            self.assertNotIn(EVIL.encode(), fields["body"])


class Origin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def fields(self, target, *fields):
        return answers(self.gateway, get(target, "Host: 127.0.0.1", *fields))[0][1]

    def test_pages_say_what_they_may(self):
        for page in ("/", "/measure", "/advise.html", "/decoders.html", "/messaging.html"):
            fields = self.fields(page)
            policy = fields["content-security-policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe-inline", policy)
            self.assertEqual("'unsafe-eval'" in policy, page == "/decoders.html", page)
            self.assertEqual(fields["x-frame-options"], "DENY")
            self.assertEqual(fields["referrer-policy"], "no-referrer")
            self.assertEqual(fields["x-content-type-options"], "nosniff")

    def test_what_others_have_published_runs_nowhere(self):
        script = '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>'
        body = f'{{"value": "{script.replace(chr(34), chr(39))}"}}'
        self.gateway.request("POST", "/live/site/page", body, {"Content-Type": "application/json"})
        documents = 0
        for accept in ("text/html", "application/xml", "application/json", "text/plain", "image/svg+xml", "*/*"):
            for target in ("/live/site/page", "/catalog", "/missing", CAPABILITIES):
                fields = self.fields(target, f"Accept: {accept}")
                self.assertEqual(fields["x-content-type-options"], "nosniff", (target, accept))
                if any(word in fields["content-type"] for word in ("xml", "html")):
                    documents += 1
                    self.assertIn("sandbox", fields["content-security-policy"], (target, accept))
                    self.assertEqual(fields["referrer-policy"], "no-referrer")
        self.assertGreater(documents, 0)
