"""Let's Encrypt's Pebble as a process: a small ACME authority that looks at names by a DNS of the test's."""

import contextlib
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import urllib.request

import certificate
from faults.kill import until
from ports import free_port
from skips import program


class Authority:
    """Every name leads to 127.0.0.1, where it reads proofs at `http_port`; what it gives holds `seconds`."""

    def __init__(self, test, http_port, seconds, **variables):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-acme-"))
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.test, self.dns = test, free_port()
        # Its own HTTPS, whose authority is `tls.acme.ca_file`.
        self.ca = certificate.authority(self.folder)
        names = "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth"
        own, key = certificate.signed(self.folder, "pebble", names)
        self.port, self.management = free_port(), free_port()
        listens = {"listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{self.management}"}
        # Its own looks at TLS are at a port where nobody is: http-01 is what is proved.
        looks = {"httpPort": http_port, "tlsPort": free_port(), "retryAfter": {"authz": 1, "order": 1}}
        profiles = {"default": {"description": "short", "validityPeriod": seconds}}
        pebble = {**listens, **looks, "certificate": own, "privateKey": key, "profiles": profiles,
                  "ocspResponderURL": "", "keyAlgorithm": "ecdsa", "domainBlocklist": ["blocked.example"]}
        (self.folder / "pebble.json").write_text(json.dumps({"pebble": pebble}))
        self.run("pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "",
                 "-tlsalpn01", "", "-doh", "", "-dnsserver", f"127.0.0.1:{self.dns}",
                 "-management", f"127.0.0.1:{free_port()}")
        # Every twentieth nonce is refused, as it does by itself: who asks must try again.
        self.run("pebble", "-config", self.folder / "pebble.json", "-dnsserver", f"127.0.0.1:{self.dns}",
                 PEBBLE_VA_NOSLEEP="1", **variables)
        test.assertIsNone(until(self.answers, "Pebble listens"))

    def run(self, name, *arguments, **variables):
        log = open(self.folder / f"{name}.log", "wb")
        self.test.addCleanup(log.close)
        command = [program(self.test, name), *map(str, arguments)]
        running = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **variables})
        self.test.addCleanup(running.wait)
        self.test.addCleanup(running.kill)

    @property
    def directory(self):
        return f"https://127.0.0.1:{self.port}/dir"

    def answers(self):
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(self.directory, context=self.trusting(self.ca)).status == 200

    def root(self):
        """The file of the authority that signs what it gives; another at each start."""
        url = f"https://127.0.0.1:{self.management}/roots/0"
        file = self.folder / "root.pem"
        file.write_bytes(urllib.request.urlopen(url, context=self.trusting(self.ca)).read())
        return file

    @staticmethod
    def trusting(file):
        return ssl.create_default_context(cafile=file)
