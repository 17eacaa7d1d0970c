"""A run in the hands of its worker: what it has spent, shown and written so far, as it goes into the run's row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from majlis import clock
from majlis.agents.config.config import AgentConfig
from majlis.agents.config.model import model_name
from majlis.inbox.trigger import TriggerJson
from majlis.models.port import Usage
from majlis.runs.calls.context import Acting
from majlis.runs.claim.claimed import Claimed
from majlis.runs.claim.cycle import with_events
from majlis.waits.wait import expired_questions


@dataclass(slots=True)
class Working:
    id: str
    agent_id: str
    agent_name: str
    config: AgentConfig
    trigger: TriggerJson
    trigger_space_id: str | None
    active_space_id: str | None
    chain_depth: int
    fence: int
    waits: int
    shown: dict[str, int]
    wrote: dict[str, list[int]]
    earlier: list[str]
    requests: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    model: str | None
    worked_before: int
    # Questions of this run that nobody answered in time: a late answer to one is still recognised (M8).
    expired: list[str] = field(default_factory=list)
    began_at: int = field(default_factory=clock.now)
    notes: list[str] = field(default_factory=list)
    # A cycle of a consciousness.
    cycle: bool = False
    # Roles: what was known in a space before the trigger, and the external session (R5, R7).
    since: dict[str, int] = field(default_factory=dict)
    session_id: str | None = None
    new_session: bool = False

    @classmethod
    def on(cls, claimed: Claimed, config: AgentConfig) -> Working:
        return cls(
            id=claimed.id,
            agent_id=claimed.agent_id,
            agent_name=claimed.agent_name,
            config=config,
            trigger=claimed.trigger,
            trigger_space_id=claimed.trigger_space_id,
            active_space_id=claimed.active_space_id,
            chain_depth=claimed.chain_depth,
            fence=claimed.fence,
            waits=claimed.waits,
            shown=dict(claimed.shown.get("shown") or {}),
            wrote={space: list(seqs) for space, seqs in (claimed.shown.get("wrote") or {}).items()},
            earlier=list(claimed.shown.get("earlier") or claimed.earlier),
            requests=claimed.requests,
            input_tokens=claimed.input_tokens,
            cached_tokens=claimed.cached_tokens,
            output_tokens=claimed.output_tokens,
            model=claimed.model,
            worked_before=claimed.working_millis,
            expired=expired_questions(claimed.wait),
            notes=list(claimed.notes),
            cycle=claimed.cycle,
        )

    def spend(self, usage: Usage) -> None:
        self.requests += 1
        self.input_tokens += usage.input
        self.cached_tokens += usage.cached
        self.output_tokens += usage.output
        self.model = model_name(self.config.model)

    def acting(self, call_id: str, stream_id: str | None) -> Acting:
        """A copy for one call: what it changes counts only once its transaction has committed."""
        return Acting(
            run_id=self.id,
            id=self.agent_id,
            name=self.agent_name,
            config=self.config,
            trigger=self.trigger,
            chain_depth=self.chain_depth,
            active_space_id=self.active_space_id,
            trigger_space_id=self.trigger_space_id,
            call_id=call_id,
            stream_id=stream_id,
            shown=dict(self.shown),
            wrote={space: list(seqs) for space, seqs in self.wrote.items()},
            waits=self.waits,
            earlier=self.earlier,
        )

    def copied(self) -> Working:
        """For a transaction, which may be tried more than once: what it shows counts only once it has committed."""
        return replace(self, wrote={space: list(seqs) for space, seqs in self.wrote.items()}, notes=list(self.notes))

    def take_shown(self, copy: Working) -> None:
        self.wrote, self.notes = copy.wrote, copy.notes

    def take_in(self, acted: Acting) -> None:
        self.active_space_id = acted.active_space_id
        self.shown = acted.shown
        self.wrote = acted.wrote
        self.waits = acted.waits
        self.chain_depth = acted.chain_depth
        if acted.taken:
            self.trigger = with_events(self.trigger, acted.taken)

    def saw(self, shown: dict[str, int]) -> None:
        for space_id, seq in shown.items():
            self.shown[space_id] = max(seq, self.shown.get(space_id, 0))

    def note(self, *notes: str) -> None:
        """Each once, however often the run begins anew."""
        self.notes += [note for note in notes if note not in self.notes]

    def go_on_in(self, session_id: str) -> None:
        """The model has put this run into a session of its own; it is kept with the run's end."""
        if session_id != self.session_id:
            self.session_id, self.new_session = session_id, True

    def worked_millis(self) -> int:
        return self.worked_before + clock.now() - self.began_at

    def columns(self) -> dict[str, Any]:
        """What every transaction of the run leaves in its row."""
        kept: dict[str, Any] = {"shown": self.shown, "wrote": self.wrote}
        if self.earlier:
            kept["earlier"] = self.earlier
        if self.since:
            kept["since"] = self.since
        return {
            **self.spent(),
            "active_space_id": self.active_space_id,
            "waits": self.waits,
            "shown": kept,
            "notes": self.notes or None,
        }

    def spent(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "model": self.model,
            "working_millis": self.worked_millis(),
        }

    def cursors(self) -> dict[str, int]:
        """C2: the newest message shown, and from there on through those the run itself wrote. Not past a message of
        somebody else that came in between: that one was not shown, and is still new."""
        reached: dict[str, int] = {}
        for space_id, seq in self.shown.items():
            wrote = set(self.wrote.get(space_id, ()))
            while seq + 1 in wrote:
                seq += 1
            reached[space_id] = seq
        return reached
