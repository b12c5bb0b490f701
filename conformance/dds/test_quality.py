"""Quality of service, requested and offered (DDS 1.4 section 2.2.3), against Cyclone's."""

import json
import unittest

from cyclonedds.util import duration

from dds.peer import DOMAINS, Listener, Observation, Peer, Policy, Result, metric, take, until
from gateway import Gateway

BEST_EFFORT = Policy.Reliability.BestEffort


class Incompatible(Listener):
    def __init__(self):
        super().__init__()
        self.policies = []

    def on_offered_incompatible_qos(self, writer, status):
        self.policies.append(status.last_policy_id)

    def on_requested_incompatible_qos(self, reader, status):
        self.policies.append(status.last_policy_id)


class Alive(Listener):
    """How many writers are alive, and how many are not."""

    def __init__(self):
        super().__init__()
        self.counts = []

    def on_liveliness_changed(self, reader, status):
        self.counts.append((status.alive_count, status.not_alive_count))


class Quality(unittest.TestCase):
    def serve(self, **settings):
        number = next(DOMAINS)
        dds = {f"dds.{key.replace('__', '.')}": value for key, value in settings.items()}
        gateway = Gateway(settings={"dds.domain": str(number), **dds})
        self.addCleanup(gateway.close)
        return gateway, Peer(number, gateway)

    # [DDS-2.2.3-1]
    def test_a_writer_that_offers_less_is_no_match_and_told(self):
        gateway, peer = self.serve()
        told = Incompatible()
        writer = peer.writer(BEST_EFFORT, wait=False, listener=told)
        until(lambda: told.policies, "Cyclone's word of it")
        until(lambda: metric(gateway, "weir_dds_incompatible_total") > 0, "weir's word of it")
        self.assertFalse(writer.get_matched_subscriptions())

    # [DDS-2.2.3-1]
    def test_a_best_effort_request_takes_what_any_writer_offers(self):
        gateway, peer = self.serve(request__reliability="best-effort")
        for policy in (BEST_EFFORT, Policy.Reliability.Reliable(duration(seconds=1))):
            writer = peer.writer(policy)

            def heard(writer=writer, topic=f"q/{len(peer.writers)}"):
                writer.write(Observation(topic=topic, value=Result(number=1)))
                return gateway.history(topic)

            until(heard, f"a sample of {policy}")

    def test_a_best_effort_reader_takes_a_reliable_writers(self):
        gateway, peer = self.serve()
        reader = peer.reader(BEST_EFFORT)
        gateway.publish_value("q/a", 1)
        self.assertEqual(take(reader, 1)[0].value.value, 1)

    # [DDS-2.2.3-1]
    def test_durability_that_is_not_offered_is_no_match(self):
        _, peer = self.serve(offer__durability="volatile")
        told = Incompatible()
        reader = peer.reader(Policy.Durability.TransientLocal, wait=False, listener=told)
        until(lambda: told.policies, "Cyclone's word of it")
        self.assertFalse(reader.get_matched_publications())

    def test_a_late_reader_gets_the_newest_that_are_kept(self):
        gateway, peer = self.serve(offer__history="3")
        for value in range(10):
            gateway.publish_value("h", value)

        def kept():
            reader, found = peer.reader(Policy.Durability.TransientLocal), []
            until(lambda: found.extend(take(reader, 1)) or found[-1].value.value == 9, "the newest")
            return [one.value.value for one in found]

        self.assertEqual(kept()[-3:], [7, 8, 9])
        # The stack lets go of older ones when it next looks, every ten seconds.
        until(lambda: kept() == [7, 8, 9], "that no more are kept", wait_s=60)

    def test_a_gateway_that_comes_late_gets_what_is_kept_if_asked(self):
        number = next(DOMAINS)
        writer = Peer(number).writer(Policy.Durability.TransientLocal, wait=False)
        writer.write(Observation(topic="kept", value=Result(number=1)))
        with Gateway(settings={"dds.domain": str(number), "dds.request.durability": "transient-local"}) as gateway:
            [kept] = until(lambda: gateway.history("kept"), "what was written before the start")
            self.assertEqual(kept["value"], 1)

    def test_a_best_effort_offer_is_no_match_for_who_requests_more(self):
        gateway, peer = self.serve(offer__reliability="best-effort")
        told = Incompatible()
        reliable = peer.reader(wait=False, listener=told)
        until(lambda: told.policies, "Cyclone's word of it")
        self.assertFalse(reliable.get_matched_publications())
        peer.readers.clear()
        reader = peer.reader(BEST_EFFORT)
        gateway.publish_value("q/b", 1)
        self.assertEqual(take(reader, 1)[0].value.value, 1)
        self.assertFalse(reliable.take(1))

    # [DDS-2.2.3.7-1]
    def test_a_deadline_that_a_writer_does_not_keep_is_counted(self):
        gateway, peer = self.serve(request__deadline_ms="200")
        writer = peer.writer(Policy.Deadline(duration(milliseconds=150)))
        writer.write(Observation(topic="d", value=Result(number=1)))
        until(lambda: metric(gateway, "weir_dds_deadlines_missed_total") > 0, "the missed deadline")

    # [DDS-2.2.3.7-1]
    def test_a_deadline_that_is_not_offered_is_no_match(self):
        _, peer = self.serve(offer__deadline_ms="1000")
        told = Incompatible()
        peer.reader(Policy.Deadline(duration(milliseconds=500)), wait=False, listener=told)
        until(lambda: told.policies, "Cyclone's word of it")
        self.assertEqual(peer.readers[0].get_matched_publications(), [])
        peer.readers.clear()
        self.assertTrue(peer.reader(Policy.Deadline(duration(seconds=2))).get_matched_publications())

    # [DDS-2.2.3.11-1]
    def test_liveliness_that_is_not_offered_is_no_match(self):
        _, peer = self.serve(offer__liveliness_ms="2000")
        told = Incompatible()
        peer.reader(Policy.Liveliness.Automatic(duration(seconds=1)), wait=False, listener=told)
        until(lambda: told.policies, "Cyclone's word of it")
        self.assertEqual(peer.readers[0].get_matched_publications(), [])
        peer.readers.clear()
        self.assertTrue(peer.reader(Policy.Liveliness.Automatic(duration(seconds=5))).get_matched_publications())

    # [DDS-2.2.3.11-1]
    def test_a_gateway_that_is_killed_is_told_as_silent(self):
        gateway, peer = self.serve(offer__liveliness_ms="2000")
        told = Alive()
        peer.reader(Policy.Liveliness.Automatic(duration(seconds=2)), listener=told)
        until(lambda: told.counts and told.counts[-1] == (1, 0), "that weir's writer is there")
        gateway.kill()
        until(lambda: told.counts[-1][0] == 0, "that it is silent")

    def test_only_topics_and_results_that_are_wanted_go_out(self):
        gateway, peer = self.serve(topics="hot/#,cold", where="value>20")
        reader = peer.reader()
        for topic, value in (("warm", 30), ("hot/a", 10), ("hot/b", 21), ("cold", 5), ("cold", 25)):
            gateway.publish_value(topic, value)
        found = [(one.topic, one.value.value) for one in take(reader, 2)]
        self.assertEqual(found, [("hot/b", 21), ("cold", 25)])

    def test_a_wrong_policy_is_refused_by_its_key(self):
        from gateway import NotReady
        with self.assertRaisesRegex(NotReady, r"dds\.offer\.reliability.*reliable or best-effort"):
            Gateway(settings={"dds.domain": "1", "dds.offer.reliability": "yes"})


class Told(unittest.TestCase):
    def test_participants_and_endpoints_are_in_the_metrics(self):
        number = next(DOMAINS)
        gateway = Gateway(settings={"dds.domain": str(number)})
        self.addCleanup(gateway.close)
        peer = Peer(number, gateway)
        reader, writer = peer.reader(), peer.writer()
        until(lambda: metric(gateway, "weir_dds_participants") == 1, "the participant")
        until(lambda: metric(gateway, "weir_dds_endpoints", 'kind="writer"') == 1, "the writer")
        until(lambda: metric(gateway, "weir_dds_endpoints", 'kind="reader"') == 1, "the reader")
        writer.write(Observation(topic="m", value=Result(number=1)))
        until(lambda: json.dumps(gateway.history("m")) != "[]", "the sample")
        del reader, writer
