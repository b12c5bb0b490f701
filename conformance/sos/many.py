"""What the services cost with very many datastreams: `python -m sos.many [DATASTREAMS]`, from conformance/, with
target/debug/weir built. Each request is made twice: what the first finds out is kept for the second."""

import json
import sys
import time

from gateway import Gateway

EACH = 100
CAPABILITIES = "/sos?service=SOS&request=GetCapabilities&AcceptVersions="
REQUESTS = (
    "/sta/v1.1/Datastreams?$top=1",
    "/sta/v1.1/Things?$top=1",
    "/sta/v1.1/Datastreams?$filter=name%20eq%20%27none%27",
    f"{CAPABILITIES}2.0.0&sections=ServiceIdentification",
    f"{CAPABILITIES}2.0.0",
    f"{CAPABILITIES}1.0.0",
)


def site(number):
    """A message of one sensor's datastreams."""
    return {
        "observations": [
            {
                "topic": f"many/site{number}/t{datastream}",
                "sensor": f"urn:s:{number}",
                "type": "temperature",
                "unit": "Cel",
                "value": datastream,
                "lat": 50.0,
                "lon": 7.0,
            }
            for datastream in range(EACH)
        ]
    }


def processor_s(gateway):
    """Processor time of the gateway so far."""
    with open(f"/proc/{gateway.process.pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def ask(gateway, path):
    before, begun = processor_s(gateway), time.perf_counter()
    status, _, body = gateway.request("GET", path)
    seconds = time.perf_counter() - begun
    assert status == 200, body
    print(f"{path}: {len(body)} bytes, {seconds:.3f} s, {processor_s(gateway) - before:.2f} s of processor time")


def main(count):
    with Gateway() as gateway:
        connection = gateway.connect()
        for number in range(count // EACH):
            gateway.publish("many", json.dumps(site(number)), connection=connection)
        for path in REQUESTS:
            for _ in range(2):
                ask(gateway, path)
        gateway.publish_value("one/more", 1)
        print("after one more datastream:")
        for path in (REQUESTS[0], REQUESTS[4]):
            for _ in range(2):
                ask(gateway, path)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
