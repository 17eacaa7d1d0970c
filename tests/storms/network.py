"""Hosts of their own for the nodes of a storm: a network namespace each, joined by a bridge.

Partitions, loss in one direction and slow links are then as they are between machines: packets vanish, and neither end
learns that its connection has broken. It needs root and iproute2; `missing` says what is not there.

The process that makes it first leaves the machine's own network (`leave`): browsers end all their requests with
ERR_NETWORK_CHANGED when an interface appears there.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_CLONE_NEWNET = 0x40000000
# Packets to this address leave the sender without an error and reach nothing.
_GONE = "02:00:00:00:00:01"
_SLOW = ("tbf", "rate", "256kbit", "burst", "4kb", "latency", "400ms")


def missing() -> str:
    """Why there can be no network; empty if there can be one. The process has left the machine's network then."""
    if "MAJLIS_TEST_DATABASE_URL" in os.environ:
        return "the database in MAJLIS_TEST_DATABASE_URL is on this machine's network"
    if os.geteuid() != 0:
        return "it needs root"
    if shutil.which("ip") is None or shutil.which("tc") is None:
        return "it needs the commands ip and tc (iproute2)"
    try:
        _leave()
        with network(1):
            return ""
    except OSError as error:
        return f"this machine does not allow network namespaces: {error}"
    except subprocess.CalledProcessError as error:
        return f"this machine does not allow network namespaces: {error.stderr.strip()}"


def _leave() -> None:
    """This process and all that it starts get a network of their own. Python has the call since 3.12."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _ip("link", "set", "lo", "up")


@dataclass(frozen=True)
class Host:
    """`gateway` is where it reaches this process, PostgreSQL, NATS and the models; `link` is the bridge's end of its
    cable."""

    namespace: str
    address: str
    gateway: str
    bridge: str
    link: str

    def unplug(self) -> None:
        _ip("link", "set", self.link, "down")

    def plug_in(self) -> None:
        _ip("link", "set", self.link, "up")

    @property
    def _ways(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """To it and from it, as the sender knows them."""
        return ((self.address, "dev", self.bridge), (self.gateway, "dev", "eth0"))

    def lose_incoming(self) -> None:
        """Nothing reaches it, while what it sends arrives."""
        _ip("neigh", "replace", *self._ways[0], "lladdr", _GONE, "nud", "permanent")

    def lose_outgoing(self) -> None:
        """It hears everything, and nothing that it sends arrives."""
        _ip("-n", self.namespace, "neigh", "replace", *self._ways[1], "lladdr", _GONE, "nud", "permanent")

    def lose_nothing(self) -> None:
        for place, way in zip(((), ("-n", self.namespace)), self._ways, strict=True):
            with suppress(subprocess.CalledProcessError):
                _ip(*place, "neigh", "del", *way)

    def slow_down(self) -> None:
        _run("tc", "qdisc", "add", "dev", self.link, "root", *_SLOW)

    def speed_up(self) -> None:
        with suppress(subprocess.CalledProcessError):
            _run("tc", "qdisc", "del", "dev", self.link, "root")


@contextmanager
def network(hosts: int) -> Iterator[list[Host]]:
    """Its names contain the process id, so that several storms can blow at once."""
    name, subnet = f"mj{os.getpid()}", f"10.213.{os.getpid() % 254 + 1}"
    made = [Host(f"{name}n{n}", f"{subnet}.{n + 2}", f"{subnet}.1", name, f"{name}l{n}") for n in range(hosts)]
    try:
        _ip("link", "add", name, "type", "bridge")
        _ip("addr", "add", f"{subnet}.1/24", "dev", name)
        _ip("link", "set", name, "up")
        for host in made:
            _connect(host, name)
        yield made
    finally:
        for host in made:
            host.lose_nothing()
            # First the link: a deleted namespace keeps its links for a while, and the next storm has the same names.
            for what, one in (("link", host.link), ("netns", host.namespace)):
                with suppress(subprocess.CalledProcessError):
                    _ip(what, "del", one)
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", name)


def _connect(host: Host, bridge: str) -> None:
    inside = ("-n", host.namespace)
    _ip("netns", "add", host.namespace)
    _ip("link", "add", host.link, "type", "veth", "peer", "name", "eth0", "netns", host.namespace)
    _ip("link", "set", host.link, "master", bridge, "up")
    _ip(*inside, "addr", "add", f"{host.address}/24", "dev", "eth0")
    for device in ("lo", "eth0"):
        _ip(*inside, "link", "set", device, "up")


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        error.add_note(error.stderr)
        raise
