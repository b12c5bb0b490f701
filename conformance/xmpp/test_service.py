"""The gateway as a publish-subscribe service (XEP-0060), asked by slixmpp."""

import json
import pathlib
import signal
import unittest

from readers import placed
from xmpp.client import JSON, PUBSUB, SERVICE, Client, Gap, Refused
from xmpp.prosody import Prosody, connected, metric, until

INFO = "{http://jabber.org/protocol/disco#info}"
ITEMS = "{http://jabber.org/protocol/disco#items}"
RSM = "{http://jabber.org/protocol/rsm}"


class Service(unittest.TestCase):
    def setUp(self):
        self.prosody = Prosody.of_class(self)
        self.gateway = self.prosody.gateway(self)
        self.ann = Client(self, self.prosody)

    def refused(self, condition, *arguments, ask=None):
        with self.assertRaises(Refused) as caught:
            (ask or self.ann.pubsub)(*arguments)
        self.assertIn(condition, caught.exception.conditions)

    # [XEP0060-5.1-1] [XEP0060-5.3-1] [XEP0030-3.1-1] [XEP0030-4.1-1]
    def test_it_says_what_it_is_and_which_nodes_there_are(self):
        self.gateway.publish("kitchen/temp", {"value": 21.5, "unit": "Cel"})
        info = self.ann.ask("get", f"<query xmlns='{INFO[1:-1]}'/>")
        self.assertEqual(info.find(f"{INFO}identity").get("category"), "pubsub")
        features = {feature.get("var") for feature in info.iter(f"{INFO}feature")}
        self.assertIn("http://jabber.org/protocol/pubsub#retrieve-items", features)
        nodes = self.ann.ask("get", f"<query xmlns='{ITEMS[1:-1]}'/>")
        self.assertIn("kitchen/temp", [item.get("node") for item in nodes.iter(f"{ITEMS}item")])
        node = self.ann.ask("get", f"<query xmlns='{INFO[1:-1]}' node='kitchen/temp'/>")
        self.assertEqual(node.find(f"{INFO}identity").get("type"), "leaf")
        self.refused("item-not-found", "get", f"<query xmlns='{INFO[1:-1]}' node='kitchen/none'/>", ask=self.ann.ask)

    # [XEP0060-6.1-1] [XEP0060-7.1-1] [XEP0248-5-1]
    def test_what_a_user_publishes_is_told_and_kept(self):
        bob = Client(self, self.prosody, "bob")
        bob.subscribe("kitchen/#")
        before = self.gateway.cursor()
        cursor = self.ann.publish_value("kitchen/temp", 21.5)
        item = bob.next()
        self.assertEqual((item.node, item.id), ("kitchen/temp", cursor))
        self.assertTrue(item.payload.tag.endswith("observations"))
        self.assertEqual(self.gateway.history("kitchen/temp")[0]["value"], 21.5)
        self.assertEqual(placed(self.gateway, "kitchen/temp", before), [cursor])
        collection = item.message.find(".//{http://jabber.org/protocol/shim}header")
        self.assertEqual((collection.get("name"), collection.text), ("Collection", "kitchen/#"))

    def test_an_element_of_the_sensor_message_keeps_all_that_it_says(self):
        self.ann.publish("kitchen/temp", "<observations xmlns='urn:weir:observations:0'><observation>"
                         "<sensor>urn:dev:1</sensor><type>temperature</type><value>1.5</value><unit>Cel</unit>"
                         "<time>2026-11-20T09:41:00.250Z</time></observation></observations>")
        (kept,) = self.gateway.history("kitchen/temp")
        self.assertEqual((kept["sensor"], kept["unit"], kept["time"]), ("urn:dev:1", "Cel", "2026-11-20T09:41:00.250Z"))

    # [XEP0335-2-1]
    def test_the_node_picks_the_format(self):
        self.ann.subscribe("$as/json/a/b")
        self.gateway.publish("a/b", {"value": 1})
        item = self.ann.next()
        self.assertEqual((item.node, item.payload.tag), ("$as/json/a/b", JSON))
        self.assertEqual(json.loads(item.text)["observations"][0]["value"], 1)
        self.refused("item-not-found", "set", f"<subscribe node='$as/none/a' jid='{self.ann.jid}'/>")

    def test_what_contradicts_a_declaration_is_a_conflict(self):
        self.gateway.request("PUT", "/catalog/said/a", '{"unit":"m"}', {"Content-Type": "application/json"})
        said = "<json xmlns='urn:xmpp:json:0'>{\"value\":5,\"unit\":\"s\"}</json>"
        self.refused("conflict", "said/a", said, ask=self.ann.publish)
        self.assertEqual(self.gateway.history("said/a"), [])

    # [XEP0060-7.1-2] [XEP0060-7.1-4] [RFC6120-8.3-1]
    def test_a_repeat_is_not_stored_twice_and_the_rest_flows_on(self):
        first = self.ann.publish_value("a/b", 1, name="one")
        self.assertEqual(self.ann.publish_value("a/b", 1, name="one"), first)
        self.assertNotEqual(self.ann.publish_value("a/b", 2, name="one"), first)
        self.assertEqual(len(self.gateway.history("a/b")), 2)
        self.refused("invalid-payload", "$as/json/a/b", "<json xmlns='urn:xmpp:json:0'>{</json>", ask=self.ann.publish)
        self.refused("invalid-payload", "a/b", "<a xmlns='x'/><b xmlns='x'/>", ask=self.ann.publish)
        self.refused("item-required", "set", "<publish node='a/b'/>")
        self.refused("nodeid-required", "set", "<publish><item/></publish>")
        self.refused("unsupported", "a/#", "<json xmlns='urn:xmpp:json:0'>1</json>", ask=self.ann.publish)
        self.refused("bad-request", "get", "<nothing/>")
        self.assertEqual(metric(self.gateway, "weir_xmpp_refused_total"), 6)
        self.ann.publish_value("a/b", 3)
        self.assertEqual(len(self.gateway.history("a/b")), 3)

    # [XEP0060-6.5-1] [XEP0060-6.5-2] [XEP0059-2.2-1] [XEP0059-2.3-1]
    def test_items_are_the_newest_one_or_pages(self):
        cursors = [self.ann.publish_value("a/b", at) for at in range(7)]
        self.gateway.publish("a/c", {"value": 1})
        newest, _ = self.ann.items("a/b", "max_items='2'")
        self.assertEqual([item.id for item in newest], cursors[-2:])
        one, _ = self.ann.items("a/b", inner=f"<item id='{cursors[3]}'/>")
        self.assertEqual([item.id for item in one], [cursors[3]])
        page = "<set xmlns='http://jabber.org/protocol/rsm'><max>3</max><after>{}</after></set>"
        after, answer = self.ann.items("a/b", page=page.format(cursors[0]))
        self.assertEqual([item.id for item in after], cursors[1:4])
        self.assertIsNone(answer.find(f"{RSM}set").get("complete"))
        rest, answer = self.ann.items("a/b", page=page.format(after[-1].id))
        self.assertEqual([item.id for item in rest], cursors[4:])
        self.assertEqual(answer.find(f"{RSM}set").get("complete"), "true")
        before, _ = self.ann.items("a/b", page=page.replace("after", "before").format(cursors[2]))
        self.assertEqual([item.id for item in before], cursors[:2])
        # XEP-0059, 2.2: who begins to page begins at the first; `before` without an item is the last page.
        first, answer = self.ann.items("a/b", page="<set xmlns='http://jabber.org/protocol/rsm'><max>3</max></set>")
        self.assertEqual([item.id for item in first], cursors[:3])
        self.assertIsNone(answer.find(f"{RSM}set").get("complete"))
        last = "<set xmlns='http://jabber.org/protocol/rsm'><max>3</max><before/></set>"
        self.assertEqual([item.id for item in self.ann.items("a/b", page=last)[0]], cursors[-3:])
        self.refused("item-not-found", "get", "<items node='a/b'><item id='1-fffff'/></items>")
        self.refused("item-not-found", "get", "<items node='a/b'><item id='never'/></items>")

    # [XEP0060-6.5-3]
    def test_items_too_long_for_one_stanza_come_page_by_page(self):
        for at in range(5):
            self.gateway.publish("a/b", {"value": f"{at}" + "x" * 150_000})
        page, found = "", []
        for expected in ([3, 4], [1, 2], [0]):
            items, answer = self.ann.items("$as/json/a/b", page=page)
            self.assertEqual([int(json.loads(item.text)["observations"][0]["value"][0]) for item in items], expected)
            end = answer.find(f"{RSM}set")
            self.assertEqual(end.get("complete"), None if expected[0] else "true")
            self.assertEqual(end.findtext(f"{RSM}first"), items[0].id)
            page = f"<set xmlns='http://jabber.org/protocol/rsm'><before>{items[0].id}</before></set>"
            found = [item.id for item in items] + found
        page = "<set xmlns='http://jabber.org/protocol/rsm'><after>{}</after></set>"
        after, _ = self.ann.items("$as/json/a/b", page=page.format(found[0]))
        self.assertEqual([item.id for item in after], found[1:3])

    def test_the_identifier_of_a_subscription_tells_no_number(self):
        one, other = (int(self.ann.subscribe(node)) for node in ("counted/a", "counted/b"))
        self.assertGreater(abs(one - other), 1000)
        for node in ("counted/a", "counted/b"):
            self.ann.pubsub("set", f"<unsubscribe node='{node}' jid='{self.ann.jid}'/>")

    # [XEP0060-6.2-1] [XEP0060-5.6-1] [XEP0060-6.1-2]
    def test_subscriptions_are_the_users_own_and_end(self):
        subid = self.ann.subscribe("a/b")
        self.assertEqual(self.ann.subscribe("a/b"), subid)
        listed = self.ann.pubsub("get", "<subscriptions/>")
        (told,) = listed.iter(f"{PUBSUB}subscription")
        self.assertEqual((told.get("node"), told.get("subid"), told.get("jid")), ("a/b", subid, self.ann.jid))
        self.refused("invalid-jid", "set", "<subscribe node='a' jid='bob@localhost'/>")
        self.refused("jid-required", "set", "<subscribe node='a'/>")
        gone = f"<unsubscribe node='a/b' jid='{self.ann.jid}'/>"
        self.ann.pubsub("set", gone)
        self.refused("not-subscribed", "set", gone)

    # [XEP0060-8.1-1] [XEP0060-8.4-1] [XEP0060-10-1] [RFC6120-8.2-1]
    # [XEP0060-6.1-1]
    def test_one_subscription_too_many_is_refused_alone(self):
        for at in range(256):
            self.ann.subscribe(f"many/{at}")
        with self.assertRaises(Refused) as refused:
            self.ann.subscribe("many/256")
        self.assertEqual(refused.exception.args[0], "policy-violation")
        self.assertIn("too-many-subscriptions", refused.exception.conditions)
        # Another user has subscriptions of its own, and one that ends makes room.
        Client(self, self.prosody, "bob").subscribe("many/256")
        self.ann.pubsub("set", f"<unsubscribe node='many/0' jid='{self.ann.jid}'/>")
        self.ann.subscribe("many/256")
        self.gateway.publish_value("many/256", 1)
        self.assertEqual(self.ann.next().node, "many/256")

    def test_a_node_is_made_and_removed_or_named_if_missing(self):
        self.ann.pubsub("set", "<create node='a/new'/>")
        self.assertEqual(self.gateway.request("GET", "/catalog/a/new")[0], 200)
        self.refused("conflict", "set", "<create node='a/new'/>")
        self.ann.pubsub("set", "<delete node='a/new'/>", True)
        self.assertEqual(self.gateway.request("GET", "/catalog/a/new")[0], 404)
        form = "<configure><x xmlns='jabber:x:data' type='submit'><field var='{}'><value>{}</value></field></x></configure>"
        for name, value in (("access_model", "whitelist"), ("access_model", "presence"), ("max_items", "1")):
            asked = "<create node='a/other'/>" + form.format(f"pubsub#{name}", value)
            self.refused("unsupported", "set", asked)
            item = "<publish node='a/other'><item><e xmlns='urn:e'/></item></publish>"
            self.refused("unsupported", "set", item + asked.split(">", 1)[1].replace("configure", "publish-options"))
        self.assertEqual(self.gateway.request("GET", "/catalog/a/other")[0], 404)
        self.ann.pubsub("set", "<create node='a/other'/>" + form.format("pubsub#access_model", "open"))
        self.refused("unsupported", "set", "<retract node='a'><item id='1'/></retract>")
        self.refused("unsupported", "get", "<configure node='a'/>", True)
        self.refused("service-unavailable", "get", "<query xmlns='jabber:iq:version'/>", ask=self.ann.ask)

    def test_a_subscriber_that_left_is_no_subscriber(self):
        bob = Client(self, self.prosody, "bob")
        bob.send(f"<presence to='{SERVICE}'/>")
        bob.subscribe("a/#")
        self.assertEqual(metric(self.gateway, "weir_xmpp_subscriptions"), 1)
        bob.send(f"<presence to='{SERVICE}' type='unavailable'/>")
        self.ann.publish_value("a/b", 1)
        self.assertEqual(metric(self.gateway, "weir_xmpp_subscriptions"), 0)

    def test_opaque_messages_come_as_they_are(self):
        self.ann.subscribe("a/#")
        self.ann.publish("a/b", "<data xmlns='urn:weir:message:0' type='image/x'>AAEC/w==</data>")
        item = self.ann.next()
        self.assertEqual((item.payload.get("type"), item.text), ("image/x", "AAEC/w=="))


