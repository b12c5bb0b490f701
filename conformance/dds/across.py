"""Across two network namespaces: `unshare -rn python -m dds.across`. Participants find each other by multicast."""

from dds.peer import Observation, Peer, Result, take, until
from dpws.network import LINK, THERE, network
from gateway import Gateway

CONFIGURATION = f"""<CycloneDDS><Domain Id="any"><General><Interfaces>
<NetworkInterface name="{LINK}"/></Interfaces></General><Discovery>{{discovery}}</Discovery></Domain></CycloneDDS>"""


class Beyond(Gateway):
    """A gateway in the other namespace."""

    def command(self):
        return network().there(*super().command())


def main():
    """Both ways; ends with a line that says so."""
    network()
    listeners = {f"{name}.listen": "" for name in ("mqtt", "coap")}
    settings = {"http.listen": f"{THERE}:0", "dds.domain": "3", "dds.interface": LINK, **listeners}
    with Beyond(settings=settings, arguments=("serve", "--open")) as gateway:
        assert gateway.ready["dds"].startswith(THERE), gateway.ready
        peer = Peer(3, gateway, configuration=CONFIGURATION)
        reader, writer = peer.reader(), peer.writer()
        writer.write(Observation(topic="here", value=Result(number=1)))
        until(lambda: gateway.history("here"), "the sample over there")
        gateway.publish_value("there", 2)
        [sample] = take(reader, 1, lambda one: one.topic == "there")
        assert (sample.topic, sample.value.value) == ("there", 2), sample
    print("both ways")


if __name__ == "__main__":
    main()
