"""From a line to the values of a row: everything that can be said about it without looking at the database."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from majlis.errors import MajlisError
from majlis.transfer import tables as kinds
from majlis.transfer.tables import Kind
from majlis.transfer.file import MAX_LINE_BYTES, Raw
from majlis.transfer.rules import check, settled
from majlis.transfer.scope import ScopeName


class Line(NamedTuple):
    raw: Raw
    kind: Kind
    values: dict[str, Any]
    """By column. A key that was not said is not in it."""


class End(NamedTuple):
    counts: dict[str, int]


class Refused(Exception):
    """`said` is what could be understood of the line."""

    def __init__(self, reason: str, said: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.said = said or {}


def parse(raw: Raw, scope: ScopeName) -> Line | End:
    said = _object(raw)
    if said.get("type") == "end":
        return End(_counts(said))
    kind = kinds.BY_NAME.get(str(said.get("type")))
    if kind is None:
        raise Refused(f"type should be one of {', '.join(kinds.BY_NAME)} or end", said)
    if scope == "space" and kind.name == "entity" and "role" in said:
        raise Refused("role does not belong here: the export of a space gives nobody power over a gateway", said)
    try:
        return Line(raw, kind, _values(kind, said))
    except ValidationError as error:
        raise Refused(_explained(error), said) from None
    except MajlisError as error:
        raise Refused(error.message, said) from None


def _object(raw: Raw) -> dict[str, Any]:
    if raw.too_long:
        raise Refused(f"the line is longer than {MAX_LINE_BYTES} bytes")
    try:
        said = orjson.loads(raw.content)
    except orjson.JSONDecodeError as error:
        raise Refused(f"not valid JSON: {error}") from None
    if not isinstance(said, dict):
        raise Refused("not a JSON object")
    return said


def _counts(said: dict[str, Any]) -> dict[str, int]:
    counts = said.get("counts")
    if not isinstance(counts, dict) or not all(type(count) is int for count in counts.values()):
        raise Refused("counts should be an object of numbers", said)
    return counts


def _values(kind: Kind, said: dict[str, Any]) -> dict[str, Any]:
    line = kind.line.model_validate({key: value for key, value in said.items() if key != "type"})
    given = {each.name: getattr(line, each.name) for each in kind.fields if each.name in line.model_fields_set}
    check(kind.name, given)
    return settled(kind.name, given)


def _explained(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    first = problems[0]
    path = ".".join(str(part) for part in first["loc"])[:200]
    message = {
        "extra_forbidden": "is not a key of such a line",
        "missing": "is missing",
    }.get(first["type"], first["msg"].removeprefix("Value error, "))
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{path}: {message[0].lower()}{message[1:]}{more}"
