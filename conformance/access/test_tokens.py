"""Bearer tokens that a provider signs: PyJWT makes them, a provider of this machine publishes its keys."""

import base64
import http.server
import json
import pathlib
import tempfile
import threading
import time
import unittest

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from access.world import OPEN, ROLES, Follower, World, until

AUDIENCE = "weir"


class Provider:
    """Discovery and keys, as OpenID Connect providers have them."""

    def __init__(self):
        self.keys = {"e": ec.generate_private_key(ec.SECP256R1()), "d": ed25519.Ed25519PrivateKey.generate(),
                     "r": rsa.generate_private_key(65537, 2048)}
        # What else a key is said to be, by its name.
        self.words = {}
        self.asked = 0
        provider = self

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                provider.asked += 1
                is_keys = self.path == "/keys"
                body = provider.published() if is_keys else {"issuer": provider.url, "jwks_uri": f"{provider.url}/keys"}
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def described(self, name, made):
        return {**made, "kid": name, "use": "sig", **self.words.get(name, {})}

    def published(self):
        kinds = {"e": jwt.algorithms.ECAlgorithm, "d": jwt.algorithms.OKPAlgorithm, "r": jwt.algorithms.RSAAlgorithm}
        keys = []
        for name, key in self.keys.items():
            made = kinds[name[0]].to_jwk(key.public_key(), as_dict=True)
            keys.append(self.described(name, made))
        return {"keys": keys}

    def token(self, key="e", algorithm="ES256", seconds=3600, headers=None, signer=None, **claims):
        now = int(time.time())
        said = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + seconds, **claims}
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(said, signer or self.keys[key], algorithm, headers or {"kid": key})


    def raw(self, head, body, key="e", algorithm="ES256"):
        """A token of these very texts."""
        encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (head, body)]
        signed = ".".join(encoded)
        signature = jwt.algorithms.get_default_algorithms()[algorithm].sign(signed.encode(), self.keys[key])
        return f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.provider = Provider()
        # One key is for one algorithm alone, and one for something else than signatures.
        more = {"r1": rsa.generate_private_key(65537, 2048), "rs": rsa.generate_private_key(65537, 1024),
                "e3": ec.generate_private_key(ec.SECP384R1())}
        cls.provider.keys |= more | {name: ec.generate_private_key(ec.SECP256R1()) for name in ("e1", "eo")}
        cls.provider.words = {"r1": {"alg": "RS256"}, "e1": {"use": "enc"}, "eo": {"key_ops": ["sign"]}}
        cls.addClassCleanup(cls.provider.server.shutdown)
        entry = f'[issuer.site]\nissuer = "{cls.provider.url}"\naudience = "{AUDIENCE}"\nclaim = "groups"\n'
        cls.world = World(ROLES, more=entry + 'roles = { staff = "reader", engineers = "writer" }\n')
        cls.addClassCleanup(cls.world.close)
        cls.world.publish_both()
        until(lambda: cls.asked(cls.provider.token(groups=["staff"])) == 200, "the keys are there")

    @classmethod
    def asked(cls, token, path="/live/%23"):
        return cls.world.ask(path, None, headers={"Authorization": f"Bearer {token}"})[0]

    def test_every_kind_of_key_signs(self):
        for key, algorithm in (("e", "ES256"), ("d", "EdDSA"), ("r", "RS256"), ("r", "PS384")):
            self.assertEqual(self.asked(self.provider.token(key, algorithm, groups=["staff"])), 200, algorithm)

    def test_the_claim_says_what_may_be_done(self):
        reader, writer = (self.provider.token(groups=[name]) for name in ("staff", "engineers"))
        self.assertEqual(self.asked(reader, "/live/site/closed/a"), 403)
        self.assertEqual(self.asked(writer, "/live/site/closed/a"), 200)
        self.assertEqual(self.asked(self.provider.token(groups="other staff")), 200)
        for groups in (["nobody"], [], None, 7):
            self.assertEqual(self.asked(self.provider.token(groups=groups)), 401, groups)

    def test_what_is_not_right_is_refused(self):
        good = self.provider.token(groups=["staff"])
        head, body, _ = good.split(".")
        unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
        public = self.provider.keys["e"].public_key().public_bytes
        self.assertTrue(public)
        shared = json.dumps(self.provider.published()["keys"][0])
        wrong = {
            "another audience": self.provider.token(groups=["staff"], aud="other"),
            "another issuer": self.provider.token(groups=["staff"], iss="https://elsewhere.example"),
            "expired": self.provider.token(groups=["staff"], seconds=-60),
            "not yet": self.provider.token(groups=["staff"], nbf=int(time.time()) + 600),
            "for ever": self.provider.token(groups=["staff"], exp=None),
            "no audience": self.provider.token(groups=["staff"], aud=None),
            "another's key": self.provider.token(groups=["staff"], signer=ec.generate_private_key(ec.SECP256R1())),
            "no key": self.provider.token(groups=["staff"], headers={"kid": "x"}),
            "another kind of key": self.provider.token("r", "RS256", groups=["staff"], headers={"kid": "e"}),
            "no signature": f"{unsigned}.{body}.",
            "a signature cut short": good[:-3],
            "a shared secret": self.provider.token(algorithm="HS256", groups=["staff"], signer=shared),
            "another's claims": f"{head}.{self.provider.token(groups=['engineers']).split('.')[1]}.{good.split('.')[2]}",
        }
        for what, token in wrong.items():
            self.assertEqual(self.asked(token), 401, what)

    def header(self, key="e", algorithm="ES256", **members):
        return self.asked(self.provider.token(key, algorithm, groups=["staff"], headers={"kid": key, **members}))

    def test_what_a_header_asks_to_be_understood_is_refused(self):
        for critical in (["exp"], ["b64"], ["http://example.com/UNDEFINED"], [], ["alg"], "exp", None, [7]):
            self.assertEqual(self.header(crit=critical, exp=1), 401, critical)
        for members in ({"b64": False}, {"b64": False, "crit": ["b64"]}, {"zip": "DEF"}, {"enc": "A128GCM"},
                        {"cty": "JWT"}):
            self.assertEqual(self.header(**members), 401, members)
        self.assertEqual(self.header(unknown={"crit": ["x"]}), 200)

    def test_a_key_verifies_what_it_says_it_is_for(self):
        self.assertEqual(self.header("r1", "RS256"), 200)
        for algorithm in ("PS256", "RS384", "RS512", "PS384", "PS512"):
            self.assertEqual(self.header("r1", algorithm), 401, algorithm)
        self.assertEqual(self.header("e3", "ES384"), 200)
        for key, algorithm in (("e1", "ES256"), ("eo", "ES256"), ("rs", "RS256")):
            self.assertEqual(self.header(key, algorithm), 401, (key, algorithm))

    def test_a_token_for_something_else_is_refused_by_its_type(self):
        for kind in ("JWT", "jwt", "at+jwt", "application/at+jwt", "AT+JWT"):
            self.assertEqual(self.header(typ=kind), 200, kind)
        for kind in ("logout+jwt", "application/logout+jwt", "dpop+jwt", "secevent+jwt", "x", "JWT, at+jwt"):
            self.assertEqual(self.header(typ=kind), 401, kind)

    def test_a_key_that_the_token_brings_is_not_its_own(self):
        stranger = ec.generate_private_key(ec.SECP256R1())
        own = jwt.algorithms.ECAlgorithm.to_jwk(stranger.public_key(), as_dict=True)
        url = self.provider.url
        for members in ({"jwk": own}, {"jku": f"{url}/keys"}, {"x5u": url}, {"x5c": ["MIIB"]}):
            token = self.provider.token(groups=["staff"], headers={"kid": "e", **members}, signer=stranger)
            self.assertEqual(self.asked(token), 401, members)

    def test_a_name_that_comes_twice_is_refused(self):
        def claims(more):
            return (f'{{"iss":"{self.provider.url}","aud":"{AUDIENCE}","sub":"ann","groups":["staff"],'
                    f'"exp":{int(time.time()) + 60}{more}}}')
        head = '{"alg":"ES256","kid":"e"}'
        self.assertEqual(self.asked(self.provider.raw(head, claims(""))), 200)
        for other in ('{"alg":"ES256","kid":"e","kid":"e"}', '{"alg":"none","alg":"ES256","kid":"e"}',
                      '{"alg":"ES256","\\u0061lg":"ES256","kid":"e"}'):
            self.assertEqual(self.asked(self.provider.raw(other, claims(""))), 401, other)
        for more in (',"sub":"bob"', ',"exp":9999999999', ',"groups":["engineers"]', ',"x":{"a":1,"a":1}'):
            self.assertEqual(self.asked(self.provider.raw(head, claims(more))), 401, more)

    def test_claims_that_are_not_what_they_must_be_are_refused(self):
        now = int(time.time())
        for claims in ({"exp": now - 1}, {"exp": now - 6}, {"exp": str(now + 60)}, {"exp": -1}, {"exp": 1e300},
                       {"exp": (now + 60) * 1000}, {"nbf": now + 30}, {"nbf": str(now)}, {"iat": now + 60},
                       {"iat": "now"}, {"aud": {}}, {"aud": [AUDIENCE, 7]}, {"aud": []}, {"aud": AUDIENCE.upper()},
                       {"iss": self.provider.url + "/"}, {"sub": None}, {"sub": ""}, {"sub": "x" * 256}):
            self.assertEqual(self.asked(self.provider.token(groups=["staff"], **claims)), 401, claims)
        for claims in ({"exp": now + 60.5}, {"nbf": now + 1}, {"nbf": 0}, {"iat": None}, {"aud": ["other", AUDIENCE]}):
            self.assertEqual(self.asked(self.provider.token(groups=["staff"], **claims)), 200, claims)
        # The library signs no claim of these that is not text.
        for claims in ('"iss":7', '"iss":["URL"]', '"sub":7,"iss":"URL"', '"sub":["ann"],"iss":"URL"'):
            claims = claims.replace("URL", self.provider.url)
            body = f'{{{claims},"aud":"{AUDIENCE}","groups":["staff"],"exp":{now + 60}}}'
            self.assertEqual(self.asked(self.provider.raw('{"alg":"ES256","kid":"e"}', body)), 401, body)

    def test_only_the_compact_form_is_read_and_only_to_a_length(self):
        good = self.provider.token(groups=["staff"])
        head, body, signature = good.split(".")
        self.assertEqual(self.asked(good), 200)
        form = json.dumps({"payload": body, "protected": head, "signature": signature})
        for token in (form, f"{good}.{body}.{body}", f"{head}.{body}", f"{good}=", f"{head}=.{body}.{signature}",
                      f"{head}..{signature}", f"{head}.{body}.", f".{body}.{signature}"):
            self.assertEqual(self.asked(token), 401, token)
        self.assertIn(self.asked(self.provider.token(groups=["staff"], more="x" * 20_000)), (401, 431))

    def test_a_token_stands_in_the_place_of_a_password_too(self):
        self.world.secrets["ann"] = self.provider.token(groups=["staff"])
        with self.world.mqtt("ann") as client:
            self.assertEqual(client.seen.connected, [0])
            client.subscribe("site/closed/#", 1)
            until(lambda: client.seen.acknowledged, "SUBACK")
            self.assertEqual(client.seen.acknowledged, [[0x87]])

    def test_a_stream_ends_when_its_token_does(self):
        self.world.secrets["brief"] = self.provider.token(groups=["staff"], seconds=3)
        follower = Follower(self.world, "/live/%23?stream&snapshot", "brief")
        follower.start()
        until(lambda: OPEN.encode() in follower.text, "the snapshot")
        until(lambda: follower.is_over, "the end of the stream")

    def test_a_key_that_is_new_is_fetched(self):
        self.provider.keys["e2"] = ec.generate_private_key(ec.SECP256R1())
        token = self.provider.token("e2", groups=["staff"])
        until(lambda: self.asked(token) == 200, "the new key is taken")

    def test_what_a_key_has_signed_that_is_withdrawn_ends(self):
        provider = Provider()
        self.addCleanup(provider.server.shutdown)
        with tempfile.TemporaryDirectory() as folder:
            keys = pathlib.Path(folder) / "keys.json"
            keys.write_text(json.dumps(provider.published()))
            entry = f'[issuer.site]\nissuer = "{provider.url}"\naudience = "{AUDIENCE}"\n'
            world = World(ROLES, more=f'{entry}jwks = "{keys}"\nrole = "reader"\n')
            self.addCleanup(world.close)
            world.publish_both()
            world.secrets["ann"] = token = provider.token()

            def asked():
                return world.ask("/live/%23", None, headers={"Authorization": f"Bearer {token}"})[0]

            until(lambda: asked() == 200, "the keys are there")
            follower = Follower(world, "/live/%23?stream&snapshot", "ann")
            follower.start()
            until(lambda: OPEN.encode() in follower.text, "the snapshot")
            del provider.keys["e"]
            keys.write_text(json.dumps(provider.published()))
            until(lambda: follower.is_over, "the end of the stream")
            self.assertEqual(asked(), 401)
