"""Has all of Majlis loaded and forks a `majlis` command for each order.

Loading takes a second of CPU time and most commands a tenth, so hundreds of commands would spend most of the time on
loading. A forked command has its own arguments, folder, environment and streams, and ends or is killed like any other
process. See processes.py for the other side.

Orders come from the socket whose number is on the command line: the length of an order with four file descriptors, then
the order as JSON. Three descriptors are the command's streams. The process id and, at its end, the exit code are
written to the fourth, in four bytes each.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from typing import Any, NoReturn

import alembic.command  # noqa: F401 - loaded once for all children

import majlis.cli.checks
import majlis.http_server
import majlis.transfer

_CLONE_NEWPID = 0x20000000


class ForkServer:
    """Has only one thread, so that it can be forked safely."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._ended, self._wake = socket.socketpair()
        self._ended.setblocking(False)
        self._wake.setblocking(False)
        self._askers: dict[int, socket.socket] = {}
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno())

    def until_orphaned(self) -> None:
        """Runs until the tests close the socket."""
        while True:
            readable, _, _ = select.select([self._orders, self._ended], [], [])
            if self._ended in readable:
                self._ended.recv(4096)
                self._tell_endings()
            if self._orders in readable:
                length, files, _, _ = socket.recv_fds(self._orders, 4, 4)
                if not length:
                    return
                self._fork(json.loads(self._orders.recv(int.from_bytes(length), socket.MSG_WAITALL)), files)

    def _fork(self, order: dict[str, Any], files: list[int]) -> None:
        *streams, telling = files
        asker = socket.socket(fileno=telling)
        pid = fork_apart() if order["environment"].get("TEST_PROCESSES") == "own" else os.fork()
        if pid == 0:
            self._leave(asker)
            become(order, streams)
        for stream in streams:
            os.close(stream)
        self._askers[pid] = asker
        asker.sendall(pid.to_bytes(4))

    def _tell_endings(self) -> None:
        while self._askers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            # A failed test may have closed its socket.
            with self._askers.pop(pid) as asker, contextlib.suppress(BrokenPipeError):
                asker.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))

    def _leave(self, asker: socket.socket) -> None:
        """Closes what only the parent uses."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self._orders, self._ended, self._wake, asker, *self._askers.values()):
            each.close()


def become(order: dict[str, Any], streams: list[int]) -> NoReturn:
    """Runs `python -m majlis` to its end."""
    code = 1
    try:
        settle_in(order, streams)
        code = run_majlis()
        # The same steps as at the end of the interpreter; the first has no public name.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def settle_in(order: dict[str, Any], streams: list[int]) -> None:
    die_with_parent()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    enter_network(os.environ.get("TEST_NETWORK"))
    skew_clock(int(os.environ.get("TEST_CLOCK_AHEAD_SECONDS", "0")))
    sys.path[0] = order["folder"]
    sys.argv = ["majlis", *order["arguments"]]
    open_streams()


def enter_network(namespace: str | None) -> None:
    """The command runs on a host of its own (tests/storms/network.py)."""
    if namespace is not None:
        with open(f"/run/netns/{namespace}") as there:
            # 0 stands for any kind of namespace.
            call("setns", there.fileno(), 0)


def fork_apart() -> int:
    """The child has process ids of its own, as in a container. It needs root."""
    with open("/proc/self/ns/pid") as ours:
        call("unshare", _CLONE_NEWPID)
        pid = os.fork()
        if pid != 0:
            call("setns", ours.fileno(), _CLONE_NEWPID)
    return pid


def call(name: str, *arguments: int) -> None:
    """Calls the C library: Python has these calls only since 3.12."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def skew_clock(seconds: int) -> None:
    """This machine's clock is wrong. Nothing is patched in Majlis itself."""
    right = time.time_ns
    if seconds:
        time.time_ns = lambda: right() + seconds * 1_000_000_000


def run_majlis() -> int:
    try:
        runpy.run_module("majlis", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def open_streams() -> None:
    """As an interpreter does when it starts."""
    was = sys.stdout
    lines = os.isatty(1) or bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = open(0, encoding=was.encoding, errors=was.errors, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", 1 if lines else -1, was.encoding, was.errors, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, was.encoding, "backslashreplace", closefd=False)  # noqa: SIM115


def die_with_parent() -> None:
    """No command outlives its tests, not even one of an interrupted test."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def load_everything() -> None:
    for package in (majlis.cli, majlis.cli.checks, majlis.transfer):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    load_everything()
    ForkServer(socket.socket(fileno=int(sys.argv[1]))).until_orphaned()
