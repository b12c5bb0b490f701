"""Where a gateway posts to: event sinks, collectors of traces."""

import http.server
import queue
import socket
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802: as the base class wants it
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.server.take(self.path, dict(self.headers), body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Receiver(http.server.ThreadingHTTPServer):
    """Listens at once, at a port of its own; `take` gets path, headers and body of each post and gives its status."""

    def __init__(self, take, host="127.0.0.1"):
        self.take = take
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), Handler)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Sink(Receiver):
    """Takes all that is pushed: `received` has the bodies."""

    def __init__(self, host="127.0.0.1"):
        self.received = queue.Queue()
        super().__init__(self.keep, host)

    def keep(self, _path, _headers, body):
        self.received.put(body)
        return 202