class Access(unittest.TestCase):
    # [XEP0060-5.7-1] [XEP0060-6.1-3] [XEP0060-7.1-3]
    def test_the_policy_says_who_may_what_by_address_and_by_domain(self):
        prosody = Prosody(self)
        policy = prosody.folder / "policy.toml"
        policy.write_text('[role.reader]\nread = ["open/#"]\n[role.operator]\nread = ["#"]\npublish = ["#"]\n'
                          '[jid."ann@localhost"]\nrole = "operator"\n[jid."localhost"]\nrole = "reader"\n'
                          '[role.scrape]\nread = ["$SYS/#"]\n')
        gateway = prosody.gateway(self, {"access.policy": str(policy)})
        ann, bob = Client(self, prosody), Client(self, prosody, "bob")
        bob.subscribe("open/#")
        ann.publish_value("open/a", 1)
        self.assertEqual(bob.next().node, "open/a")
        with self.assertRaises(Refused) as caught:
            bob.publish_value("open/a", 2)
        self.assertIn("forbidden", caught.exception.conditions)
        with self.assertRaises(Refused):
            bob.subscribe("closed/#")
        for client, node, expected in [(ann, "open/a", "publisher"), (bob, "open/a", "member"), (bob, "closed/a", "outcast")]:
            (told,) = client.pubsub("get", f"<affiliations node='{node}'/>").iter(f"{PUBSUB}affiliation")
            self.assertEqual(told.get("affiliation"), expected)
        self.assertIsNotNone(gateway)

    def test_who_may_not_read_is_not_told_which_nodes_there_are(self):
        prosody = Prosody(self)
        policy = prosody.folder / "policy.toml"
        policy.write_text('[role.blind]\nchange = ["#"]\n[role.operator]\nread = ["#"]\npublish = ["#"]\nchange = ["#"]\n'
                          '[jid."ann@localhost"]\nrole = "operator"\n[jid."localhost"]\nrole = "blind"\n')
        prosody.gateway(self, {"access.policy": str(policy)})
        ann, bob = Client(self, prosody), Client(self, prosody, "bob")
        ann.publish_value("closed/a", 1)
        told = []
        for node in ("closed/a", "closed/b"):
            with self.assertRaises(Refused) as refused:
                bob.pubsub("set", f"<create node='{node}'/>")
            told.append(refused.exception.conditions)
        self.assertEqual(*told)
        self.assertIn("forbidden", told[0])
        for node in ("closed/b", "closed/a"):
            bob.ask("set", f"<pubsub xmlns='{PUBSUB[1:-1]}#owner'><delete node='{node}'/></pubsub>")

    def test_a_wide_question_gives_the_part_that_may_be_read(self):
        prosody = Prosody(self)
        policy = prosody.folder / "policy.toml"
        policy.write_text('[role.reader]\nread = ["open/#"]\n[role.operator]\nread = ["#"]\npublish = ["#"]\n'
                          '[jid."ann@localhost"]\nrole = "operator"\n[jid."localhost"]\nrole = "reader"\n')
        prosody.gateway(self, {"access.policy": str(policy)})
        ann, bob = Client(self, prosody), Client(self, prosody, "bob")
        for wide in ("#", "$as/json/#", "+/a"):
            bob.subscribe(wide)
            ann.publish_value("closed/a", 1)
            ann.publish_value("open/a", 2)
            came = bob.next()
            self.assertTrue(came.node.endswith("open/a"), came.node)
            bob.pubsub("set", f"<unsubscribe node='{wide}' jid='{bob.jid}'/>")
        with self.assertRaises(Refused):
            bob.items("closed/a")
        listed = [item.get("node") for item in bob.ask("get", f"<query xmlns='{ITEMS[1:-1]}'/>").iter(f"{ITEMS}item")]
        self.assertEqual([node for node in listed if node.startswith("closed")], [], listed)

    def test_a_right_that_is_taken_away_ends_its_subscription(self):
        prosody = Prosody(self)
        policy = prosody.folder / "policy.toml"
        operator = '[role.operator]\nread = ["#"]\npublish = ["#"]\n[jid."ann@localhost"]\nrole = "operator"\n'
        policy.write_text(operator + '[jid."bob@localhost"]\nrole = "operator"\n')
        gateway = prosody.gateway(self, {"access.policy": str(policy)})
        ann, bob = Client(self, prosody), Client(self, prosody, "bob")
        for client in (ann, bob):
            client.subscribe("open/#")
        ann.publish_value("open/a", 1)
        self.assertEqual((ann.next().node, bob.next().node), ("open/a", "open/a"))
        policy.write_text(operator)
        gateway.process.send_signal(signal.SIGHUP)
        log = pathlib.Path(gateway.log.name)
        until(lambda: "is no longer subscribed to `open/#`" in log.read_text(errors="replace"), "the end")
        ann.publish_value("open/a", 2)
        self.assertEqual(ann.next().node, "open/a")
        with self.assertRaises(Refused):
            bob.subscribe("open/#")
        self.assertTrue(bob.came.empty())


