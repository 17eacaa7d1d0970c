"""Puts a question to the members of a space: a message with a card, and a row that waits for answers (D5).

It survives restarts and ends once: with the answers that it needs, or at its deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pydantic
import sqlalchemy as sa

from majlis.agents.config.tools import ResultSchema
from majlis.asks.close import ask_state, tell
from majlis.asks.queries import SELECT_ASK, AskJson, ask_json, find_repeated, may_answer_own
from majlis.card_kinds import APPROVAL_ANSWER, TEXT_ANSWER, AskKind, choice_answer
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Invalid
from majlis.inbox.deliver import post_to
from majlis.spaces.access import lock_space
from majlis.spaces.post import Draft, Repeated, checked_text, is_stored
from majlis.spaces.shapes import ToolJson
from majlis.store import ids
from majlis.store.tables import asks
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx
from majlis.waits.condition import Condition, Need, able_members, parse_within, read_condition

MAX_OPEN = 200
MAX_QUESTION_BYTES = 16 * 1024
# If `within` is not given.
DEFAULT_SECONDS = 24 * 3600
MAX_OPTIONS = 50

_COUNT = (
    sa.select(sa.func.count())
    .select_from(asks)
    .where(asks.c.asker_id == sa.bindparam("who"), asks.c.state == word("open"))
)
_SCHEMA = pydantic.TypeAdapter[Any](ResultSchema)


@dataclass(frozen=True, slots=True)
class Asking:
    """`from_` has names or ids of members, or is None for any member."""

    space_id: str
    kind: AskKind
    question: str
    options: Sequence[str] | None = None
    schema: dict[str, Any] | None = None
    from_: Sequence[str] | None = None
    need: Need | None = None
    within: str | None = None
    client_id: str | None = None


def repeated_ask(tx: Tx, caller: Caller, asking: Asking) -> AskJson:
    """The ask with this client id. The answer to another question must not be taken for the answer to this one."""
    found = find_repeated(tx, caller, asking.space_id, asking.client_id or "")
    if found["reason"] != "deleted" and (found["kind"], found["question"], found["schema"]) != (
        asking.kind,
        asking.question,
        _answer_schema(asking),
    ):
        problem = "This clientId was used for another question. Choose another one."
        raise Conflict("client_id_used", problem, {"path": "clientId"})
    return found


class _NewAsk(NamedTuple):
    id: str
    kind: AskKind
    named: list[str] | None
    need: int | None


def ask(tx: Tx, caller: Caller, asking: Asking) -> AskJson:
    """Raises `Repeated` if the client id was used before: `repeated_ask` has the first ask."""
    schema = _answer_schema(asking)
    question = checked_text(asking.question, "question", MAX_QUESTION_BYTES)
    seconds = parse_within(asking.within) if asking.within is not None else DEFAULT_SECONDS
    lock_space(tx, caller, asking.space_id, "write")
    if asking.client_id is not None and is_stored(tx, caller, asking.space_id, asking.client_id):
        raise Repeated
    if tx.execute(_COUNT, {"who": caller.id}).scalar_one() >= MAX_OPEN:
        problem = f"{MAX_OPEN} of your questions are still open, which is the limit. Wait for answers, or delete some."
        raise Conflict("too_many_asks", problem)
    condition = _condition(tx, caller, asking, seconds)
    named = [row.id for row in condition.named] if condition.named is not None else None
    new = _NewAsk(ids.new("ask"), asking.kind, named, None if condition.need == "all" else condition.needed)
    deadline = tx.now + seconds * 1000
    agents = [row.id for row in condition.named or () if row.type == "agent"]
    draft = Draft(
        _text(question, asking, bool(agents)),
        client_id=asking.client_id,
        kind="tool",
        tool=_tool(new, question, asking, schema, deadline),
        mentions=named or [],
        expects_reply=True,
    )
    message = post_to(tx, caller, asking.space_id, draft, agents)
    able = able_members(tx, message, condition, may_answer_own(asking.kind, caller), asking.kind == "approval")
    if len(able) < condition.needed:
        raise _hopeless(len(able), condition.needed, asking.kind)
    row = {
        **new._asdict(),
        "space_id": asking.space_id,
        "message_id": message["id"],
        "asker_id": caller.id,
        "question": question,
        "result_schema": schema,
        "deadline": deadline,
        "created_at": tx.now,
    }
    tx.execute(asks.insert(), row)
    stored = tx.execute(SELECT_ASK, {"ask": new.id}).one()
    tell(tx, stored)
    return ask_json(tx, stored)


def _answer_schema(asking: Asking) -> dict[str, Any]:
    """The schema of the result. Also checks that the question fits its kind."""
    if asking.options is not None and asking.kind != "choice":
        raise Invalid("invalid_ask", "options are only for the kind choice. Leave them out.", {"path": "options"})
    if asking.schema is not None and asking.kind != "form":
        raise Invalid("invalid_ask", "schema is only for the kind form. Leave it out.", {"path": "schema"})
    match asking.kind:
        case "approval":
            return APPROVAL_ANSWER
        case "text":
            return TEXT_ANSWER
        case "choice":
            return choice_answer(_options(asking.options or ()))
        case "form":
            return _form(asking.schema)


def _options(options: Sequence[str]) -> list[str]:
    if not 1 <= len(options) <= MAX_OPTIONS:
        raise Invalid("invalid_ask", f"A choice needs options: 1 to {MAX_OPTIONS} texts.", {"path": "options"})
    for n, option in enumerate(options):
        checked_text(option, f"options.{n}", 200)
    if len({option.strip().casefold() for option in options}) < len(options):
        raise Invalid("invalid_ask", "Each of the options must be different.", {"path": "options"})
    return list(options)


def _form(schema: dict[str, Any] | None) -> dict[str, Any]:
    if schema is None:
        raise Invalid("invalid_ask", "A form needs schema: the JSON Schema of its fields.", {"path": "schema"})
    try:
        found: dict[str, Any] = _SCHEMA.validate_python(schema)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, ("schema", *first.get("ctx", {}).get("at", first["loc"]))))
        raise Invalid("invalid_schema", f"{place} {first['msg']}.", {"path": place}) from None
    return found


def _condition(tx: Tx, caller: Caller, asking: Asking, seconds: int) -> Condition:
    asker = "" if may_answer_own(asking.kind, caller) else caller.id
    condition = read_condition(tx, asking.space_id, asker, asking.from_, asking.need, seconds)
    others = [row.name for row in condition.named or () if row.type != "human"]
    if asking.kind == "approval" and others:
        problem = f"{others[0]} in from is not a person, and only people can approve."
        raise Invalid("invalid_wait", f"Nothing was sent: {problem}", {"path": "from"})
    return condition


def _text(question: str, asking: Asking, names_agents: bool) -> str:
    """For clients and agents that see only the text. People see the options on the card."""
    if asking.kind != "choice" or not names_agents:
        return question
    return f"{question}\n\nReply with one of: {', '.join(asking.options or ())}"


def _tool(new: _NewAsk, question: str, asking: Asking, schema: dict[str, Any], deadline: int) -> ToolJson:
    """The part that the clients' cards show; a text is a form with one field."""
    return {
        "callId": new.id,
        "name": "ask",
        "input": {"question": question} | ({"options": list(asking.options)} if asking.options else {}),
        "output": None,
        "status": "running",
        "ui": "form" if asking.kind == "text" else asking.kind,
        "purpose": "answer",
        "resultSchema": schema,
        "expiresAt": iso(deadline),
        "ask": ask_state(new),
    }


def _hopeless(able: int, wanted: int, kind: AskKind) -> Invalid:
    who = "other person" if kind == "approval" else "member"
    found = f"no {who}" if able == 0 else f"only {able} {who}{'s' * (able > 1)}"
    needs = "" if wanted == 1 else f", and need is {wanted}"
    problem = f"Nothing was sent: {found} of this space could answer{needs}. Add members, or name an agent in from."
    return Invalid("invalid_wait", problem.replace(", or name an agent in from", "") if kind == "approval" else problem)
