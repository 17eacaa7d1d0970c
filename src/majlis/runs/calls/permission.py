"""What the agent's policy and that of the active space say of a call, at the moment it is made: the stricter counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.schemas import APPROVAL
from majlis.agents.config.config import AgentConfig
from majlis.agents.config.policy import Verdict, stricter, verdict
from majlis.cards.ask import Question, digest_of, put_up, use_granted
from majlis.errors import Forbidden
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import Acting, ToolResult
from majlis.runs.journal import Entry
from majlis.store.tables import spaces
from majlis.store.transactions import Tx

_HERE = sa.select(spaces.c.name, spaces.c.tool_policy).where(spaces.c.id == sa.bindparam("space"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call is made."""

    name: str | None = None
    policy: tuple[dict[str, Any], ...] = ()


def place_of(tx: Tx, space_id: str | None) -> Place:
    row = tx.one(_HERE, {"space": space_id}) if space_id is not None else None
    return Place(row.name, tuple(row.tool_policy or ())) if row is not None else Place()


def offered_specs(
    config: AgentConfig, specs: tuple[ToolSpec, ...], is_own: Callable[[AgentConfig, str], bool]
) -> tuple[ToolSpec, ...]:
    """A model is not told of what its own policy denies. What a space denies it reads when it calls it there: the list
    of tools is the beginning of every prompt, and should not change with the place."""
    if not config.policy:
        return specs
    return tuple(
        spec for spec in specs if not (is_own(config, spec.name) and verdict(config.policy, spec.name) == "deny")
    )


def judge(config: AgentConfig, place: Place, name: str) -> Verdict:
    """Raises Forbidden for what is denied."""
    of_agent, of_space = verdict(config.policy, name), verdict(place.policy, name)
    if of_agent == "deny":
        raise Forbidden("denied", f"{name} was not called: your policy does not allow it. Do without, or ask a person.")
    if of_space == "deny":
        raise Forbidden(
            "denied_here",
            f"{name} was not called: it may not be used in the active space. Do without, or ask the people there.",
        )
    return stricter(of_agent, of_space)


def permitted(tx: Tx, acting: Acting, entry: Entry) -> ToolResult | None:
    """For a call that needs permission: None if it has been given. Else people are asked for it; this is the result for
    now."""
    digest = digest_of(entry.secret if entry.secret is not None else entry.input)
    name = entry.name or ""
    if "events" in acting.trigger and use_granted(tx, acting, name, digest):
        return None
    question = Question(
        name=name,
        ui="approval",
        purpose="permission",
        input=entry.input,
        schema=APPROVAL,
        seconds=acting.config.limits.tool_wait_seconds,
        mark=f"ask:{acting.run_id}:{entry.n}",
        digest=digest,
    )
    return put_up(tx, acting, question)
