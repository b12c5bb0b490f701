"""An observation with all that one may have, as every client here publishes it, and as the gateway tells it by HTTP."""


def expected(topic):
    return {
        "topic": topic,
        "sensor": "urn:example:sensor",
        "type": "temperature",
        "value": 21.5,
        "unit": "Cel",
        "time": "2026-01-01T00:00:00Z",
        "lat": 44.8,
        "lon": 20.4,
        "feature": "urn:example:hall",
        "end": "2026-01-01T00:00:30Z",
        "resultTime": "2026-01-01T00:01:00Z",
        "validTime": ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
        "quality": "good & checked",
        "parameters": {"depth": 1.5},
    }
