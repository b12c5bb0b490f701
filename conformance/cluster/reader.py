"""An SSE client of the standard library's that says what it got, and up to which cursor."""

import contextlib
import http.client
import json
import socket
import threading
import urllib.parse


class Reader:
    """Reads `topic` from one gateway until it is left; `got` are (cursor, event, values)."""

    def __init__(self, gateway, topic, since=None):
        self.got, self.changed = [], threading.Condition()
        self.connection = http.client.HTTPConnection(gateway.host, gateway.port, timeout=60)
        path = "/live/" + urllib.parse.quote(topic, safe="/")
        headers = {"Accept": "text/event-stream"}
        if since:
            headers["Last-Event-ID"] = since
        self.connection.request("GET", path, headers=headers)
        self.socket = self.connection.sock
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        event, cursor, data = "message", None, []
        try:
            for line in self.response:
                line = line.decode().rstrip("\n")
                name, _, value = line.partition(": ")
                if name == "id":
                    cursor = value
                elif name == "event":
                    event = value
                elif name == "data":
                    data.append(value)
                elif not line and (data or event != "message"):
                    self.take(cursor, event, "\n".join(data))
                    event, data = "message", []
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # It was left, or the gateway went away.
        with self.changed:
            self.got.append((cursor, "end", None))
            self.changed.notify_all()

    def take(self, cursor, event, data):
        values = json.loads(data) if data else None
        with self.changed:
            self.got.append((cursor, event, values))
            self.changed.notify_all()

    def values(self):
        """The values of all messages so far, in order."""
        with self.changed:
            messages = [said for _, event, said in self.got if event == "message"]
        return [each["value"] for said in messages for each in said["observations"]]

    def events(self):
        with self.changed:
            return [event for _, event, _ in self.got if event != "message"]

    def wait(self, count, within=30):
        """Waits for so many values; says whether they came."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.values_locked()) >= count, within)

    def values_locked(self):
        messages = [said for _, event, said in self.got if event == "message"]
        return [each["value"] for said in messages for each in said["observations"]]

    @property
    def cursor(self):
        with self.changed:
            cursors = [cursor for cursor, event, _ in self.got if event == "message"]
        return cursors[-1] if cursors else None

    def leave(self):
        """Ends the connection; what came stays."""
        # Closed alone, it would wait for the thread, which waits for what comes next.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.connection.close()
