"""Two network namespaces and a link between them: clients here, gateways over there."""

import pathlib

from gateway import Gateway
from namespaces import Namespace, run

HERE, THERE = "10.77.0.2", "10.77.0.1"
HERE6, THERE6 = "fd77::2", "fd77::1"
LINK = "weir0"


class Network:
    """The namespace that this process is in, and another; made once, gone with the process."""

    def __init__(self):
        self.beyond = Namespace()
        run("ip", "link", "add", LINK, "type", "veth", "peer", "name", LINK, "netns", self.beyond.pid)
        run("ip", "link", "set", "lo", "up")
        self.address([], HERE, HERE6, "fe80::2")
        self.address(self.there(), THERE, THERE6, "fe80::1")

    def address(self, inside, v4, v6, of_link):
        """Gives an end of the link its addresses, usable at once."""
        run(*inside, "ip", "link", "set", LINK, "addrgenmode", "none")
        run(*inside, "ip", "addr", "add", f"{v4}/24", "dev", LINK)
        for address in (v6, of_link):
            run(*inside, "ip", "-6", "addr", "add", f"{address}/64", "dev", LINK, "nodad")
        run(*inside, "ip", "link", "set", LINK, "up")
        # WSDiscovery leaves the way to the group to the routes.
        run(*inside, "ip", "route", "add", "224.0.0.0/4", "dev", LINK)

    def there(self, *command):
        """A command that runs in the other namespace."""
        return self.beyond.inside(*command)


NETWORK = None


def network():
    """The network, made when it is first asked for."""
    global NETWORK
    NETWORK = NETWORK or Network()
    return NETWORK


class Device(Gateway):
    """A gateway in the other namespace, found by WS-Discovery."""

    def __init__(self, settings=None, data=None):
        self.network = network()
        settings = {
            "http.listen": f"{THERE}:0",
            "dpws.discovery": "true",
            "dpws.scopes": "http://example.com/plant/hall urn:weir:test",
            "dpws.name": "hall 3",
            **(settings or {}),
        }
        super().__init__(data=data, settings=settings, arguments=("serve", "--open"))

    def command(self):
        return self.network.there(*super().command())

    @property
    def device_url(self):
        return f"{self.url}/dpws"


def searched(client, types, scopes=None, attempts=30):
    """What sdc11073 finds, asking again until it finds something."""
    client.clear_remote_services()
    for _ in range(attempts):
        if found := client.search_services(types, scopes, timeout=1, repeat_probe_interval=1):
            return found
    return []


def schemas(wsdl):
    """The schemas in a WSDL, as documents."""
    from lxml import etree

    root = etree.fromstring(wsdl)
    return root.findall(".//{http://www.w3.org/2001/XMLSchema}schema")


def kept(folder, name, document):
    """A document as a file, by its path."""
    from lxml import etree

    path = pathlib.Path(folder) / name
    path.write_bytes(etree.tostring(document))
    return path
