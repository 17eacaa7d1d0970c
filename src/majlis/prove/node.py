"""A node: a simulated machine that runs a whole gateway. It can be killed, frozen and started again."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from typing import Any

from majlis.entities.tokens import Hasher
from majlis.gateway import Gateway
from majlis.prove.bus import Network, SimulatedBus
from majlis.prove.changes import History
from majlis.prove.database import Fault, SimulatedDatabase
from majlis.prove.disk import Disk
from majlis.prove.event_loop import Machine, SimulatedLoop
from majlis.prove.model import CarefulModel
from majlis.settings import Settings
from majlis.store import ids
from majlis.tools.toolbox import Allowed, Tools

_SETTINGS = Settings(demo=False, workers=4, tool_modules=["majlis.prove.service"])
_TOOLS = Tools(Allowed.by(_SETTINGS))
_HASHER = Hasher(b"prove" * 8, None)


def owner_of(node: str) -> str:
    """The name of its worker. Without a process id, so other workers notice its death only by the expired lease."""
    return f"simulated.{node}"


class Node(Machine):
    """A node from its start to its death. Then a new node takes its place."""

    def __init__(
        self,
        name: str,
        loop: SimulatedLoop,
        network: Network,
        disk: Disk,
        seed: str,
        history: History,
        model: CarefulModel,
        owner_id: str,
        strike: Callable[[Node], Fault],
        on_death: Callable[[Node], None],
    ) -> None:
        super().__init__(name)
        self._loop = loop
        self._network = network
        self._ids = ids.Generator(random.Random(seed).getrandbits(64))  # noqa: S311
        self._on_death = on_death
        self._model = model
        self._owner_id = owner_id
        self.db = SimulatedDatabase(name, disk, loop, seed, history, lambda: strike(self))
        self.db.on_kill = self.die
        self.gateway: Gateway | None = None

    @property
    def works(self) -> bool:
        worker = self.gateway.worker if self.gateway is not None else None
        return worker is not None and worker.active > 0

    def entered(self) -> None:
        ids.use(self._ids)

    def boot(self) -> None:
        self._loop.machines.append(self)
        self.spawn(self._start())

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        self._loop.create_task(work, context=self.context.copy())

    async def _start(self) -> None:
        bus = SimulatedBus(self._network, self)
        gateway = Gateway(_SETTINGS, self.db, bus, _HASHER, self._owner_id)
        gateway.engine.models = self._model
        # Looking for installed tools takes longer than the rest of a schedule.
        gateway.tools = gateway.engine.toolbox = _TOOLS
        assert gateway.worker is not None
        gateway.worker.owner = owner_of(self.name)
        await gateway.start()
        self.gateway = gateway

    def die(self) -> None:
        """Like kill -9: none of its code runs any more, not even clean-up."""
        self.alive = False
        self.ready.clear()
        self.db.drop()
        self._network.buses.pop(self, None)
        self._loop.machines.remove(self)
        self._on_death(self)
