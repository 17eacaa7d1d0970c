"""Imports heavy packages when they are first needed, in a thread. One at a time: if two threads import packages with
circular imports, Python avoids a deadlock by giving one of them a partly initialized module."""

from __future__ import annotations

import threading
from importlib import import_module
from types import ModuleType

_lock = threading.RLock()


def import_alone(name: str) -> ModuleType:
    with _lock:
        return import_module(name)
