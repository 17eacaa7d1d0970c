"""One run, from row to row: its trigger, where it stands, what it has spent, shown and written; and its live events.

Adding a fact to a run means a field here and a column in `store/tables/runs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import sqlalchemy as sa

from majlis import clock
from majlis.agents.config.config import AgentConfig
from majlis.agents.own_rows import Source
from majlis.entities.caller import Caller
from majlis.inbox.build_trigger import cycle_trigger
from majlis.inbox.trigger_shapes import EventJson, TriggerJson
from majlis.live import log
from majlis.models.port import Usage
from majlis.runs.claim.lease import RUN_LEASE_MILLIS
from majlis.spaces.acts_for import Bounds
from majlis.spaces.cause import Cause
from majlis.spaces.stale import Guard
from majlis.store.transactions import Tx
from majlis.waits.wait import Wait, parse_wait

# Fields that are columns of the same name: of every new run, what a run has spent, and all.
_NEW_COLUMNS = (
    "id", "agent_id", "trigger", "trigger_space_id", "active_space_id", "chain_depth", "fence", "attempts", "deaths",
    "cycle", "cause_id", "person_id",
)  # fmt: skip
# How many times a message of a run is held at most.
MAX_HOLDS = 2
_SPENT = ("requests", "input_tokens", "cached_tokens", "output_tokens", "model", "cost")
_COLUMNS = (*_NEW_COLUMNS, *_SPENT, "waits", "working_millis")


@dataclass(slots=True)
class Run:
    id: str
    agent_id: str
    agent_name: str
    agent_version: int
    trigger: TriggerJson
    trigger_space_id: str | None
    active_space_id: str | None
    chain_depth: int
    fence: int = 1
    # Counts its workers: one more for each takeover.
    attempts: int = 1
    # Counts the workers that died with it in a row, without progress in between.
    deaths: int = 0
    # A cycle of a consciousness, even if the agent's mind has changed since.
    cycle: bool = False
    # What its chain began with, and on whose behalf it acts; they never change (O3).
    cause_id: str | None = None
    person_id: str | None = None
    # How many times it has waited, and its current or last wait.
    waits: int = 0
    wait: Wait | None = None
    requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    model: str | None = None
    # In USD; None while no request had a known price.
    cost: float | None = None
    working_millis: int = 0
    notes: list[str] = field(default_factory=list)
    # The model step with an answer that was not sent (E10).
    unsent_step: int | None = None

    # The rest of what the column `shown` holds. Sequence numbers by space: the newest message shown, and those written.
    shown: dict[str, int] = field(default_factory=dict)
    wrote: dict[str, list[int]] = field(default_factory=dict)
    # Runs whose calls the model is shown: failed tries at the same event, and this run if it was resumed.
    earlier: list[str] = field(default_factory=list)
    # Roles: the newest message that was known in a space before the trigger (R5).
    since: dict[str, int] = field(default_factory=dict)
    # The newest message that a cycle's inbox contained or announced, and how many messages of the run were held (E8).
    told: dict[str, int] = field(default_factory=dict)
    holds: int = 0

    # Only while a worker has it.
    config: AgentConfig = field(default_factory=AgentConfig)
    began_at: int = field(default_factory=clock.now)
    # When its event became due; 0 for a resumed run.
    due_at: int = 0
    # The agent has no other run that is not over, so no query has to look for one.
    alone: bool = False
    # The agent has a live API token, so a program acts as it (G3).
    has_token: bool = False
    # The context that the provider last refused as too long, halved (F2): {"model", "tokens", "until"}.
    context_limit: Mapping[str, Any] | None = None
    # Roles: the external session, and whether this run's model has started a new one (R7).
    session_id: str | None = None
    new_session: bool = False

    @classmethod
    def from_row(cls, row: sa.Row[Any], agent: sa.Row[Any]) -> Run:
        """A run that is resumed, or taken over from a dead worker. `agent` has `name` and `version`."""
        kept = row.shown or {}
        return cls(
            **{name: getattr(row, name) for name in _COLUMNS},
            agent_name=agent.name,
            agent_version=agent.version,
            has_token=bool(agent.has_token),
            context_limit=agent.context_limit,
            wait=parse_wait(row.wait),
            notes=list(row.notes or ()),
            shown=dict(kept.get("shown") or {}),
            wrote={space: list(seqs) for space, seqs in (kept.get("wrote") or {}).items()},
            earlier=list(dict.fromkeys([*(kept.get("earlier") or ()), row.id])),
            told=dict(kept.get("told") or {}),
            holds=kept.get("holds") or 0,
        )

    def new_row(self, tx: Tx, owner: str, lease_millis: int = RUN_LEASE_MILLIS) -> dict[str, Any]:
        """The row of a new run, leased to its owner."""
        return {
            **{name: getattr(self, name) for name in _NEW_COLUMNS},
            "status": "running",
            "lease_owner": owner,
            "lease_until": tx.now + lease_millis,
            "shown": self._rarely_kept() or None,
            "created_at": tx.now,
            "started_at": tx.now,
        }

    def columns(self) -> dict[str, Any]:
        """What every transaction of the run writes to its row."""
        return {
            **self.spent(),
            "active_space_id": self.active_space_id,
            "waits": self.waits,
            "shown": {"shown": self.shown, "wrote": self.wrote, **self._rarely_kept()},
            "notes": self.notes or None,
        }

    def _rarely_kept(self) -> dict[str, Any]:
        kept = {"earlier": self.earlier, "since": self.since, "told": self.told, "holds": self.holds}
        return {name: value for name, value in kept.items() if value}

    def spent(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in _SPENT}, "working_millis": self.worked_millis()}

    def copy(self) -> Run:
        """For a transaction, which may be retried: its changes count only once it has committed (`become`)."""
        wrote = {space: list(seqs) for space, seqs in self.wrote.items()}
        return replace(self, shown=dict(self.shown), wrote=wrote, told=dict(self.told), notes=list(self.notes))

    def become(self, copy: Run) -> None:
        for name in _FIELDS:
            setattr(self, name, getattr(copy, name))

    def adopt(self, config: AgentConfig) -> None:
        """A run ends as it began, even if the agent's mind has changed: a cycle as a cycle, another run as a timeline
        run."""
        if self.cycle != (config.mind == "consciousness"):
            config = config.model_copy(update={"mind": "consciousness" if self.cycle else "timeline"})
        self.config = config

    def spend(self, usage: Usage, cost: float | None = None) -> None:
        self.requests += 1
        self.input_tokens += usage.input
        self.cached_tokens += usage.cached
        self.output_tokens += usage.output
        self.model = self.config.model_name
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def saw(self, space_id: str, seq: int) -> None:
        self.shown[space_id] = max(seq, self.shown.get(space_id, 0))

    def looked_at(self, space_id: str) -> int | None:
        """The newest message of the space that it has looked at, then on through its own (E8)."""
        found = max(self.shown.get(space_id, 0), self.told.get(space_id, 0))
        wrote = set(self.wrote.get(space_id, ()))
        while found + 1 in wrote:
            found += 1
        return found or None

    def was_told(self, space_id: str | None, seq: int | None) -> None:
        """The message was shown by an event of the inbox, or a preview."""
        if space_id is not None and seq is not None:
            self.told[space_id] = max(seq, self.told.get(space_id, 0))

    def guard(self, space_id: str) -> Guard | None:
        """The check for a message to this space (E8). None if it is posted without one."""
        seen = self.looked_at(space_id)
        if seen is None or not self.config.guard or self.config.mind in ("roles", "outside"):
            return None
        # Without a request left to decide again, the message would be lost.
        holds = self.holds < MAX_HOLDS and self.requests < self.config.limits.steps
        return Guard(self.agent_id, self.id, self.cause_id, seen, holds, has_other_runs=not self.cycle)

    def note(self, *notes: str) -> None:
        """Adds each note once, however often the run is resumed."""
        self.notes += [note for note in notes if note not in self.notes]

    def take(self, events: Sequence[EventJson]) -> None:
        """Adds events to this cycle. No path resets a chain: the greatest depth counts (T6)."""
        self.trigger = cycle_trigger([*self.trigger.get("events", ()), *events])
        self.chain_depth = max([self.chain_depth, *(event["chainDepth"] for event in events)])

    def continue_session(self, session_id: str) -> None:
        """The model has put this run into a session of its own; the session is kept when the run ends."""
        if session_id != self.session_id:
            self.session_id, self.new_session = session_id, True

    def worked_millis(self) -> int:
        return self.working_millis + clock.now() - self.began_at

    @property
    def cause(self) -> Cause:
        """The cause of the messages that it sends and the plans that it makes."""
        return Cause(self.cause_id, self.person_id)

    @property
    def limited_to(self) -> str | None:
        """The person whose rights bound the run across spaces; None if the agent acts for itself (G3). Empty if no
        person is known: then the run stays in the space of its trigger."""
        if self.config.acts_for == "itself" or self.config.mind == "outside" or self.cycle or self.has_token:
            return None
        # A heartbeat, or a plan of the agent's own.
        if self.person_id is None and self.trigger["type"] != "space_message":
            return None
        return self.person_id or ""

    @property
    def bounds(self) -> Bounds | None:
        """Limits the files that it may read and attach."""
        person = self.limited_to
        return None if person is None else Bounds(person, self.asked_in)

    @property
    def source(self) -> Source:
        """The source of the memories, goals and plans that it writes (G4). A run without a space, such as a plan's,
        writes for the space that it has entered."""
        scope = self.trigger_space_id or self.active_space_id or self.person_id or ""
        return Source(scope, self.person_id, self.limited_to)

    def person_in(self, space_id: str) -> str | None:
        """The person who must be a member of the space for the run to act there."""
        person = self.limited_to
        return None if person == "" and space_id in self.asked_in else person

    @property
    def asked_in(self) -> set[str]:
        """The spaces that the run's events come from."""
        events = self.trigger.get("events") or [self.trigger]
        return {event["spaceId"] for event in events if "spaceId" in event}

    @property
    def caller(self) -> Caller:
        """The agent as the sender of messages and the reader of spaces. A run has no token."""
        return Caller(self.agent_id, self.agent_name, "agent", "member", self.id)

    def cursors(self) -> dict[str, int]:
        """The cursors by space: the newest message shown, then on through messages that the run itself wrote. The
        cursor stops before another member's message that arrived in between, since that was not shown (C2)."""
        reached: dict[str, int] = {}
        for space_id, seq in self.shown.items():
            wrote = set(self.wrote.get(space_id, ()))
            while seq + 1 in wrote:
                seq += 1
            reached[space_id] = seq
        return reached


