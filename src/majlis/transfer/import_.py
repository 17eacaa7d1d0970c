"""Import: the file is read in batches, each batch is one transaction, and invalid lines are rejected.

A dry run takes the same steps in one transaction and rolls it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import sqlalchemy as sa

from majlis.clock import iso
from majlis.entities.entities import LIVING, add_entity
from majlis.errors import MajlisError
from majlis.files.store import FileStore
from majlis.spaces.attachments import mark_stored, reserve_blob
from majlis.store.tables import cards, entities, messages, runs, spaces, steps
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Database, Tx
from majlis.transfer.batch import import_lines, replace_owner
from majlis.transfer.export import prefer_indexes
from majlis.transfer.file import Raw, Rejected, Source
from majlis.transfer.file_content import Receiver, Wrong
from majlis.transfer.notify import Notified, notify, resync
from majlis.transfer.parse import Content, End, Line, Refused, parse
from majlis.transfer.placeholders import fill_gaps
from majlis.transfer.report import UNREADABLE, RejectedRows, Summary, Verdicts, remember
from majlis.transfer.tables import BY_NAME, Kind

Steps = Generator[Callable[[Tx], Any], Any, None]

# How many rejected lines are kept in memory; the file of rejected lines has them all.
_REMEMBERED = 10_000
_WITHOUT_CARD = sa.select(runs.c.id, runs.c.wait).where(
    NOT_OVER,
    runs.c.status == word("waiting_tool"),
    ~sa.exists().where(cards.c.run_id == runs.c.id, cards.c.paused, cards.c.state == word("open")),
)
_LAST_CALL = sa.select(sa.func.max(steps.c.n)).where(steps.c.run_id == sa.bindparam("run"), steps.c.kind == "tool")


async def import_file(
    db: Database, source: Source, rejected: Rejected, owner_name: str, store: FileStore, dry_run: bool = False
) -> Summary:
    """`owner_name` is used if the database has no owner yet."""
    summary = Summary(source.scope, dry_run)
    receiver = Receiver(store)
    work = _steps(source, _State(summary, rejected), owner_name, receiver)
    try:
        if dry_run:
            with suppress(_RollBack):
                await db.write(_rehearse, work)
            return summary
        result: Any = None
        with suppress(StopIteration):
            while True:
                result = await db.write(work.send(result))
        return summary
    finally:
        receiver.close()


class _RollBack(Exception):
    """Ends the transaction of a dry run."""


def _rehearse(tx: Tx, work: Steps) -> None:
    result: Any = None
    try:
        while True:
            result = work.send(result)(tx)
    except StopIteration:
        raise _RollBack from None
    except sa.exc.DBAPIError as error:
        # Half of the file is already read, so the transaction must not be retried.
        # The lines after the first may have the row.
        reason = str(error.orig).partition("\n")[0]
        raise MajlisError("database_failed", f"The dry run failed: {reason}. Nothing was changed.") from None


def _steps(source: Source, state: _State, owner_name: str, receiver: Receiver) -> Steps:
    """Yields the work of each transaction and receives its result."""
    notified = Notified()
    yield partial(_ensure_owner, name=owner_name)
    for batch in source.batches():
        lines: list[Line] = []
        for raw in batch:
            parsed = state.parse(raw)
            if isinstance(parsed, Content):
                yield from _keep_content(raw, parsed, state, receiver)
            elif parsed is not None:
                lines.append(parsed)
        verdicts, notified = yield partial(_import_batch, lines=lines, state=state, notified=notified)
        state.settle(lines, verdicts)
    if state.complete:
        # The cards may be in the rest of a truncated file.
        yield _end_lost_waits
    for space_id in sorted(state.spaces):
        filled, missing = yield partial(_finish_space, space_id=space_id, state=state, notified=notified)
        state.summary.placeholders += filled
        if missing:
            state.summary.notes.append(f"{missing:,} messages of {space_id} are missing. Their numbers stay reserved.")
    state.close()


def _keep_content(raw: Raw, content: Content, state: _State, receiver: Receiver) -> Steps:
    """Puts the content into the file store. It is deleted again if no file of the import uses it."""
    try:
        complete = receiver.add(content.line)
    except Wrong as wrong:
        state.refuse(raw, str(wrong))
        return
    if complete is None:
        return
    name, _ = yield partial(reserve_blob, sha256=complete.sha256, size=complete.bytes)
    if not state.summary.dry_run and not receiver.store.has_now(name):
        receiver.store.put_now(name, complete.path)
    receiver.close()
    yield partial(mark_stored, blob=name)


def _ensure_owner(tx: Tx, name: str) -> None:
    """A database that was never served gets its owner before the first line, so a name conflict shows at once."""
    if tx.one(sa.select(entities.c.id).where(LIVING, entities.c.role == "owner").limit(1)) is None:
        add_entity(tx, "human", name, role="owner")


def _import_batch(tx: Tx, lines: Sequence[Line], state: _State, notified: Notified) -> tuple[Verdicts, Notified]:
    prefer_indexes(tx)
    verdicts = replace_owner(tx, lines, state.rejected_rows) if state.summary.scope == "gateway" else {}
    verdicts |= import_lines(tx, [line for line in lines if line.raw.number not in verdicts], state.rejected_rows)
    return verdicts, notify(tx, lines, verdicts, notified)


def _finish_space(tx: Tx, space_id: str, state: _State, notified: Notified) -> tuple[int, int]:
    """Returns how many messages got a placeholder and how many are still missing."""
    prefer_indexes(tx)
    space = tx.one(sa.select(spaces).where(spaces.c.id == space_id).with_for_update())
    if space is None or space.deleted_at is not None:
        return 0, 0
    # The messages may be in the rest of a truncated file.
    filled, missing = fill_gaps(tx, space, state.senders) if state.complete else (0, 0)
    _keep_activity(tx, space)
    if space_id in notified.again or (filled and space_id not in notified.created):
        resync(tx, space_id)
    return filled, missing


def _keep_activity(tx: Tx, space: sa.Row[Any]) -> None:
    """Spaces are listed by their latest activity. For a new space that is its newest message."""
    if space.event_seq > 0:
        return
    newest = sa.select(messages.c.created_at).where(messages.c.space_id == space.id, messages.c.seq == space.head_seq)
    at = min(tx.execute(newest).scalar_one_or_none() or 0, tx.now)
    if at > space.event_at:
        tx.execute(spaces.update().where(spaces.c.id == space.id).values(event_at=at))


def _end_lost_waits(tx: Tx) -> None:
    """Resumes runs that wait for a card that was not imported, as if the card had been withdrawn. They have no
    deadline that would end the wait."""
    for run in tx.all(_WITHOUT_CARD):
        wait = run.wait or {}
        outcome = {"status": "withdrawn", "at": iso(tx.now), "toolName": wait.get("toolName", "")}
        changes = {"status": "queued", "wait": {**wait, "outcome": outcome}, "wait_space_id": None}
        tx.execute(runs.update().where(runs.c.id == run.id, runs.c.status == "waiting_tool").values(changes))
        error = f"{wait.get('toolName', 'The call')} was withdrawn without an answer: its card was not imported."
        output = {"success": False, "status": "withdrawn", "error": error}
        # The call that a run waits for is its last.
        last = tx.execute(_LAST_CALL, {"run": run.id}).scalar_one()
        call = steps.update().where(steps.c.run_id == run.id, steps.c.n == last)
        tx.execute(call.values(state="error", output=output, ended_at=tx.now))


class _State:
    """The state of an import. It changes only between transactions, because a transaction may run again."""

    def __init__(self, summary: Summary, rejected: Rejected) -> None:
        self.summary = summary
        self.rejected_rows: RejectedRows = {}
        self.senders: dict[tuple[str, int], str] = {}
        self.spaces: set[str] = set()
        self._rejected = rejected
        self._refused: list[tuple[Raw, str, str]] = []
        self._seen: Counter[str] = Counter()
        self._expected: dict[str, int] | None = None

    @property
    def complete(self) -> bool:
        """The file had its end line."""
        return self._expected is not None

    def refuse(self, raw: Raw, reason: str) -> None:
        self._reject(raw, None, reason, {})

    def parse(self, raw: Raw) -> Line | Content | None:
        """Returns None for the end line and for a line that is rejected."""
        try:
            if self._expected is not None:
                raise Refused("comes after the end line")
            parsed = parse(raw, self.summary.scope)
        except Refused as refused:
            kind = BY_NAME.get(str(refused.content.get("type")))
            if kind is not None:
                self._seen[kind.name] += 1
            values = {each.name: refused.content.get(each.wire) for each in kind.fields} if kind is not None else {}
            self._reject(raw, kind, refused.reason, values)
            return None
        if isinstance(parsed, End):
            self._expected = parsed.counts
            return None
        if isinstance(parsed, Content):
            return parsed
        self._seen[parsed.kind.name] += 1
        return parsed

    def settle(self, lines: Sequence[Line], verdicts: Verdicts) -> None:
        for line in lines:
            verdict = verdicts[line.raw.number]
            if verdict.outcome == "setAside":
                self._reject(line.raw, line.kind, verdict.reason, line.values)
            else:
                self.summary.counts[line.kind.name, verdict.outcome] += 1
            if line.kind.name in ("space", "message"):
                self.spaces.add(line.values["id" if line.kind.name == "space" else "space_id"])
        # In the order of the file, whether rejected before the transaction or in it.
        for raw, name, reason in sorted(self._refused):
            self._rejected.add(raw, name, reason)
        self._refused.clear()

    def close(self) -> None:
        """Compares the counts of the end line with what the file had."""
        if self._expected is None:
            self.summary.notes.append(
                "The file is truncated: it has no end line. Its lines were imported; import the complete file too."
            )
            return
        for name, expected in self._expected.items():
            if name in BY_NAME and expected != self._seen[name]:
                self.summary.notes.append(
                    f"The end line counts {expected:,} {name} lines, but the file has {self._seen[name]:,}."
                )

    def _reject(self, raw: Raw, kind: Kind | None, reason: str, values: Mapping[str, Any]) -> None:
        name = kind.name if kind is not None else UNREADABLE
        self.summary.counts[name, "setAside"] += 1
        self.summary.rejected = self._rejected.path
        self._refused.append((raw, name, reason))
        if kind is not None and len(self.rejected_rows) < _REMEMBERED:
            remember(self.rejected_rows, kind, values, raw.number, reason)
        space_id, seq, sender_id = values.get("space_id"), values.get("seq"), values.get("sender_id")
        if isinstance(space_id, str) and isinstance(seq, int) and isinstance(sender_id, str):
            # A message, which may get a placeholder.
            self.spaces.add(space_id)
            if len(self.senders) < _REMEMBERED:
                self.senders[space_id, seq] = sender_id
