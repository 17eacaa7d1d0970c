"""Which waits hold each other: nobody who can act may answer them, and each is waited for by another of them.

Whoever waits for a ring without being in it waits on: it can be answered as soon as the ring is broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar


class Wait(Protocol):
    @property
    def agent_id(self) -> str: ...
    @property
    def wait_space_id(self) -> str: ...


W = TypeVar("W", bound=Wait)
Writers = Mapping[str, set[str]]


def find_ring(waits: Sequence[W], writers: Writers, able: set[str]) -> Sequence[W]:
    """`writers`: who may write in each space; `able`: who of them can act now. Several rings are found as one."""
    return _in_rings(_stuck(waits, writers, able), writers)


def _stuck(waits: Sequence[W], writers: Writers, able: set[str]) -> Sequence[W]:
    """Whoever can be answered can then answer others: struck off, until nothing changes."""
    while True:
        answerers = _among(able, waits, writers)
        stuck = [wait for wait in waits if not answerers[wait.wait_space_id] - {wait.agent_id}]
        if len(stuck) == len(waits):
            return stuck
        able = able | {wait.agent_id for wait in waits if answerers[wait.wait_space_id] - {wait.agent_id}}
        waits = stuck


def _in_rings(waits: Sequence[W], writers: Writers) -> Sequence[W]:
    """Ends are struck off: waits that none of the others could answer, and those of agents that no other waits for."""
    while True:
        answerers, awaited = _among({wait.agent_id for wait in waits}, waits, writers), _awaited(waits, writers)
        ring = [wait for wait in waits if wait.agent_id in awaited and answerers[wait.wait_space_id] - {wait.agent_id}]
        if len(ring) == len(waits):
            return ring
        waits = ring


def _among(agents: set[str], waits: Sequence[Wait], writers: Writers) -> dict[str, set[str]]:
    return {space: writers[space] & agents for space in {wait.wait_space_id for wait in waits}}


def _awaited(waits: Sequence[Wait], writers: Writers) -> set[str]:
    pairs = {(wait.agent_id, wait.wait_space_id) for wait in waits}
    return {writer for agent, space in pairs for writer in writers[space] if writer != agent}