_FIELDS = tuple(each.name for each in fields(Run))


Event = tuple[str, str, dict[str, Any]]


def run_event(type: str, run: Any, **more: Any) -> list[Event]:
    """`run` has `id`, `agent_id`, `trigger`, `trigger_space_id`, `active_space_id`."""
    space_id = run.trigger_space_id or run.active_space_id
    if space_id is None:
        return []
    return [(space_id, type, {"spaceId": space_id, "runId": run.id, "agentId": run.agent_id, **more})]


def presence(type: str, run: Any) -> list[Event]:
    """`agent.active` or `agent.inactive`, in each space where members see the run."""
    spaces = spaces_of_run(run)
    return [(space, type, {"spaceId": space, "agentId": run.agent_id, "runId": run.id}) for space in sorted(spaces)]


def spaces_of_run(run: Any) -> set[str]:
    """The spaces of its events, several for a cycle, and its active space."""
    found = {run.trigger_space_id, run.active_space_id}
    events = run.trigger.get("events")
    if events:
        found.update(event.get("spaceId") for event in events)
    found.discard(None)
    return found


def announce(tx: Tx, events: list[Event]) -> None:
    if events:
        log.record_together(tx, events)


def origin_of(trigger: TriggerJson) -> EventJson:
    """The event that a run's messages are because of. In a cycle, the first from a space (M14)."""
    events: list[EventJson] = trigger.get("events") or [trigger]
    return next((event for event in events if "spaceId" in event), events[0])
