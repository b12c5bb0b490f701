"""Asks a gateway that listens at all addresses, in a network namespace of its own; prints who answered.

`unshare -rn python -m coap.everywhere`: makes two interfaces, then asks the group on one of them, and each
address by itself.
"""

import json
import socket
import subprocess

from gateway import Gateway

from .server import CON, GET, NON, message, parse, path

ADDRESSES = ("10.9.0.1", "10.9.0.2", "127.0.0.1", "127.0.0.5")
COMMANDS = (
    "link set lo up",
    "link add v0 type veth peer name v1",
    "addr add 10.9.0.1/24 dev v0",
    "addr add 10.9.0.2/24 dev v0",
    "-6 addr add fd09::1/64 dev v0 nodad",
    "link set v0 up",
    "link set v1 up",
)
GROUPS_V6 = ("ff02::fd", "ff05::fd")


def ask(sender, datagram, to):
    """The answer's code and who sent it."""
    sender.sendto(datagram, to)
    answer, source = sender.recvfrom(2048)
    read = parse(answer)
    return {"kind": read.kind, "code": read.code, "from": source[0], "port_is_its_own": source[1] == to[1]}


def serving(listen):
    settings = {"coap.listen": listen, "coap.listen_tcp": "", "gateway.threads": "2"}
    wanted = {"coap.multicast": "true", "coap.plugtest": "true"}
    return Gateway(settings={**settings, **wanted}, arguments=("serve", "--open"))


def of_ipv6(listen):
    """Which groups are answered over IPv6, and by whom."""
    found = {}
    with serving(listen) as gateway, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
        port = int(gateway.ready["coap"].rsplit(":", 1)[1])
        sender.settimeout(10)
        sender.bind(("fd09::1", 0))
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex("v0"))
        ask(sender, message(CON, GET, 0, path("test"), b"j"), ("fd09::1", port))
        for number, group in enumerate(GROUPS_V6):
            datagram = message(NON, GET, 1 + number, path(".well-known/core"), b"g")
            found[group] = ask(sender, datagram, (group, port))
    return found


def main():
    for command in COMMANDS:
        subprocess.run(["ip", *command.split()], check=True)
    with serving("0.0.0.0:0") as gateway:
        port = int(gateway.ready["coap"].rsplit(":", 1)[1])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.settimeout(10)
            sender.bind(("10.9.0.1", 0))
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.9.0.1"))
            ask(sender, message(CON, GET, 0, path("test"), b"j"), ("10.9.0.1", port))
            group = ask(sender, message(NON, GET, 1, path(".well-known/core"), b"g"), ("224.0.1.187", port))
            sender.settimeout(6)
            try:
                again = parse(sender.recvfrom(2048)[0]).code
            except TimeoutError:
                again = None
        alone = {}
        for number, address in enumerate(ADDRESSES):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.settimeout(10)
                sender.bind((address if address.startswith("127") else "10.9.0.1", 0))
                alone[address] = ask(sender, message(CON, GET, number, path("test"), b"a"), (address, port))
    v6 = {listen: of_ipv6(listen) for listen in ("[fd09::1]:0", "[::]:0")}
    print(json.dumps({"group": group, "again": again, "alone": alone, "v6": v6}))


if __name__ == "__main__":
    main()
