"""The outcome of each line of an import, the summary, and a progress bar."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import sqlalchemy as sa

from majlis.transfer.scope import ScopeName
from majlis.transfer.tables import BY_NAME, Kind

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

Outcome = Literal["imported", "present", "updated", "setAside"]
# Reasons by table and id, for the lines that depend on a rejected row.
RejectedRows = MutableMapping[tuple[str, str], str]

UNREADABLE = "unreadable"
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_SHOW_AFTER_SECONDS = 1.0
_NAME_TAKEN = "the name is taken by another entity, or looks like its name; rename one of the two and import again"
# By a part of the database's own message.
_REASONS = {
    "name_key": _NAME_TAKEN,
    "look_key": _NAME_TAKEN,
    "external_id": "the externalId is taken by another entity",
    "uq_messages_space_id_seq": "another message has this number in this space",
    "messages.seq": "another message has this number in this space",
    "client_id": "the sender has used the clientId for another message in this space",
    "session_id": "the sessionId is bound to another agent or space",
    "event_id": "the event was already delivered to this agent, under another id",
}


class Verdict(NamedTuple):
    outcome: Outcome
    reason: str = ""


Verdicts = dict[int, Verdict]
"""By line number."""


def remember(rows: RejectedRows, kind: Kind, values: Mapping[str, Any], line: int, reason: str) -> None:
    row_id = values.get("id")
    if isinstance(row_id, str):
        rows[kind.table.name, row_id] = f"line {line}: {reason}"


def refusal(error: sa.exc.DBAPIError) -> str | None:
    """Why the database rejected a row; None if the error is not about the row."""
    state = str(getattr(error.orig, "sqlstate", ""))
    if not isinstance(error, sa.exc.IntegrityError) and not state.startswith("22"):
        return None
    text = str(error.orig).strip().splitlines()[0]
    return next((reason for word, reason in _REASONS.items() if word in text), f"the database rejected it: {text}")


@dataclass
class Summary:
    scope: ScopeName
    dry_run: bool
    counts: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    placeholders: int = 0
    notes: list[str] = field(default_factory=list)
    """Problems of the file as a whole."""
    rejected: Path | None = None

    @property
    def set_aside(self) -> int:
        return sum(count for (_, outcome), count in self.counts.items() if outcome == "setAside")

    @property
    def clean(self) -> bool:
        return not self.set_aside and not self.notes

    def json(self) -> dict[str, Any]:
        return {
            "scope": self.scope,
            "dryRun": self.dry_run,
            "types": {name: {o: self.counts[name, o] for o in _OUTCOMES} for name in self._names()},
            "placeholders": self.placeholders,
            "notes": self.notes,
            "rejectedFile": str(self.rejected) if self.rejected else None,
        }

    def lines(self) -> Iterator[str]:
        words = {"imported": "would be imported" if self.dry_run else "imported", "setAside": "rejected"}
        for name in self._names():
            parts = (f"{self.counts[name, o]:,} {words.get(o, o)}" for o in _OUTCOMES if self.counts[name, o])
            yield f"{name:<10} {', '.join(parts)}"
        if self.placeholders:
            yield f"Missing messages: {self.placeholders:,}. A notice takes the number of each."
        yield from self.notes
        if self.rejected is not None:
            yield f"Rejected lines: {self.set_aside:,}. {self.rejected} has the number and the reason of each."

    def _names(self) -> list[str]:
        return [name for name in (*BY_NAME, UNREADABLE) if any(self.counts[name, o] for o in _OUTCOMES)]


class Progress:
    """A progress bar, on a terminal and only after a second."""

    def __init__(self, title: str, bytes: bool = False) -> None:
        self.total: int | None = None
        self._title = title
        self._bytes = bytes
        self._show_at = time.monotonic() + _SHOW_AFTER_SECONDS if sys.stderr.isatty() else inf
        self._done = 0
        self._bar: Bar | None = None

    def advance(self, amount: int) -> None:
        self._done += amount
        if self._bar is None and time.monotonic() > self._show_at:
            self._bar = self._started()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _started(self) -> Bar:
        from rich import progress as rich
        from rich.console import Console

        count = rich.DownloadColumn() if self._bytes else rich.MofNCompleteColumn()
        columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), count, rich.TimeRemainingColumn())
        bar = rich.Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task(self._title, total=self.total)
        bar.start()
        return bar
