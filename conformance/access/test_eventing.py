"""What the gateway pushes by WS-Eventing: what its subscriber may read, and nothing once that is over."""

import unittest

from access.world import CLOSED, OPEN, World, until
from receiver import Sink

EVENTING = "http://schemas.xmlsoap.org/ws/2004/08/eventing"
ADDRESSING = "http://www.w3.org/2005/08/addressing"
TOPICS = "urn:weir:device/Topics"
WAIT_S = 20


class Eventing(unittest.TestCase):
    def setUp(self):
        self.world = World(settings={"dpws.discovery": "true"})
        self.addCleanup(self.world.close)
        self.sink = Sink()
        self.addCleanup(self.sink.close)

    def ask(self, what, body, who, path="/dpws/observations"):
        envelope = f"""<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="{ADDRESSING}"
          xmlns:e="{EVENTING}"><s:Header><a:Action>{EVENTING}/{what}</a:Action>
          <a:MessageID>urn:uuid:1</a:MessageID></s:Header><s:Body>{body}</s:Body></s:Envelope>"""
        form = {"Content-Type": "application/soap+xml"}
        status, said = self.world.ask(path, who, "POST", envelope, form)
        return status, said.decode()

    def subscribe(self, wanted, who):
        sink = f"<a:Address>{self.sink.url}/</a:Address>"
        return self.ask("Subscribe", f"""<e:Subscribe><e:EndTo>{sink}</e:EndTo><e:Delivery><e:NotifyTo>{sink}</e:NotifyTo>
          </e:Delivery><e:Filter Dialect="{TOPICS}">{wanted}</e:Filter></e:Subscribe>""", who)

    def next(self):
        return self.sink.received.get(timeout=WAIT_S).decode()

    def test_a_sink_gets_what_its_subscriber_may_read(self):
        status, said = self.subscribe("#", "reader")
        self.assertEqual(status, 200, said)
        self.world.publish_both()
        came = self.next()
        self.assertIn(OPEN, came)
        self.assertNotIn(CLOSED, came)
        self.assertNotIn("site/closed", came)

    def test_who_may_not_read_cannot_subscribe(self):
        for wanted, who in (("site/closed/#", "reader"), ("site/open/#", "narrow"), ("site/open/#", None)):
            status, said = self.subscribe(wanted, who)
            self.assertGreaterEqual(status, 400, (wanted, who, said))
        self.world.publish_both()
        self.assertTrue(self.sink.received.empty())

    def test_a_subscription_ends_with_the_right_to_it_and_says_so(self):
        self.assertEqual(self.subscribe("#", "reader")[0], 200)
        self.world.publish_both()
        self.assertIn(OPEN, self.next())
        del self.world.entries["reader"]
        self.world.change()
        ended = self.next()
        self.assertIn("SubscriptionEnd", ended)
        self.assertIn("SourceCanceling", ended)
        self.world.publish_both()
        other, said = self.subscribe("site/open/#", "other")
        self.assertEqual(other, 200, said)
        self.world.publish("site/open/a", 7)
        until(lambda: not self.sink.received.empty(), "what is pushed to another")
        self.assertEqual(self.sink.received.qsize(), 1)

    def test_a_subscription_is_its_subscribers_own(self):
        status, said = self.subscribe("#", "reader")
        self.assertEqual(status, 200, said)
        manager = said.split("/dpws/subscriptions/", 1)[1].split("<", 1)[0]
        for who, taken in (("other", False), (None, False), ("reader", True)):
            status, said = self.ask("Unsubscribe", "<e:Unsubscribe/>", who, f"/dpws/subscriptions/{manager}")
            self.assertEqual(status < 400, taken, (who, said))


if __name__ == "__main__":
    unittest.main()
