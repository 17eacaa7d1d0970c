"""What an import has done, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from majlis.transfer.tables import BY_NAME
from majlis.transfer.scope import ScopeName
from majlis.transfer.verdicts import Outcome

UNREADABLE = "unreadable"

_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass
class Summary:
    scope: ScopeName
    dry_run: bool
    counts: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    placeholders: int = 0
    notes: list[str] = field(default_factory=list)
    """What is wrong with the file as a whole."""
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
        words = {"imported": "would be imported" if self.dry_run else "imported", "setAside": "set aside"}
        for name in self._names():
            parts = (f"{self.counts[name, o]:,} {words.get(o, o)}" for o in _OUTCOMES if self.counts[name, o])
            yield f"{name:<10} {', '.join(parts)}"
        if self.placeholders:
            yield f"{self.placeholders:,} missing messages keep their number: a notice stands in the place of each."
        yield from self.notes
        if self.rejected is not None:
            yield f"{self.set_aside:,} lines were set aside; {self.rejected} has each with its number and reason."

    def _names(self) -> list[str]:
        return [name for name in (*BY_NAME, UNREADABLE) if any(self.counts[name, o] for o in _OUTCOMES)]
