"""A participant of Cyclone DDS with the type as `protocols/dds/idl/Observation.idl` has it."""

import dataclasses
import os
import time
from enum import auto

from cyclonedds.core import Listener, Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlEnum, IdlStruct, IdlUnion
from cyclonedds.idl.annotations import appendable, final, key
from cyclonedds.idl.types import byte, case, float64, int64, sequence
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from gateway import Gateway
from ports import hold

WAIT_S = 20
# Domain 0 is everybody's; 232 is the last that has ports.
NUMBERS = range(10, 230)


def domains():
    """Domains that no other gateway has, nor a run beside this one."""
    held = []
    for at in range(len(NUMBERS)):
        number = NUMBERS[(os.getpid() + at) % len(NUMBERS)]
        name = hold(f"domain-{number}")
        if name:
            held.append(name)
            yield number
    raise RuntimeError(f"of {len(NUMBERS)} domains {len(held)} are this test's, the others are held by other tests")


DOMAINS = domains()

# Nothing but loopback, and no multicast there.
CONFIGURATION = """<CycloneDDS><Domain Id="any">
<General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>9</MaxAutoParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers>{discovery}</Discovery></Domain></CycloneDDS>"""


class Kind(IdlEnum, typename="weir.Kind"):
    NOTHING = auto()
    NUMBER = auto()
    TRUTH = auto()
    TEXT = auto()
    JSON = auto()


@final
class Result(IdlUnion, discriminator=Kind, typename="weir.Result"):
    nothing: case[Kind.NOTHING, byte]
    number: case[Kind.NUMBER, float64]
    truth: case[Kind.TRUTH, bool]
    text: case[Kind.TEXT, str]
    json: case[Kind.JSON, str]


@dataclasses.dataclass
@final
class Location(IdlStruct, typename="weir.Location"):
    latitude: float64
    longitude: float64


def fields(extensibility, name):
    """The type under an extensibility: final is what weir has."""

    @dataclasses.dataclass
    @extensibility
    class Observation(IdlStruct, typename=name):
        topic: str
        key("topic")
        sensor: str = ""
        type: str = ""
        unit: str = ""
        value: Result = dataclasses.field(default_factory=lambda: Result(number=0.0))
        time: int64 = 0
        location: sequence[Location, 1] = dataclasses.field(default_factory=list)
        quality: str = ""
        feature: str = ""
        parameters: str = ""
        cursor: str = ""
        gap: str = ""

    return Observation


Observation = fields(final, "weir.Observation")
Appendable = fields(appendable, "weir.Observation")

RELIABLE = Policy.Reliability.Reliable(duration(seconds=1))
OFFER = Qos(RELIABLE, Policy.History.KeepAll)
REQUEST = Qos(RELIABLE, Policy.History.KeepAll)


def metric(gateway, name, labels=""):
    """The sum of a metric over its labels, those that hold this text."""
    page = gateway.request("GET", "/metrics")[2].decode()
    lines = [line for line in page.splitlines() if line.startswith(name + "{") and labels in line]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


class Peer:
    """`discovery` is XML of Cyclone's section of that name. What it made lives as long as it does.

    Each side matches for itself: a reader that Cyclone has matched gets nothing yet of a writer that knows of none.
    With `gateway`, a reader is there once that has matched it, too.
    """

    DOMAINS = {}

    def __init__(self, domain, gateway=None, discovery="", configuration=CONFIGURATION):
        # A process has a domain once.
        if domain not in Peer.DOMAINS:
            Peer.DOMAINS[domain] = Domain(domain, configuration.format(discovery=discovery))
        self.participant = DomainParticipant(domain)
        self.writers, self.readers, self.gateway = [], [], gateway

    def topic(self, datatype=Observation):
        return Topic(self.participant, "weir/Observation", datatype)

    def writer(self, *policies, datatype=Observation, wait=True, listener=None):
        qos = Qos(*policies, base=OFFER) if policies else OFFER
        writer = DataWriter(self.participant, self.topic(datatype), qos, listener)
        self.writers.append(writer)
        if wait:
            # Its own readers hear it too.
            until(lambda: matched(writer.get_matched_subscriptions) > len(self.readers), "weir's reader")
        return writer

    def reader(self, *policies, wait=True, listener=None):
        qos = Qos(*policies, base=REQUEST) if policies else REQUEST
        reader = DataReader(self.participant, self.topic(), qos, listener)
        self.readers.append(reader)
        if wait:
            until(lambda: matched(reader.get_matched_publications) > len(self.writers), "weir's writer")
            until(self.is_heard, "weir's match of the reader")
        return reader

    def is_heard(self):
        known = self.gateway and metric(self.gateway, "weir_dds_endpoints", 'kind="reader"')
        return known is None or known >= len(self.readers)


def start(test_class):
    """A gateway, and a participant of Cyclone's that reads and writes, in a domain for all tests of a class."""
    test_class.number = next(DOMAINS)
    test_class.gateway = Gateway(settings={"dds.domain": str(test_class.number)})
    test_class.addClassCleanup(test_class.gateway.close)
    test_class.peer = Peer(test_class.number, test_class.gateway)
    test_class.reader, test_class.writer = test_class.peer.reader(), test_class.peer.writer()


def matched(find):
    """How many match. The binding counts and then asks for as many, and fails where one more came in between."""
    while True:
        try:
            return len(find())
        except IndexError:
            pass


def until(holds, what, wait_s=WAIT_S):
    """What holds in the end, or an AssertionError that says what was awaited."""
    end = time.monotonic() + wait_s
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come in {wait_s} s")


def take(reader, count, wanted=lambda sample: True):
    """So many samples, those of no interest left out."""
    found = []

    def enough():
        found.extend(one for one in reader.take(1000) if isinstance(one, Observation) and wanted(one))
        return len(found) >= count

    until(enough, f"{count} samples")
    return found


__all__ = ["Appendable", "DOMAINS", "Kind", "Listener", "Location", "Observation", "Peer", "Policy", "Result", "metric"]
