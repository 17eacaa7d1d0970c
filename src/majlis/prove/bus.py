"""A bus between simulated machines that loses, doubles, delays and reorders messages, and can be cut.

Like the bus over NATS it reaches subscribers of the same machine directly.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from majlis.live.bus import Handler, InProcessBus, Unsubscribe
from majlis.prove.event_loop import Machine, SimulatedLoop


@dataclass
class Network:
    loop: SimulatedLoop
    random: random.Random
    # Chances per message, and the longest delay.
    loss: float = 0.0
    double: float = 0.0
    delay_seconds: float = 0.005
    cut: set[Machine] = field(default_factory=set)
    buses: dict[Machine, SimulatedBus] = field(default_factory=dict)

    def send(self, sender: Machine, subject: str, payload: bytes) -> None:
        for machine, bus in tuple(self.buses.items()):
            if machine is sender or not machine.alive:
                continue
            if sender in self.cut or machine in self.cut or self.random.random() < self.loss:
                continue
            for _ in range(2 if self.random.random() < self.double else 1):
                delay = self.random.random() * self.delay_seconds
                self.loop.call_later(delay, bus.local.publish, subject, payload, context=machine.context)


class SimulatedBus:
    kind = "simulated"

    def __init__(self, network: Network, machine: Machine) -> None:
        self.local = InProcessBus()
        self._network = network
        self._machine = machine

    async def start(self) -> None:
        self._network.buses[self._machine] = self

    def publish(self, subject: str, payload: bytes) -> None:
        self.local.publish(subject, payload)
        self._network.send(self._machine, subject, payload)

    def may_be_heard(self, subject: str) -> bool:
        return True

    def subscribe(self, subject: str, handler: Handler) -> Unsubscribe:
        return self.local.subscribe(subject, handler)

    def problem(self) -> str | None:
        return None

    async def close(self) -> None:
        self._network.buses.pop(self._machine, None)
