"""What SOS costs here: `python -m sos.speed [OBSERVATIONS]`, from conformance/, with target/debug/weir built.

2,700 observations inserted and read, as the paper's station does in a day; then long answers: how many observations a
second, and by how much the gateway's memory grows at most while it answers (Linux).
"""

import http.client
import pathlib
import sys
import time

from gateway import Gateway

from . import documents

PAGE = 10_000
TEXT = "responseFormat=text/plain;profile=swe"


def publish(gateway, topic, count):
    """So many observations, a second after each other from 2026 on."""
    connection = gateway.connect()
    for first in range(0, count, PAGE):
        numbers = range(first, min(first + PAGE, count))
        lines = "".join(f"{stamp(number)},{number % 977 / 8}\n" for number in numbers)
        gateway.publish(topic, lines, "text/plain;profile=swe", connection=connection)


def stamp(number):
    """Its time, ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_767_225_600 + number))


def memory_kb(gateway, name):
    """`VmRSS` or `VmHWM` of the gateway's process."""
    status = pathlib.Path(f"/proc/{gateway.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith(name))


def read(gateway, query):
    """Bytes, seconds and kilobytes by which memory grew at most, of one answer that is read as it comes."""
    pathlib.Path(f"/proc/{gateway.process.pid}/clear_refs").write_text("5")
    before = memory_kb(gateway, "VmRSS")
    begun = time.perf_counter()
    connection = http.client.HTTPConnection(gateway.host, gateway.port, timeout=600)
    connection.request("GET", f"/sos?service=SOS&version=2.0.0&{query}")
    response = connection.getresponse()
    assert response.status == 200, response.read()
    piece, length = bytearray(1 << 20), 0
    while got := response.readinto(piece):
        length += got
    seconds = time.perf_counter() - begun
    connection.close()
    return length, seconds, memory_kb(gateway, "VmHWM") - before


def best(times, run):
    """The least of so many times, milliseconds."""
    least = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - begun)
    return least * 1000


def day(gateway):
    """2,700 observations in and out."""
    post = {"Content-Type": "application/xml"}
    assert gateway.request("POST", "/sos", documents.INSERT_SENSOR, post)[0] == 200
    requests = [documents.insert_observations(2700, 2700 * day) for day in range(10)]

    def insert():
        assert gateway.request("POST", "/sos", requests.pop(0), post)[0] == 200

    insert_ms = best(len(requests), insert)
    query = "/sos?service=SOS&version=2.0.0&request=GetObservation&procedure=urn:s:gauge&temporalFilter="
    period = "om:phenomenonTime,2026-01-01T00:00:00Z/2026-01-01T00:44:59Z"
    print(f"insert 2,700 in O&M 2.0: {insert_ms:.1f} ms")
    for name, rest in (("O&M 2.0", ""), ("swe-text", f"&{TEXT}")):
        read_ms = best(20, lambda rest=rest: gateway.request("GET", query + period + rest))
        found = gateway.request("GET", query + period + rest)[2].count(b"\n" if rest else b"<om:result ")
        print(f"read {found} lines or results in {name}: {read_ms:.1f} ms")


def main(count):
    """Prints everything."""
    with Gateway() as gateway:
        day(gateway)
        for topic, number in (("few/t", PAGE), ("many/t", count)):
            publish(gateway, topic, number)
            offering = f"urn:weir:procedure:{topic[:-2]}/observations"
            names = f"offering={offering}&observedProperty=t"
            for name, query in (
                ("GetObservation, swe-text", f"request=GetObservation&{names}&{TEXT}"),
                ("GetObservation, O&M 2.0", f"request=GetObservation&{names}"),
                ("GetResult", f"request=GetResult&{names}"),
            ):
                length, seconds, grown = read(gateway, query)
                rate = number / seconds
                print(f"{name}: {number} in {seconds:.2f} s, {rate:.0f}/s, {length} bytes, memory +{grown} kB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
