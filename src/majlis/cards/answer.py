"""Answers a card: a current member of its space, or an admin whom it was given to, submits a value that fits its
schema, once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.agents.config.plain_json import refuse_unsafe_json
from majlis.agents.config.validate import problem_with
from majlis.audit.record import record
from majlis.card_kinds import AskKind, full_answer
from majlis.cards.approvers import require_approver
from majlis.cards.close import Answer, close_card
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.spaces.access import lock_any_space, lock_space
from majlis.spaces.attachments import MAX_FILES
from majlis.spaces.file_rights import files_for
from majlis.spaces.shapes import FileJson, MessageJson
from majlis.store.tables import cards
from majlis.store.transactions import Tx

_MAX_BYTES = 64 * 1024
# The `format` of strings that are files.
_FILE_ID = "file-id"
_CARD = sa.select(cards).where(cards.c.run_id == sa.bindparam("run"), cards.c.call_id == sa.bindparam("call"))
_OVER = {
    "answered": ("answered_already", "This was already answered."),
    "timeout": ("timed_out", "This timed out. The agent went on without an answer."),
    "withdrawn": ("withdrawn", "This was withdrawn: the run was canceled, or the agent left the space."),
}


def submit_tool_result(
    tx: Tx, caller: Caller, run_id: str, call_id: str, result: Any, decline: bool = False
) -> MessageJson:
    """The card's message as members see it now. Only the questions of MCP servers can be declined (D6)."""
    card = _access_card(tx, caller, run_id, call_id)
    _require_say(tx, caller, card)
    if card.state != "open":
        raise Conflict(*_OVER[card.state])
    if decline and card.elicitation is None:
        raise Invalid("cannot_decline", "This card cannot be declined. Answer it, or leave it open.")
    value = None if decline else valid_answer(card.ui, card.result_schema, result)
    files = _files(tx, caller, card, value) if value is not None else []
    # Only a person's answer resets a chain (T6).
    depth = 1 if caller.type == "agent" else 0
    message = close_card(tx, card, "answered", Answer(value, caller.id, caller.name, caller.type, depth, files))
    if message is None:
        raise Conflict(*_OVER[_access_card(tx, caller, run_id, call_id).state])
    if card.purpose == "permission" and value is not None:
        record(tx, caller, "permission.answered", run_id, spaceId=card.space_id, approved=value.get("approved"))
    return message


def _access_card(tx: Tx, caller: Caller, run_id: str, call_id: str) -> sa.Row[Any]:
    """Locks the card's space. Callers who are not members do not learn that the card exists."""
    unknown = NotFound("unknown_tool_call", f"No card {call_id} of run {run_id} found that you have access to.")
    found = tx.one(_CARD, {"run": run_id, "call": call_id})
    if found is None:
        raise unknown
    try:
        if found.to_admins and caller.administers:
            lock_any_space(tx, found.space_id)
        else:
            lock_space(tx, caller, found.space_id, "write")
    except NotFound:
        raise unknown from None
    # Read again under the lock: it may have been closed meanwhile.
    return tx.execute(_CARD, {"run": run_id, "call": call_id}).one()


def _require_say(tx: Tx, caller: Caller, card: sa.Row[Any]) -> None:
    caller.require_scope("approve" if card.purpose == "permission" else "write")
    if caller.id == card.agent_id:
        raise Forbidden("own_question", "An agent cannot answer its own question.")
    if card.purpose == "permission" and caller.type != "human":
        raise Forbidden("people_only", "Only a person can approve a call.")
    if card.purpose == "permission":
        require_approver(tx, caller, card)


def valid_answer(kind: AskKind, schema: dict[str, Any], result: Any) -> dict[str, Any]:
    """The answer as it is stored: plain JSON that fits the schema."""
    value = full_answer(kind, result)
    try:
        size = len(refuse_unsafe_json(value))
    except Invalid as error:
        errors: Any = error.details["errors"]
        raise _invalid(errors[0]["path"], errors[0]["message"]) from None
    if size > _MAX_BYTES:
        raise _invalid("", f"is longer than {_MAX_BYTES} bytes")
    problem = problem_with(schema, value)
    if problem is not None:
        raise _invalid(problem.place(), problem.message)
    valid: dict[str, Any] = orjson.loads(orjson.dumps(value))
    return valid


def _files(tx: Tx, caller: Caller, card: sa.Row[Any], value: dict[str, Any]) -> list[FileJson]:
    """The files in the answer. The card's message carries them, so the agent and the members can read them (L6)."""
    found: dict[str, FileJson] = {}
    for path, file_id in _file_ids(card.result_schema, value):
        try:
            [found[file_id]] = files_for(tx, caller, card.space_id, [file_id], None)
        except Invalid:
            raise _invalid(path, "is not the id of a file that you uploaded to this space or may read") from None
        if len(found) > MAX_FILES:
            raise _invalid(path, f"is one file too many; the limit is {MAX_FILES}")
    return list(found.values())


def _file_ids(schema: Any, value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Paths and ids of the files in an answer that is valid by its schema."""
    if not isinstance(schema, Mapping):
        return
    if schema.get("format") == _FILE_ID and isinstance(value, str):
        yield path, value
    if isinstance(value, Mapping):
        for name, each in schema.get("properties", {}).items():
            if name in value:
                yield from _file_ids(each, value[name], f"{path}.{name}" if path else name)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, each in enumerate(value[: MAX_FILES + 1]):
            yield from _file_ids(schema.get("items"), each, f"{path}.{at}")


def _invalid(path: str, reason: str) -> Invalid:
    place = f"result.{path}" if path else "result"
    message = f"The answer is not valid: {path or 'it'} {reason}. Correct it and submit it again."
    return Invalid("invalid_result", message, {"path": place, "errors": [{"path": place, "message": reason}]})
