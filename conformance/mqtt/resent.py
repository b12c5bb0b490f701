"""What was not acknowledged comes again: the same where a client comes back and where it goes to another gateway."""

from mqtt.raw import PUBACK, PUBCOMP, PUBREC, PUBREL, ack


def check(test, name, publisher, comes):
    """`comes` connects the client that keeps a session, to wherever it is to come next."""
    client = comes()
    client.subscribe((name, 2))
    for number, qos in enumerate((1, 2, 2)):
        publisher.publish(name, str(number), qos=qos)
    first, second, third = (client.receive() for _ in range(3))
    client.send(ack(PUBREC, third.packet_id))
    test.assertEqual(client.receive().kind, PUBREL)
    client.drop()
    client = comes()
    released = client.receive()
    test.assertEqual((released.kind, released.packet_id), (PUBREL, third.packet_id))
    for before in (first, second):
        came = client.receive()
        test.assertEqual((came.packet_id, came.payload, came.dup), (before.packet_id, before.payload, True))
    client.send(ack(PUBCOMP, third.packet_id), ack(PUBACK, first.packet_id), ack(PUBREC, second.packet_id))
    test.assertEqual(client.receive().kind, PUBREL)
    client.send(ack(PUBCOMP, second.packet_id))
    test.assertTrue(client.nothing())
