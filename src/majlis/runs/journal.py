"""The journal of a run: every model request and tool call, written before anything relies on it (J2).

Each entry is written in the transaction of its effect, which ends with an update of the run that checks the fence: a
worker that lost its lease changes nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypedDict

import orjson
import sqlalchemy as sa

from majlis import clock
from majlis.clock import Millis
from majlis.minds.view import LeftOut
from majlis.models.chat.wire_format import chat_messages, chat_tools
from majlis.models.port import Answer, Call, ModelFailed, Prompt, SizeSource, Usage
from majlis.runs.budget.check import Charge, charge
from majlis.runs.claim.lease import RUN_LEASE_MILLIS
from majlis.spaces.shapes import FileJson
from majlis.store.hot import hot
from majlis.store.tables import runs, steps, views
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_INSERT_STEP = hot(steps.insert())
_INSERT_VIEW = hot(views.insert())
_FINISH_STEP = hot(
    steps.update()
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.n == sa.bindparam("step"), steps.c.state == "started")
    .values(
        state=sa.bindparam("outcome"),
        output=sa.bindparam("result", type_=steps.c.output.type),
        ended_at=sa.bindparam("at"),
        secret=sa.null(),
    )
)

_FORGET = hot(
    steps.update()
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.state == word("started"), steps.c.secret.is_not(None))
    .values(secret=sa.null())
)


class Lens(TypedDict):
    """How a request was fitted into its token budget (F1). Requests to the demo model have none."""

    tokens: int | None
    source: SizeSource | None
    reserved: int
    leftOut: list[LeftOut]


class Fenced(Exception):
    """The run is no longer ours: canceled, absorbed, or taken over by another worker. Nothing was written."""


@dataclass(slots=True)
class Entry:
    """A journal entry; for a model request also the view."""

    n: int
    kind: Literal["model", "tool"]
    started_at: Millis
    state: Literal["started", "done", "error"] = "done"
    call_id: str | None = None
    name: str | None = None
    input: Any = None
    # The unmasked input, if `input` masks secrets. Deleted when the call is over.
    secret: Any = field(default=None, repr=False)
    output: Any = None
    usage: dict[str, int | float] | None = None
    ended_at: Millis | None = None
    view: bytes | None = field(default=None, repr=False)
    # Files that the tool made, which its message carries if it is visible. Not stored with the step.
    files: list[FileJson] = field(default_factory=list)
    # For a model request: what it adds to the budgets of its run.
    charges: list[Charge] = field(default_factory=list)


def write_entries(tx: Tx, run_id: str, entries: list[Entry]) -> None:
    """Call it after all spaces are locked: it also charges budgets, whose rows the runs of a worker share."""
    if not entries:
        return
    charges = [each for entry in entries for each in entry.charges]
    if charges:
        charge(tx, charges)
    try:
        tx.later(_INSERT_STEP, [_row(run_id, entry) for entry in entries])
    except sa.exc.IntegrityError as error:
        # Another worker has written this step, so it has the run.
        raise Fenced from error
    for entry in entries:
        if entry.view is not None:
            tx.later(_INSERT_VIEW, {"run_id": run_id, "step": entry.n, "body": entry.view, "created_at": tx.now})


def _row(run_id: str, entry: Entry) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "n": entry.n,
        "kind": entry.kind,
        "call_id": entry.call_id,
        "name": entry.name,
        "state": entry.state,
        "input": entry.input,
        "secret": entry.secret,
        "output": entry.output,
        "usage": entry.usage,
        "started_at": entry.started_at,
        "ended_at": entry.ended_at,
    }


def finish_entry(tx: Tx, run_id: str, entry: Entry) -> None:
    values = {"run": run_id, "step": entry.n, "outcome": entry.state, "result": entry.output, "at": tx.now}
    if tx.execute(_FINISH_STEP, values).rowcount == 0:
        raise Fenced


def forget_secrets(tx: Tx, run_id: str) -> None:
    """The run ends: calls with an unknown outcome are not made again."""
    tx.execute(_FORGET, {"run": run_id})


def update_fenced(tx: Tx, run_id: str, fence: int, **values: Any) -> None:
    """The last statement of every transaction of a run: checks the fence, writes new values, renews the lease."""
    given = {f"new_{name}": value for name, value in values.items()}
    given |= {"run": run_id, "fence_was": fence, "until": tx.now + RUN_LEASE_MILLIS}
    if not tx.later(_fenced_update(tuple(values)), given, checked=True):
        raise Fenced


@cache
def _fenced_update(columns: tuple[str, ...]) -> sa.Update:
    """Cached by columns: building a statement costs more than running it."""
    values = {name: sa.bindparam(f"new_{name}", type_=runs.c[name].type) for name in columns}
    return hot(
        runs.update()
        .where(
            runs.c.id == sa.bindparam("run"),
            runs.c.fence == sa.bindparam("fence_was", type_=sa.BigInteger),
            runs.c.status == word("running"),
        )
        .values(lease_until=sa.bindparam("until"), **values)
    )


def model_entry(
    n: int, started: int, answer: Answer, cost: float | None, shown: Callable[[Call], str], view: bytes
) -> Entry:
    """`shown` are a call's arguments without secrets."""
    calls = [{"id": call.id, "name": call.name, "arguments": shown(call)} for call in answer.calls]
    return Entry(
        n=n,
        kind="model",
        started_at=started,
        ended_at=clock.now(),
        output={"text": answer.text, "calls": calls},
        usage=_usage(answer.usage) | ({} if cost is None else {"cost": cost}),
        view=view,
    )


def failed_entry(n: int, started: int, error: ModelFailed, view: bytes) -> Entry:
    """Keeps the view, so that people can see what the model was shown when it failed (X13)."""
    return Entry(
        n=n,
        kind="model",
        started_at=started,
        ended_at=clock.now(),
        state="error",
        output={"text": "", "calls": [], "error": error.message} | ({"detail": error.detail} if error.detail else {}),
        usage=_usage(error.usage) if error.usage != Usage() else None,
        view=view,
    )


def pack_view(prompt: Prompt, base: int | None, kept: int, lens: Lens) -> bytes:
    """The view of a request. It begins with the messages of an earlier request of this invocation, the step `base`:
    only the messages after the first `kept` are stored."""
    tools = chat_tools(prompt) if base is None else None
    body = {"base": base, "messages": chat_messages(prompt)[kept:], "tools": tools, "lens": lens}
    return zlib.compress(orjson.dumps(body), 1)


def _usage(usage: Usage) -> dict[str, int | float]:
    return {"inputTokens": usage.input, "cachedTokens": usage.cached, "outputTokens": usage.output}
