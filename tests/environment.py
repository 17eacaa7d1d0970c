"""Gives tests the same environment everywhere: signals, umask, locale, terminal, time zone and variables.

Processes that a test starts inherit it. A test that needs something else sets it.
"""

from __future__ import annotations

import contextlib
import locale
import os
import signal
import time

# All other variables are removed: proxies, provider keys, PG*, OTEL_*, MAJLIS_*, colours …
_KEPT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHASHSEED", "USER", "LOGNAME")
_KEPT_PREFIXES = ("MAJLIS_TEST_", "PYTEST_", "HYPOTHESIS_", "COV")
_FIXED = {"HOME": "/nonexistent", "TERM": "xterm-256color", "TZ": "UTC"}
# In the C locale PostgreSQL's search finds only ASCII words. The first of these that exists is used.
_LOCALES = ("C.UTF-8", "en_US.UTF-8", "C")
# SIGHUP is left alone: `nohup make test` and its child processes survive the end of the terminal.
_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2)


def isolate() -> None:
    _restore_signals()
    os.umask(0o022)
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}
    os.environ.clear()
    os.environ.update(kept | _FIXED | {"LC_ALL": _set_locale(), "PATH": _readable(kept.get("PATH", os.defpath))})
    time.tzset()


def _readable(path: str) -> str:
    """Without the folders of another user, which turn "no such program" into "permission denied"."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.access(folder, os.X_OK))


def _set_locale() -> str:
    for name in _LOCALES:
        with contextlib.suppress(locale.Error):
            return locale.setlocale(locale.LC_CTYPE, name)
    raise RuntimeError(f"the machine has none of the locales {', '.join(_LOCALES)}")


def _restore_signals() -> None:
    """A shell without job control starts background jobs with SIGINT ignored, and child processes inherit that. They do
    not inherit a handler. This process still ignores the signal."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore)


def _ignore(*_: object) -> None:
    pass
