"""A progress bar for what takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE_SECONDS = 1.0


class Progress:
    def __init__(self, title: str, bytes: bool = False) -> None:
        self._title = title
        self._bytes = bytes
        self._wanted = sys.stderr.isatty()
        self._began = time.monotonic()
        self._total: int | None = None
        self._done = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def begin(self, total: int | None) -> None:
        self._total = total

    def advance(self, amount: int) -> None:
        self._done += amount
        if self._bar is None and self._wanted and time.monotonic() - self._began > _PATIENCE_SECONDS:
            self._show()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        count = DownloadColumn() if self._bytes else MofNCompleteColumn()
        columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._title, total=self._total)
        self._bar.start()
