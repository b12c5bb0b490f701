"""`weir doctor` before what newcomers get wrong: each is told, and nothing else is bad."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import unittest

import certificate
from cluster.database import Database
from cluster.servers import Server, program as nats
from faults.kill import until
from gateway import BINARY, Gateway
from ports import free_port, free_ports
from skips import program

PORTS = ("http.listen", "mqtt.listen", "amqp.listen", "coap.listen", "coap.listen_tcp")


class Talker(socketserver.BaseRequestHandler):
    """Says something that nobody expects."""

    def handle(self):
        self.request.sendall(b"220 hello\r\n")


class Doctor(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="weir-doctor-")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def look(self, *more, **settings):
        """Its exit code, and the lines by their level."""
        settings = dict.fromkeys(PORTS, "127.0.0.1:0") | {key.replace("__", "."): it for key, it in settings.items()}
        sets = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        command = [BINARY, "doctor", "--data", str(self.folder / "data"), *more, *sets]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        lines = {level: [] for level in ("good", "LOOK", "BAD ")}
        for line in done.stdout.splitlines():
            lines[line[:4]].append(line[6:])
        return done.returncode, lines["good"], lines["LOOK"], lines["BAD "]

    def bad(self, pattern, *more, **settings):
        code, _, _, bad = self.look(*more, **settings)
        self.assertEqual(code, 1)
        self.assertEqual(len(bad), 1, bad)
        self.assertRegex(bad[0], pattern)

    def test_who_is_not_let_in_by_a_store_is_told_before_a_start(self):
        ports = free_ports(3)
        more = ['authorization { user: "ann", password: "secret" }']
        server = Server(nats(self), self.folder, "n", ports, more=more)
        self.addCleanup(server.close)
        self.assertIsNone(until(server.is_ready, "NATS"))
        place = f"127.0.0.1:{ports[0]}"
        self.bad("Authorization Violation", bus__url=f"nats://ann:wrong@{place}")
        code, good, _, bad = self.look(bus__url=f"nats://ann:secret@{place}")
        self.assertEqual((code, bad), (0, []))
        self.assertIn("NATS lets this gateway in, and JetStream answers it", good)
        with Database(self) as database:
            self.bad('database "other" does not exist', store__url=database.url.removesuffix("weir") + "other")
            self.bad("TLS", store__url=f"{database.url}?sslmode=require")
            code, good, _, bad = self.look(store__url=database.url)
            self.assertEqual((code, bad), (0, []))
            self.assertTrue(any(re.search(r"PostgreSQL \d+.* lets in weir@127", line) for line in good), good)

    def test_a_machine_with_nothing_wrong_is_good(self):
        code, good, _, bad = self.look()
        self.assertEqual((code, bad), (0, []))
        for word in ("configuration is right", "no policy", "it can listen at http.listen", "MiB free", "syncs in",
                     "files may be open", "of memory may be used", "may wait to be accepted", "the clock is set"):
            self.assertTrue(any(word in line for line in good), f"{word}: {good}")

    def test_a_secret_is_its_owners_and_the_services_groups(self):
        policy = self.folder / "policy.toml"
        policy.write_text('[role.reader]\nread = ["#"]\n')
        levels = {0o600: "good", 0o640: "good", 0o644: "LOOK", 0o660: "LOOK"}
        for mode, level in levels.items():
            policy.chmod(mode)
            _, good, look, _ = self.look(access__policy=policy)
            told = good if level == "good" else look
            self.assertTrue(any(re.search(f"{policy} is|read {policy}", line) for line in told), f"{mode:o}: {told}")
        if os.geteuid() == 0:
            policy.chmod(0o640)
            os.chown(policy, 0, 4321)
            self.assertTrue(any("group 4321" in line for line in self.look(access__policy=policy)[2]))

    def test_an_address_that_is_taken_or_not_ours_or_open_to_all(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            taken = f"127.0.0.1:{other.getsockname()[1]}"
            self.bad(f"mqtt.listen: {taken} is in use", mqtt__listen=taken)
        policy = self.folder / "policy.toml"
        policy.write_text('[role.reader]\nread = ["#"]\n')
        policy.chmod(0o600)
        self.bad("http.listen: this machine does not have", access__policy=policy, http__listen="192.0.2.1:8080")
        self.bad("no policy is set: it will not start", http__listen="0.0.0.0:0")
        self.assertEqual(self.look("--open", http__listen="0.0.0.0:0")[0], 0)

    def test_a_gateway_that_runs_has_its_own_addresses(self):
        with Gateway(data=str(self.folder / "data")) as gateway:
            code, good, _, bad = self.look(http__listen=gateway.address)
            self.assertEqual((code, bad), (0, []))
            self.assertTrue(any("by the gateway that runs" in line for line in good), good)

    def test_a_certificate_that_ends_or_has_ended(self):
        own, key = str(self.folder / "certificate.pem"), str(self.folder / "key.pem")
        certificate.openssl(f"req -x509 {certificate.NEW.replace('-days 2', '-days 1')} -subj /CN=new "
                            f"-addext basicConstraints=CA:FALSE -keyout {key} -out {own}")
        os.chmod(key, 0o600)
        _, _, look, bad = self.look(tls__certificate=own, tls__key=key, http__listen_tls="127.0.0.1:0",
                                    mqtt__listen_tls="127.0.0.1:0", amqp__listen_tls="127.0.0.1:0",
                                    coap__listen_tls="127.0.0.1:0")
        self.assertEqual(bad, [])
        self.assertTrue(any(re.search(r"certificate.pem holds for [01] days and \d+ hours", line) for line in look), look)
        certificate.openssl(f"req -x509 {certificate.NEW.replace('-days 2', '')} -not_before 20240101000000Z "
                            f"-not_after 20240201000000Z -subj /CN=old -addext basicConstraints=CA:FALSE "
                            f"-keyout {key} -out {own}") if self.openssl_dates() else self.past(own, key)
        self.bad("certificate.pem has ended", tls__certificate=own, tls__key=key, http__listen_tls="127.0.0.1:0",
                 mqtt__listen_tls="127.0.0.1:0", amqp__listen_tls="127.0.0.1:0", coap__listen_tls="127.0.0.1:0")

    @staticmethod
    def openssl_dates():
        """Whether this OpenSSL can make a certificate of the past by a request (3.4 and later)."""
        said = subprocess.run(["openssl", "req", "-help"], capture_output=True, text=True)
        return "-not_before" in said.stderr + said.stdout

    def past(self, own, key):
        """The same by OpenSSL's small authority."""
        (self.folder / "index").touch()
        (self.folder / "ca.cnf").write_text(
            f"[ca]\ndefault_ca = own\n[own]\ndatabase = {self.folder}/index\nnew_certs_dir = {self.folder}\n"
            "rand_serial = yes\ndefault_md = sha256\npolicy = any\nx509_extensions = ext\n"
            "[any]\ncommonName = supplied\n[ext]\nbasicConstraints = CA:FALSE\n")
        certificate.openssl(f"req {certificate.NEW.replace('-days 2', '')} -subj /CN=old -keyout {key} "
                            f"-out {self.folder}/old.csr")
        certificate.openssl(f"ca -batch -selfsign -config {self.folder}/ca.cnf -keyfile {key} -in {self.folder}/old.csr "
                            f"-out {own} -startdate 20240101000000Z -enddate 20240201000000Z")

    def test_what_is_needed_elsewhere_is_asked_whether_it_is_that(self):
        away = f"127.0.0.1:{free_port()}"
        self.bad(f"bus.url: {away} does not answer", bus__url=f"nats://{away}")
        self.bad(f"store.url: {away} does not answer", store__url=f"postgres://ann:secret@{away}/weir")
        with socketserver.TCPServer(("127.0.0.1", 0), Talker) as other:
            threading.Thread(target=other.serve_forever, daemon=True).start()
            place = f"127.0.0.1:{other.server_address[1]}"
            self.bad("is no PostgreSQL", store__url=f"postgres://ann:secret@{place}/weir")
            self.bad("is no NATS", bus__url=f"nats://{place}")
            self.assertIn(f"trace.url: {place} answers", self.look(trace__url=f"http://{place}")[1])
            other.shutdown()
        looked = self.look(trace__url=f"http://{away}")
        self.assertTrue(any("trace.url" in line for line in looked[2]), looked)
        self.assertNotIn("secret", str(looked))

    @staticmethod
    def listens(port):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True

    def test_nats_is_known_by_what_it_says(self):
        server = nats(self)
        for more, pattern in ((["-js", "-sd", str(self.folder)], None), ([], "has JetStream off")):
            port = free_port()
            running = subprocess.Popen([server, "-a", "127.0.0.1", "-p", str(port), *more], stderr=subprocess.DEVNULL)
            try:
                self.assertIsNone(until(lambda port=port: self.listens(port), "nats-server listens"))
                url = f"nats://127.0.0.1:{port}"
                if pattern:
                    self.bad(pattern, bus__url=url)
                else:
                    good = self.look(bus__url=url)[1]
                    self.assertTrue(any("with JetStream answers" in line for line in good), good)
            finally:
                running.kill()
                running.wait()

    def test_a_clock_that_went_back_is_seen_by_the_data(self):
        log = self.folder / "data/log"
        log.mkdir(parents=True)
        later = pathlib.Path(shutil.copy(__file__, log / "a.log"))
        os.utime(later, (4_000_000_000, 4_000_000_000))
        self.assertTrue(any("hours from now" in line for line in self.look()[2]))
