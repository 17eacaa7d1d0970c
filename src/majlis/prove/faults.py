"""The faults of a schedule, and how often they happen. The seed decides; about one schedule in ten has none."""

from __future__ import annotations

import random
from dataclasses import dataclass

from majlis.prove.database import Fault


@dataclass
class Faults:
    """Chances per step, per commit, per message or per second."""

    death_at_step: float = 0.0
    death_at_commit: float = 0.0
    database_fault: float = 0.0
    freeze: float = 0.0
    bus_loss: float = 0.0
    bus_double: float = 0.0
    bus_delay: float = 0.005
    bus_cut: float = 0.0
    edge_loss: float = 0.0
    model_failing: float = 0.0
    skew_seconds: float = 0.0
    clock_jump: float = 0.0
    most_deaths: int = 0

    @classmethod
    def drawn(cls, source: random.Random) -> Faults:
        faults = cls()
        if source.random() < 0.1:
            return faults
        if source.random() < 0.6:
            faults.most_deaths = source.randint(1, 3)
            faults.death_at_step = source.choice((0.0, 0.001, 0.004))
            faults.death_at_commit = source.choice((0.02, 0.06))
        if source.random() < 0.3:
            faults.database_fault = source.choice((0.02, 0.1))
        if source.random() < 0.4:
            faults.freeze = source.choice((0.05, 0.2))
        if source.random() < 0.6:
            faults.bus_loss = source.choice((0.1, 0.5, 1.0))
        faults.bus_double = source.choice((0.0, 0.3))
        faults.bus_delay = source.choice((0.002, 0.05, 1.0))
        faults.bus_cut = source.choice((0.0, 0.0, 0.1))
        faults.edge_loss = source.choice((0.0, 0.1, 0.3))
        faults.model_failing = source.choice((0.0, 0.1, 0.6))
        if source.random() < 0.4:
            faults.skew_seconds = source.choice((0.2, 3.0, 40.0))
            faults.clock_jump = source.choice((0.0, 0.05))
        return faults

    def at_commit(self, source: random.Random, may_die: bool) -> Fault:
        if may_die and source.random() < self.death_at_commit:
            return "killed before commit" if source.random() < 0.5 else "killed after commit"
        if source.random() < self.database_fault:
            return source.choice(("busy", "full"))
        return "none"
