"""Bearer tokens that a provider signs: PyJWT makes them, a provider of this machine publishes its keys."""

import base64
import http.server
import json
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

    def published(self):
        kinds = {"e": jwt.algorithms.ECAlgorithm, "d": jwt.algorithms.OKPAlgorithm, "r": jwt.algorithms.RSAAlgorithm}
        keys = []
        for name, key in self.keys.items():
            made = kinds[name[0]].to_jwk(key.public_key(), as_dict=True)
            keys.append({**made, "kid": name, "use": "sig"})
        return {"keys": keys}

    def token(self, key="e", algorithm="ES256", seconds=3600, headers=None, signer=None, **claims):
        now = int(time.time())
        said = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + seconds, **claims}
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(said, signer or self.keys[key], algorithm, headers or {"kid": key})


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.provider = Provider()
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
