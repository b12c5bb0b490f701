"""A real Chromium and its own protocol (DevTools): opens a page and says what is in it, as it changes."""

import base64
import json
import re
import subprocess
import tempfile
import time
import urllib.request

import websockets.sync.client

LOADED = "location.protocol !== 'about:' && document.readyState === 'complete'"


class Browser:
    """A Chromium without a window; ends with `close`."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="weir-chromium-", ignore_cleanup_errors=True)
        switches = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        self.process = subprocess.Popen(
            [program, *switches, f"--user-data-dir={self.folder.name}", "about:blank"],
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stderr:
            if found := re.search(r"listening on ws://([^/]+)/", line):
                self.address = found.group(1)
                break

    def open(self, url):
        request = urllib.request.Request(f"http://{self.address}/json/new?{url}", method="PUT")
        with urllib.request.urlopen(request) as answer:
            target = json.load(answer)
        self.page = websockets.sync.client.connect(target["webSocketDebuggerUrl"], max_size=None)
        self.asked = 0
        # Until then the page is still the empty one that the tab began with, and what is asked of it is dropped.
        while self.ask("Runtime.evaluate", expression=LOADED).get("result", {}).get("value") is not True:
            time.sleep(0.1)

    def ask(self, method, **parameters):
        self.asked += 1
        self.page.send(json.dumps({"id": self.asked, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.page.recv(timeout=30))
            if answer.get("id") == self.asked:
                return answer.get("result", {})

    def value(self, expression):
        """What an expression is in the page; a promise is waited for."""
        said = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "result" not in said:
            raise AssertionError(f"the page was left while it was asked: {expression}")
        return said["result"].get("value")

    def screenshot(self, file):
        with open(file, "wb") as picture:
            picture.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.page.close()
        self.process.terminate()
        self.process.wait(timeout=10)
        self.process.stderr.close()
        self.folder.cleanup()
