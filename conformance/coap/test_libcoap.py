"""libcoap's client: every method, blocks, loss, observation, TCP."""

import pathlib
import subprocess
import tempfile
import time
import unittest

from skips import program

from . import server


class Libcoap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server.start(cls)

    def setUp(self):
        self.client = program(self, "coap-client-notls")
        self.topic = "libcoap/" + self._testMethodName

    def coap(self, *arguments, wait_s=60):
        """What the client printed, answers on stdout and refusals on stderr."""
        command = [self.client, "-B", "20", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=wait_s)
        return (ended.stdout + ended.stderr).strip()

    def live(self, url=None):
        return f"{url or self.url}/live/{self.topic}"

    def test_what_is_put_and_posted_is_read_over_http(self):
        self.assertEqual(self.coap("-m", "put", "-t", "0", "-e", "21.5", self.live()), "")
        self.assertEqual(self.gateway.history(self.topic)[0]["value"], 21.5)
        self.coap("-m", "post", "-t", "50", "-e", '{"humidity":40}', self.live())
        self.assertEqual(self.gateway.history(self.topic + "/humidity")[0]["value"], 40)

    def test_every_format_with_a_number_comes_back(self):
        self.gateway.publish_value(self.topic, 21.5)
        self.assertEqual(self.coap("-m", "get", "-A", "0", self.live()), "21.5")
        self.assertIn('"v":21.5', self.coap("-m", "get", "-A", "110", self.live()))
        self.assertIn("21.5", self.coap("-m", "get", "-A", "41", self.live()))
        self.assertTrue(self.coap("-m", "get", "-A", "9999", self.live()).startswith("4.06"))

    def test_history_catalog_and_discovery(self):
        for value in (1, 2, 3):
            self.gateway.publish_value(self.topic, value)
        past = self.coap("-m", "get", f"{self.url}/history/{self.topic}?limit=2")
        self.assertEqual(past.count('"value"'), 2)
        self.assertIn(self.topic, self.coap("-m", "get", f"{self.url}/catalog"))
        found = self.coap("-m", "get", f"{self.url}/.well-known/core?href=/live/libcoap*")
        self.assertIn(f"</live/{self.topic}>", found)
        self.assertEqual(self.coap("-m", "get", f"{self.url}/.well-known/core?href=/link1"), '</link1>;rt="Type1 Type2";if="If1"')

    def observe(self, url, *arguments):
        """Publishes over HTTP what the client observes."""
        self.gateway.publish_value(self.topic, 0)
        command = [self.client, "-B", "20", "-s", "5", "-A", "0", *arguments, self.live(url)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            time.sleep(1)
            for value in (71, 72, 73):
                self.gateway.publish_value(self.topic, value)
                time.sleep(0.3)
            return process.communicate(timeout=30)[0]

    def test_observing_what_http_publishes(self):
        self.assertEqual(self.observe(self.url).split("\n")[0].strip(), "0717273")

    def test_observing_without_confirmation(self):
        self.assertEqual(self.observe(self.url, "-N").split("\n")[0].strip(), "0717273")

    def test_observing_over_tcp(self):
        self.assertEqual(self.observe(self.tcp_url).split("\n")[0].strip(), "0717273")

    def test_large_bodies_go_in_blocks_of_every_size_and_over_tcp(self):
        body = "0123456789abcdef" * 400
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "body")
            file.write_text(body, encoding="ascii")
            for url, sizes in ((self.url, (16, 64, 256, 1024)), (self.tcp_url, (1024,))):
                for size in sizes:
                    put = ("-m", "put", "-b", str(size), "-f", str(file), f"{url}/large-update")
                    self.assertEqual(self.coap(*put), "")
                    got = self.coap("-m", "get", "-b", str(size), f"{url}/large-update")
                    self.assertEqual(got, body, f"{url} {size}")

    def test_a_link_that_loses_datagrams_one_by_one_and_in_a_row(self):
        """Which are lost is said, not drawn: five of a row end any exchange, and one in five would some day
        lose five."""
        whole = self.coap("-m", "get", f"{self.url}/large")
        lost = ("-l", "1,3,5-6")
        lossy = self.coap(*lost, "-m", "get", "-b", "512", f"{self.url}/large", wait_s=200)
        self.assertEqual(lossy, whole)

    def test_an_answer_that_takes_longer(self):
        self.assertEqual(self.coap("-m", "get", f"{self.url}/separate"), "it took a while")
        self.assertEqual(self.coap("-N", "-m", "get", f"{self.url}/separate"), "it took a while")

    def test_refusals_are_told(self):
        self.assertTrue(self.coap("-m", "get", f"{self.url}/nothing").startswith("4.04"))
        self.assertTrue(self.coap("-m", "delete", f"{self.url}/live/a").startswith("4.05"))
