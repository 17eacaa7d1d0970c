"""Permission for a call: the policies of the agent and of the active space, checked when it is made. The stricter
wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig
from majlis.agents.config.policy import Verdict, approval, stricter, verdict
from majlis.card_kinds import APPROVAL_ANSWER
from majlis.cards.ask import Question, ask, digest_of, use_granted
from majlis.errors import Forbidden
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.journal import Entry
from majlis.store.hot import hot
from majlis.store.tables import spaces
from majlis.store.transactions import Tx

_HERE = hot(sa.select(spaces.c.name, spaces.c.tool_policy).where(spaces.c.id == sa.bindparam("space")))


@dataclass(frozen=True, slots=True)
class Place:
    """The space in which a call is made."""

    name: str | None = None
    policy: tuple[dict[str, Any], ...] = ()


def place_of(tx: Tx, space_id: str | None) -> Place:
    row = tx.one(_HERE, {"space": space_id}) if space_id is not None else None
    return Place(row.name, tuple(row.tool_policy or ())) if row is not None else Place()


def offered_specs(config: AgentConfig, specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """Leaves out tools that the agent's own policy denies. Tools that a space denies stay: the list of tools starts
    every prompt, and must not change from space to space."""
    return tuple(spec for spec in specs if verdict(config.policy, spec.name) != "deny")


def judge(config: AgentConfig, place: Place, name: str) -> Verdict:
    """Raises Forbidden if the call is denied."""
    of_agent, of_space = verdict(config.policy, name), verdict(place.policy, name)
    if of_agent == "deny":
        raise Forbidden("denied", f"{name} was not called: your policy denies it. Go on without it, or ask a person.")
    if of_space == "deny":
        raise Forbidden(
            "denied_here",
            f"{name} was not called: it is not allowed in the active space. Go on without it, or ask a person there.",
        )
    return stricter(of_agent, of_space)


def ask_first(tx: Tx, call: CallContext, entry: Entry) -> ToolResult | None:
    """For a built-in tool, which a rule covers only if it names it (G5). None if the call may be made now."""
    place = place_of(tx, call.run.active_space_id)
    waiting = None
    if judge(call.run.config, place, entry.name or "") == "ask":
        waiting = permitted(tx, call, entry, place)
    call.permitted = waiting is None
    return waiting


def needs_approval(tx: Tx, config: AgentConfig, space_id: str | None, name: str) -> bool:
    """Raises Forbidden if the call is denied."""
    return judge(config, place_of(tx, space_id), name) == "ask"


def permitted(tx: Tx, call: CallContext, entry: Entry, place: Place) -> ToolResult | None:
    """None if a call that needs permission has it. Otherwise asks for it, and returns the result for now."""
    digest = digest_of(entry.secret if entry.secret is not None else entry.input)
    name = entry.name or ""
    if call.run.cycle and use_granted(tx, call.run, name, digest):
        return None
    question = Question(
        name=name,
        ui="approval",
        purpose="permission",
        input=entry.input,
        schema=APPROVAL_ANSWER,
        seconds=call.run.config.limits.tool_wait_seconds,
        mark=f"ask:{call.run.id}:{entry.n}",
        digest=digest,
        approvals=approval(call.run.config.policy, name, "admins") + approval(place.policy, name, "space-admins"),
    )
    return ask(tx, call, question)
