"""A device that publishes until it is told to stop, beside the subscription that a test waits for."""

import threading

from weir import Gateway


class Publisher(threading.Thread):
    """Publishes rising numbers, ten a second; `failure` is what ended it early."""

    def __init__(self, url, topic):
        super().__init__(daemon=True)
        self.url, self.topic = url, topic
        self.failure = None
        self.done = threading.Event()

    def run(self):
        try:
            with Gateway(self.url) as gateway:
                number = 0
                while not self.done.wait(0.1):
                    gateway.publish(self.topic, number)
                    number += 1
        except Exception as failure:
            self.failure = failure

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()
