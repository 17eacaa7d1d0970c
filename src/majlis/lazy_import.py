"""Heavy packages are imported when they are first needed, in a thread. One at a time: two threads that import packages
with circular imports at once can block each other, and Python then gives one of them half a module."""

from __future__ import annotations

import threading
from importlib import import_module
from types import ModuleType

_one_at_a_time = threading.RLock()


def import_alone(name: str) -> ModuleType:
    with _one_at_a_time:
        return import_module(name)
