"""Questions that the server of a tool asks people during a call (D6): a card, and what the call needs to go on.

A server of the newest protocol ends the call with its questions. Then the run pauses, and the call is made again with
the answers when it resumes. Older servers ask while they work, so the worker holds the call (`dialog.py`).
"""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict

from majlis.cards.ask import Question, ask, use_permission
from majlis.cards.close import close_card
from majlis.runs.calls.commit import Started, context_of, write_effects
from majlis.runs.calls.context import CallContext
from majlis.runs.calls.permission import judge, place_of
from majlis.runs.calls.tool_port import Outside
from majlis.runs.journal import Entry, Fenced, update_fenced
from majlis.runs.run import Run
from majlis.spaces.access import lock_spaces
from majlis.store.tables import cards, steps
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

Action = Literal["accept", "decline", "cancel"]

_WAIT = (
    steps.update()
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.n == sa.bindparam("step"), steps.c.state == word("started"))
    # The secret input stays: the call is made again.
    .values(
        state="done",
        output=sa.bindparam("result", type_=steps.c.output.type),
        ended_at=sa.bindparam("at", type_=sa.BigInteger),
    )
)
_CALL_AGAIN = (
    steps.update()
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.n == sa.bindparam("step"), steps.c.state == word("done"))
    .values(state="started", output=sa.null(), ended_at=None)
)
_CARD = sa.select(cards).where(cards.c.id == sa.bindparam("card"))


class _Stored(BaseModel):
    # Unknown keys are ignored, so that a newer version's rows can be read.
    model_config = ConfigDict(frozen=True, extra="ignore")


class ServerQuestion(_Stored):
    """A form; or a page to open, if it has a `url`: then the form has no fields."""

    key: str
    message: str
    form: dict[str, Any]
    url: str | None = None


class Reply(_Stored):
    action: Action
    content: dict[str, Any] | None = None


class Elicitation(_Stored):
    """The state of a call that its server ended with questions. `questions` have no answer yet."""

    server: str
    questions: tuple[ServerQuestion, ...]
    answers: dict[str, Reply] = {}
    # Goes back to the server with the answers.
    state: str | None = None
    rounds: int = 1
    # The server wants the same call again, without the answers.
    resend: bool = False
    # For the model.
    notes: tuple[str, ...] = ()

    def answered(self, reply: Reply, note: str | None = None) -> Elicitation:
        """Without an answer to one question, the others are not asked."""
        first, *rest = self.questions
        answers = {**self.answers, first.key: reply}
        if reply.action != "accept":
            answers |= {each.key: Reply(action="cancel") for each in rest}
            rest = []
        notes = (*self.notes, note) if note else self.notes
        return self.model_copy(update={"answers": answers, "questions": tuple(rest), "notes": notes})


def pause_for(
    tx: Tx, run: Run, tool: Outside, entry: Entry, asked: Elicitation, rest: tuple[str, ...] = ()
) -> CallContext:
    """Asks the first question, and pauses the run."""
    context = context_of(run, entry, None)
    waiting = ask(tx, context, _question(tool.name, asked, run.config.limits.tool_wait_seconds))
    values = {"run": run.id, "step": entry.n, "result": waiting, "at": tx.now}
    if tx.execute(_WAIT, values).rowcount == 0:
        raise Fenced
    write_effects(tx, run, context, [], rest)
    return context


def ask_next(tx: Tx, run: Run, tool: Outside, entry: Entry, asked: Elicitation, card_id: str) -> CallContext:
    """Asks the next question of the same round, after the answer to this card."""
    context = context_of(run, entry, None)
    ask(tx, context, _question(tool.name, asked, run.config.limits.tool_wait_seconds))
    if not use_permission(tx, card_id):
        raise Fenced
    write_effects(tx, run, context, [], ())
    return context


def start_again(tx: Tx, run: Run, tool: Outside, entry: Entry, card_id: str) -> Started:
    """Journals the call as started. Raises Forbidden if a policy now denies it."""
    place = place_of(tx, run.active_space_id)
    judge(run.config, place, tool.name)
    given = {"run": run.id, "step": entry.n}
    if not use_permission(tx, card_id) or tx.execute(_CALL_AGAIN, given).rowcount == 0:
        raise Fenced
    update_fenced(tx, run.id, run.fence, **run.columns())
    return Started(place.name, run.copy())


def reply_of(card: Any) -> tuple[Reply, str | None]:
    """The reply that a closed card gives, with a note for the model if no person has decided."""
    if card.state == "answered":
        if card.answer is None:
            return Reply(action="decline"), None
        return Reply(action="accept", content={**_defaults(card.result_schema), **card.answer}), None
    if card.state == "timeout":
        seconds = (card.deadline - card.created_at) // 1000
        return Reply(action="cancel"), f"The server asked the people in the space, and got no answer in {seconds} s."
    return Reply(action="cancel"), "The server asked the people in the space, and its question was withdrawn."


def _defaults(form: dict[str, Any]) -> dict[str, Any]:
    """The values of fields that an answer leaves out."""
    fields: dict[str, Any] = form.get("properties", {})
    return {name: each["default"] for name, each in fields.items() if "default" in each}


def post_held(tx: Tx, run: Run, tool_name: str, entry: Entry, asked: Elicitation, seconds: int) -> tuple[Run, str]:
    """A card that does not pause the run. Returns its call id."""
    context = context_of(run, entry, None)
    pending = ask(tx, context, _question(tool_name, asked, seconds, held=True))
    write_effects(tx, run, context, [], ())
    return context.run, str(pending["toolCallId"])


def held_card(tx: Tx, run_id: str, call_id: str) -> sa.Row[Any] | None:
    """None while it is open."""
    found = tx.one(sa.select(cards).where(cards.c.run_id == run_id, cards.c.call_id == call_id))
    return found if found is not None and found.state != "open" else None


def withdraw_held(tx: Tx, run_id: str, call_id: str) -> None:
    found = tx.one(sa.select(cards).where(cards.c.run_id == run_id, cards.c.call_id == call_id))
    if found is not None and found.state == "open":
        lock_spaces(tx, (found.space_id,))
        close_card(tx, found, "withdrawn")


def _question(name: str, asked: Elicitation, seconds: int, held: bool = False) -> Question:
    first = asked.questions[0]
    shown = {"server": asked.server, "question": first.message, **({"url": first.url} if first.url else {})}
    kept = asked.model_dump(mode="json")
    return Question(name, "form", "answer", shown, first.form, seconds, None, elicitation=kept, held=held)
