"""A receiver of OTLP over HTTP whose reading is other people's: the protocol's own Python classes."""

import http.server
import threading

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """Keeps every span that is posted; `answers` are the statuses to give, the last again and again."""

    def __init__(self, answers=(200,)):
        self.posts, self.answers, self.lock = [], list(answers), threading.Lock()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802: as the base class wants it
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = collector.take(self.path, dict(self.headers), body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        with self.lock:
            status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            self.posts.append((path, headers, body, status))
        return status

    def requests(self):
        """What was taken, read."""
        with self.lock:
            taken = [body for _, _, body, status in self.posts if status == 200]
        return [ExportTraceServiceRequest.FromString(body) for body in taken]

    def spans(self):
        return [span for request in self.requests() for resource in request.resource_spans
                for scope in resource.scope_spans for span in scope.spans]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def facts(pairs):
    """Attributes as a dictionary."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
