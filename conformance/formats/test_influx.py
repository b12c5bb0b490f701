"""influx: lines of InfluxDB's own client and of Telegraf, read by us; ours read as it writes them."""

import datetime
import unittest

from influxdb_client import Point, WritePrecision

from formats.weir import MESSAGE, decoded, encoded

TIME = datetime.datetime(2026, 11, 20, 9, 41, 0, 500000, datetime.timezone.utc)


class Influx(unittest.TestCase):
    maxDiff = None

    def test_points_of_the_client_become_observations(self):
        point = (
            Point("room climate")
            .tag("site", "a, b=c")
            .tag("empty", "")
            .field("temperature", 21.5)
            .field("count", 3)
            .field("open", True)
            .field("note", 'q"uote \\ back')
            .time(TIME, WritePrecision.NS)
        )
        found = decoded(point.to_line_protocol(), "influx")["observations"]
        root = "room climate/site=a, b=c"
        values = {f"{root}/count": 3, f"{root}/note": 'q"uote \\ back'}
        values |= {f"{root}/open": True, f"{root}/temperature": 21.5}
        self.assertEqual({one["topic"]: one["value"] for one in found}, values)
        self.assertEqual({one["time"] for one in found}, {"2026-11-20T09:41:00.500Z"})

    def test_every_precision_of_the_client_is_read(self):
        for precision in (WritePrecision.S, WritePrecision.MS, WritePrecision.US, WritePrecision.NS):
            line = Point("m").field("v", 1).time(TIME, precision).to_line_protocol()
            (one,) = decoded(line, "influx")["observations"]
            wanted = "2026-11-20T09:41:00Z" if precision == WritePrecision.S else "2026-11-20T09:41:00.500Z"
            self.assertEqual(one["time"], wanted)

    def test_observations_that_the_client_writes_come_back(self):
        point = Point("observation").tag("topic", "a/b").tag("unit", "Cel").tag("sensor", "urn:x y")
        line = point.field("value", 21.5).field("lat", 44.5).field("lon", 20.0).time(TIME).to_line_protocol()
        expected = {"topic": "a/b", "unit": "Cel", "sensor": "urn:x y", "value": 21.5}
        expected |= {"lat": 44.5, "lon": 20, "time": "2026-11-20T09:41:00.500Z"}
        self.assertEqual(decoded(line, "influx")["observations"], [expected])

    def test_our_lines_are_those_of_the_client(self):
        first = MESSAGE["observations"][0]
        first = {**first, "time": "2026-11-20T09:41:00.500Z"}
        ours = encoded("influx", {"observations": [first]}).decode().rstrip("\n")
        point = Point("observation")
        for name in ("sensor", "topic", "type", "unit"):
            point.tag(name, first[name])
        for name in ("value", "lat", "lon"):
            point.field(name, first[name])
        theirs = point.time(TIME, WritePrecision.NS).to_line_protocol()
        split = lambda line: [sorted(part.split(",")) for part in line.split(" ")]
        self.assertEqual(split(ours), split(theirs))

    def test_a_whole_message_comes_back(self):
        self.assertEqual(decoded(encoded("influx"), "influx"), MESSAGE)

    def test_a_batch_as_telegraf_sends_it(self):
        # Telegraf's own test data is not at hand: these are lines of its cpu, disk and internet
        # plugins as its serializer orders and escapes them.
        lines = (
            "cpu,cpu=cpu-total,host=gw\\ 1 usage_idle=98.5,usage_user=1.25 1795167660000000000\n"
            "disk,device=sda1,fstype=ext4,host=gw\\ 1,mode=rw,path=/var/lib free=12345i,used_percent=50 "
            "1795167660000000000\n"
            'net_response,host=gw\\ 1,protocol=tcp result_type="success",string_found=false 1795167660000000000\n'
        )
        found = decoded(lines, "influx")["observations"]
        self.assertEqual(len(found), 6)
        self.assertEqual(found[0]["topic"], "cpu/cpu=cpu-total/host=gw 1/usage_idle")
        self.assertEqual(
            found[2],
            {
                "topic": "disk/device=sda1/fstype=ext4/host=gw 1/mode=rw/path=%2Fvar%2Flib/free",
                "value": 12345,
                "time": "2026-11-20T09:41:00Z",
            },
        )


if __name__ == "__main__":
    unittest.main()
