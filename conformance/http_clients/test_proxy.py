"""Behind nginx with its defaults, which buffer: what streams must still stream."""

import json
import pathlib
import subprocess
import tempfile
import unittest
import urllib.request

from gateway import Gateway
from ports import free_port
from readers import SCHEMES
from skips import program

JSON = {"name": "json", "media": "application/json", "text": True}

CONFIG = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  map $http_upgrade $connection_upgrade {{ default upgrade; "" ""; }}
  server {{
    listen unix:{folder}/unused.sock;
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://{upstream};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }}
  }}
}}
"""


class Proxied:
    """What readers need to know of a gateway: its addresses."""

    def __init__(self, port):
        self.url, self.ws_url = f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}"


class BehindNginx(unittest.TestCase):
    def setUp(self):
        nginx = program(self, "nginx")
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        folder = tempfile.TemporaryDirectory(prefix="nginx-")
        self.addCleanup(folder.cleanup)
        port = free_port()
        config = pathlib.Path(folder.name) / "nginx.conf"
        upstream = self.gateway.address
        config.write_text(CONFIG.format(folder=folder.name, port=port, upstream=upstream))
        self.nginx = subprocess.Popen(
            [nginx, "-p", folder.name, "-c", str(config)], stderr=subprocess.DEVNULL
        )
        self.addCleanup(self.nginx.wait)
        self.addCleanup(self.nginx.terminate)
        self.proxy = Proxied(port)
        self.until_it_listens()

    def until_it_listens(self):
        while self.nginx.poll() is None:
            try:
                urllib.request.urlopen(f"{self.proxy.url}/health/live", timeout=5).read()
                return
            except OSError:
                continue
        self.fail("nginx ended")

    def streams(self, scheme):
        """Each message must arrive before the next is published: nothing waits in a buffer."""
        topic = f"proxy/{scheme}"
        messages = SCHEMES[scheme](self.proxy, topic, JSON, since=self.gateway.cursor())
        for number in range(3):
            self.gateway.publish_value(topic, number)
            received, _ = next(messages)
            self.assertEqual(json.loads(received[0])["observations"][0]["value"], number)
        messages.close()

    def test_long_polling_passes(self):
        self.streams("long_polling")

    def test_streaming_passes_unbuffered(self):
        self.streams("streaming")

    def test_sse_passes_unbuffered(self):
        self.streams("sse")

    def test_websocket_passes(self):
        self.streams("websocket")

    def test_publishing_passes(self):
        request = urllib.request.Request(
            f"{self.proxy.url}/live/proxy/in", b'{"value":1}', {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            self.assertEqual(answer.status, 204)
