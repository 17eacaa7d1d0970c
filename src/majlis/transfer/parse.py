"""From a line of the file to the values of a row: every check that needs no database."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from majlis.agents.agents import is_outside
from majlis.agents.config.config import dump_config, parse_config
from majlis.entities.names import entity_name, look_key, name_key, space_name
from majlis.errors import Invalid, MajlisError
from majlis.spaces.post import MAX_MENTIONS, checked_text
from majlis.store import ids
from majlis.transfer import tables
from majlis.transfer.file import MAX_LINE_BYTES, Raw
from majlis.transfer.scope import ScopeName, Values
from majlis.transfer.tables import Kind

# More messages than a space can have; a forged number must not create a billion placeholders.
MAX_HEAD = 1_000_000_000


class Line(NamedTuple):
    raw: Raw
    kind: Kind
    values: Values
    """The values by column, without the keys that the line leaves out."""


class Content(NamedTuple):
    """A piece of a file."""

    line: dict[str, Any]


class End(NamedTuple):
    counts: dict[str, int]


class Refused(Exception):
    """`content` is the part of the line that could be parsed."""

    def __init__(self, reason: str, content: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.content = content or {}


def parse(raw: Raw, scope: ScopeName) -> Line | Content | End:
    content = _object(raw)
    if content.get("type") == "end":
        return End(_counts(content))
    if content.get("type") == "content":
        return Content(content)
    kind = tables.BY_NAME.get(str(content.get("type")))
    if kind is None:
        raise Refused(f"type should be one of {', '.join(tables.BY_NAME)} or end", content)
    if scope == "space" and kind.name == "entity" and "role" in content:
        raise Refused("role is not allowed in the export of a single space", content)
    try:
        values = kind.validate(_given(kind, content))
        _check(kind.name, values)
    except ValidationError as error:
        raise Refused(_explained(error), content) from None
    except MajlisError as error:
        raise Refused(error.message, content) from None
    return Line(raw, kind, settled(kind.name, values))


def settled(type: str, values: Values) -> Values:
    """A row as it is imported: workers can claim work in progress, and a config has all its defaults."""
    if type == "agent" and "config" in values:
        return {**values, "config": _whole_config(values["config"])}
    if type in ("memory", "goal"):
        # Part of the key; earlier versions did not have it.
        return {"scope_id": "", **values}
    if type == "run" and values.get("status") == "running":
        return {**values, "status": "queued"}
    if type == "delivery" and values.get("state") == "taken" and values.get("run_id") is None:
        return {**values, "state": "pending"}
    return values


def derived(type: str, values: Values) -> Values:
    """Values for columns that are not exported but computed from others."""
    if type == "entity":
        return {"name_key": name_key(values["name"]), "look_key": look_key(values["name"])}
    if type == "agent":
        return {"outside": is_outside(values.get("config"))}
    return {"event_at": values["created_at"]} if type == "space" else {}


def _given(kind: Kind, content: dict[str, Any]) -> dict[str, Any]:
    given = content.copy()
    del given["type"]
    for old, new in tables.RENAMED.get(kind.name, {}).items():
        if old in given:
            given[new] = given.pop(old)
    return given


def _object(raw: Raw) -> dict[str, Any]:
    if raw.too_long:
        raise Refused(f"the line is longer than {MAX_LINE_BYTES} bytes")
    try:
        content = orjson.loads(raw.content)
    except orjson.JSONDecodeError as error:
        raise Refused(f"not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise Refused("not a JSON object")
    return content


def _counts(content: dict[str, Any]) -> dict[str, int]:
    counts = content.get("counts")
    if not isinstance(counts, dict) or not all(type(count) is int for count in counts.values()):
        raise Refused("counts should be an object of numbers", content)
    return counts


def _explained(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    path = ".".join(str(part) for part in problems[0]["loc"])[:200]
    message = _message(problems[0])
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{path}: {message[0].lower()}{message[1:]}{more}"


def _message(problem: ErrorDetails) -> str:
    match problem["type"]:
        case "extra_forbidden":
            return "is not a known key"
        case "missing":
            return "is missing"
        case "string_pattern_mismatch":
            # Only ids have a pattern (`ids.pattern`).
            kind = problem["ctx"]["pattern"][1:4]
            return f"should be an id like {kind if kind.isalpha() else 'msg'}_0123456789abcdef"
    return problem["msg"].removeprefix("Value error, ")


def _check(type: str, values: Values) -> None:
    """Checks rules that a column's type does not express, and normalizes names."""
    match type:
        case "entity":
            values["name"] = entity_name(values["name"])
            if values["type"] == "agent" and values.get("role", "member") != "member":
                raise Invalid("invalid_role", "An agent cannot administer the gateway.")
        case "space":
            values["name"] = space_name(values["name"])
            if not 0 <= values.get("head_seq", 0) <= MAX_HEAD:
                raise Invalid("invalid_line", f"headSeq should be between 0 and {MAX_HEAD}.")
            _check_direct(values)
        case "agent":
            parse_config(values["config"])
        case "message":
            _check_message(values)
            _require_objects(values, "tool", "origin", "stopped_by")
        case "run":
            _require_objects(values, "trigger", "wait", "usage")


def _check_direct(values: Values) -> None:
    pair = values.get("direct_key")
    if pair is None:
        return
    both = pair.split(":")
    if len(both) != 2 or not both[0] < both[1] or not all(ids.looks_like_id(each) for each in both):
        raise Invalid("invalid_line", "directKey should be two different ids of entities in order, with a colon.")
    if values.get("triggers", "everyone") != "everyone" or values.get("deleted_at") is not None:
        raise Invalid("invalid_line", "directKey needs a space that is not deleted and triggers everyone.")


def _check_message(values: Values) -> None:
    # Without text it has files, which come later.
    if values.get("kind", "text") == "text" and values["text"]:
        checked_text(values["text"])
    mentions = values.get("mentions")
    if mentions is not None and not (isinstance(mentions, list) and len(mentions) <= MAX_MENTIONS):
        raise Invalid("invalid_line", f"mentions should be a list of at most {MAX_MENTIONS} ids.")
    if mentions and not all(isinstance(mention, str) and ids.looks_like_id(mention) for mention in mentions):
        raise Invalid("invalid_line", "mentions should contain ids of entities.")


def _require_objects(values: Values, *names: str) -> None:
    for name in names:
        value = values.get(name)
        if value is not None and not isinstance(value, dict):
            raise Invalid("invalid_line", f"{name} should be an object.")


def _whole_config(config: Any) -> Any:
    try:
        return dump_config(parse_config(config))
    except Invalid:
        # An existing row with an invalid config is compared as it is.
        return config