class Resume(unittest.TestCase):
    def setUp(self):
        self.prosody = Prosody.of_class(self)
        self.gateway = self.prosody.gateway(self)
        self.ann = Client(self, self.prosody)

    def test_who_comes_back_with_a_cursor_gets_what_was_missed(self):
        cursor = self.gateway.cursor()
        for at in range(3):
            self.gateway.publish_value("a/b", at)
        self.ann.subscribe("$as/json/a/b", since=cursor)
        got = [json.loads(self.ann.next().text)["observations"][0]["value"] for _ in range(3)]
        self.assertEqual(got, [0, 1, 2])

    def test_a_foreign_cursor_is_told_as_a_gap_first(self):
        self.gateway.publish_value("a/b", 1)
        self.ann.subscribe("a/b", since="7-ffff")
        gap = self.ann.next()
        self.assertIsInstance(gap, Gap)
        self.assertEqual(gap.reason, "foreign")

    def test_a_subscription_outlives_the_gateway_whole(self):
        self.ann.subscribe("$as/json/a/b")
        self.gateway.publish_value("a/b", 0)
        self.ann.next()
        self.gateway.restart()
        for at in range(1, 4):
            self.gateway.publish_value("a/b", at)
        got = []
        while not got or got[-1] != 3:
            got.append(json.loads(self.ann.next().text)["observations"][0]["value"])
        self.assertEqual(list(dict.fromkeys(got[-3:])), [1, 2, 3])

    def test_many_long_subscriptions_outlive_the_gateway(self):
        users = self.ann, Client(self, self.prosody, "bob")
        node = "/".join(["x" * 254] * 4)
        for user in users:
            for at in range(256):
                # Some two kilobytes each: one user's fit into a record of the log, those of both do not.
                user.subscribe(f"{node}/{at}", jid=f"{user.bare}/{'r' * 1020}{at}")
        # Once this is on disk, so is all that went before it.
        self.gateway.publish_value("a/b", 1)
        self.gateway.restart()
        connected(self.gateway)
        for user in users:
            (own,) = user.pubsub("get", f"<subscriptions node='{node}/255'/>").iter(f"{PUBSUB}subscription")
            self.assertTrue(own.get("jid").startswith(f"{user.bare}/"), own.attrib)
        self.assertEqual(metric(self.gateway, "weir_xmpp_subscriptions"), 512)
        self.assertNotIn("not kept", self.prosody.log_of(self.gateway))

    def test_a_subscription_that_the_log_does_not_keep_is_refused(self):
        # The longest names that there are: a topic of nothing but escapes, and a resource of RFC 7622.
        with self.assertRaises(Refused) as refused:
            for at in range(256):
                self.ann.subscribe(f"{'%25' * 1020}/{at}", jid=f"ann@localhost/{'r' * 1023}")
        self.assertEqual(refused.exception.args[0], "resource-constraint")
        kept = metric(self.gateway, "weir_xmpp_subscriptions")
        self.assertLess(kept, 256)
        Client(self, self.prosody, "bob").subscribe("a/b")
        self.assertEqual(metric(self.gateway, "weir_xmpp_subscriptions"), kept + 1)
        until(lambda: "are not kept" in self.prosody.log_of(self.gateway), "the log's line")


if __name__ == "__main__":
    unittest.main()
