"""A receiver of OTLP over HTTP whose reading is other people's: the protocol's own Python classes."""

import threading

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from receiver import Receiver


class Collector:
    """Keeps every span that is posted; `answers` are the statuses to give, the last again and again."""

    def __init__(self, answers=(200,)):
        self.posts, self.answers, self.lock = [], list(answers), threading.Lock()
        self.server = Receiver(self.take)
        self.url = self.server.url

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
        self.server.close()


def facts(pairs):
    """Attributes as a dictionary."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
