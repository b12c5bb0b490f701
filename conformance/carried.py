"""An observation with everything that most formats carry, and what must be left of it after one of them."""

SENT = {
    "sensor": "urn:dev:mac:0024befffe804ff1",
    "type": "temperature",
    "value": 71.25,
    "unit": "Cel",
    "time": "2026-11-20T09:41:00.250Z",
    "lat": 44.8125,
    "lon": 20.4612,
}
TIME_S = 1795167660.25

# What a format cannot carry, beside the value that all do.
LACKING = {
    "plain": {"topic", "sensor", "type", "unit", "time", "lat", "lon"},
    "senml-json": {"sensor", "type", "lat", "lon"},
    "senml-cbor": {"sensor", "type", "lat", "lon"},
}


# The sensor was replaced, and its successor says another unit; what came late is of the one before.
REPLACED = {**SENT, "sensor": "urn:dev:mac:0024befffe804ff2", "value": 344.5, "unit": "K", "time": "2026-11-20T09:41:02Z"}
LATE = {"value": 71.5, "time": "2026-11-20T09:41:01Z"}


def check(test, form, topic, observations, **other):
    """Asserts that what a decoder found is SENT but for what is other, as far as the format carries it."""
    test.assertEqual(len(observations), 1, observations)
    wanted = {**SENT, "topic": topic, "time": TIME_S, **other}
    for name, value in wanted.items():
        if name in LACKING.get(form["name"], ()):
            continue
        found = observations[0].get(name)
        if name == "time":
            test.assertAlmostEqual(found, value, places=3)
        elif isinstance(value, float):
            test.assertAlmostEqual(found, value, places=9, msg=name)
        elif not (name == "topic" and found is None):
            # A message may leave out the topic that it was asked for by.
            test.assertEqual(found, value, name)
