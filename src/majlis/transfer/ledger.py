"""What is known about a file so far. Changed only between transactions, since a transaction may run more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from majlis.transfer.checking import End, Line, Refused, parse
from majlis.transfer.tables import BY_NAME, Kind
from majlis.transfer.file import Raw
from majlis.transfer.rejected import Rejected
from majlis.transfer.report import UNREADABLE, Summary
from majlis.transfer.verdicts import Asides, Verdicts, remember

# How many set-aside lines are remembered for the reasons of others; the file of rejected lines has them all.
_REMEMBERED = 10_000


class Ledger:
    def __init__(self, summary: Summary, rejected: Rejected) -> None:
        self.summary = summary
        self.asides: Asides = {}
        self.senders: dict[tuple[str, int], str] = {}
        self.spaces: set[str] = set()
        self._rejected = rejected
        self._refused: list[tuple[Raw, str, str]] = []
        self._seen: Counter[str] = Counter()
        self._promised: dict[str, int] | None = None

    @property
    def complete(self) -> bool:
        """Whether the file had its end line."""
        return self._promised is not None

    def read(self, batch: Sequence[Raw]) -> list[Line]:
        """The lines of a batch that can be imported; the others are set aside."""
        return [line for raw in batch if (line := self._parsed(raw)) is not None]

    def settle(self, lines: Sequence[Line], verdicts: Verdicts) -> None:
        for line in lines:
            verdict = verdicts[line.raw.number]
            if verdict.outcome == "setAside":
                self._set_aside(line.raw, line.kind, verdict.reason, line.values)
            else:
                self.summary.counts[line.kind.name, verdict.outcome] += 1
            if line.kind.name in ("space", "message"):
                self.spaces.add(line.values["id" if line.kind.name == "space" else "space_id"])
        # Those that were refused before the transaction and those that were refused in it: in the order of the file.
        for raw, name, reason in sorted(self._refused):
            self._rejected.add(raw, name, reason)
        self._refused.clear()

    def close(self) -> None:
        """Compare what the file promises at its end with what it held."""
        if self._promised is None:
            self.summary.notes.append(
                "The file is cut off: it has no end line. What was there is imported; repeat with the whole file."
            )
            return
        for name, promised in self._promised.items():
            if name in BY_NAME and promised != self._seen[name]:
                self.summary.notes.append(f"The file promises {promised:,} {name} lines and has {self._seen[name]:,}.")

    def _parsed(self, raw: Raw) -> Line | None:
        try:
            if self._promised is not None:
                raise Refused("it comes after the end line")
            parsed = parse(raw, self.summary.scope)
        except Refused as refused:
            self._refuse(raw, refused)
            return None
        if isinstance(parsed, End):
            self._promised = parsed.counts
            return None
        self._seen[parsed.kind.name] += 1
        return parsed

    def _refuse(self, raw: Raw, refused: Refused) -> None:
        kind = BY_NAME.get(str(refused.said.get("type")))
        if kind is not None:
            self._seen[kind.name] += 1
        said = {each.name: refused.said.get(each.wire) for each in kind.fields} if kind is not None else {}
        self._set_aside(raw, kind, refused.reason, said)

    def _set_aside(self, raw: Raw, kind: Kind | None, reason: str, values: Mapping[str, Any]) -> None:
        name = kind.name if kind is not None else UNREADABLE
        self.summary.counts[name, "setAside"] += 1
        self.summary.rejected = self._rejected.path
        self._refused.append((raw, name, reason))
        if kind is not None and len(self.asides) < _REMEMBERED:
            remember(self.asides, kind, values, raw.number, reason)
        if name == "message":
            self._remember_sender(values["space_id"], values["seq"], values["sender_id"])

    def _remember_sender(self, space_id: object, seq: object, sender_id: object) -> None:
        """For the notice that is to stand in the message's place."""
        if isinstance(space_id, str) and isinstance(seq, int) and isinstance(sender_id, str):
            self.spaces.add(space_id)
            if len(self.senders) < _REMEMBERED:
                self.senders[space_id, seq] = sender_id
