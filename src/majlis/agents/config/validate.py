"""Validates JSON against the schema of a tool or a form, in bounded time (G1).

Patterns run in a linear-time engine. Its time also grows with the size of the pattern, so each validation has a budget
of text times pattern size. Messages do not quote the value: it may be a secret.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import jsonschema_rs
import orjson
from jsonschema_rs import RegexOptions, ValidationError, ValidationErrorKind

from majlis.agents.config.problems import Path
from majlis.agents.config.schema_cost import MAX_COST, PATTERN_COST, Bounds, bounds_of

_SIZES = tuple(kib * 1024 for kib in (16, 64, 256, 1024))
_MAX_TOTAL_SIZE = 4 * 2**20
# About a quarter of a second on a slow machine.
_BUDGET = 2**30
_MAX_KEY_TEXT = 2**16
_MAX_LISTED = 20
_UNUSABLE = (
    "should be a regular expression that runs in linear time: without look-ahead, look-behind and back-references, and "
    "not too large; rewrite it"
)
_budget = threading.local()


class Flaw(NamedTuple):
    message: str
    at: Path


class SchemaProblem(NamedTuple):
    path: Path
    message: str
    """Continues the path: `hosts` "should be an integer"."""

    def place(self) -> str:
        return ".".join(map(str, self.path))


def schema_flaw(schema: dict[str, Any]) -> Flaw | None:
    """Why the schema cannot be used. Its references must already be known to resolve."""
    found = _compiled(orjson.dumps(schema))
    return found if isinstance(found, Flaw) else None


def problem_with(schema: dict[str, Any], value: Any) -> SchemaProblem | None:
    """The most telling problem of the value, or None if it is valid."""
    found = _compiled(orjson.dumps(schema))
    if isinstance(found, Flaw):
        # Stored before these bounds existed.
        return SchemaProblem((), "cannot be checked: the tool's schema is not valid; ask an admin to correct it")
    return found.problem_with(value)


@lru_cache(maxsize=512)
def _compiled(schema: bytes) -> _Validator | Flaw:
    return _compile(orjson.loads(schema))


def _compile(schema: dict[str, Any]) -> _Validator | Flaw:
    try:
        jsonschema_rs.meta.validate(schema)
    except ValidationError as error:
        regex = error.kind.name == "format"
        return Flaw(_UNUSABLE if regex else f"is not valid JSON Schema: {error.message[:200]}", _path(error))
    bounds = bounds_of(schema)
    if bounds is None:
        return Flaw(f"expands to more than {MAX_COST} subschemas through $ref or nesting; make it smaller", ())
    return _with_patterns(schema, bounds)


def _with_patterns(schema: dict[str, Any], bounds: Bounds) -> _Validator | Flaw:
    patterns = _Patterns()
    try:
        compiled = jsonschema_rs.Draft202012Validator(
            schema,
            validate_formats=False,
            pattern_options=RegexOptions(size_limit=_SIZES[0]),
            mask="the value",
            keywords={"pattern": patterns.keyword, "format": _Format},
            offline=True,
        )
    except ValidationError as error:
        return Flaw(_UNUSABLE, _path(error))
    return patterns.flaw or _Validator(compiled, bounds)


class _Validator:
    def __init__(self, compiled: jsonschema_rs.Draft202012Validator, bounds: Bounds) -> None:
        self._compiled = compiled
        self._bounds = bounds

    def problem_with(self, value: Any) -> SchemaProblem | None:
        if _is_deeper(value, self._bounds.depth):
            return SchemaProblem((), f"should not be nested more than {self._bounds.depth} levels deep")
        patterns = self._bounds.cost // PATTERN_COST
        if patterns and _key_text(value) * patterns > _MAX_KEY_TEXT:
            return SchemaProblem((), "has too many or too long names of fields; make it smaller")
        _budget.left = _BUDGET
        if self._compiled.is_valid(value):
            return None
        _budget.left = _BUDGET
        found = [error for error, _ in zip(self._compiled.iter_errors(value), range(_MAX_LISTED), strict=False)]
        return _told(min(found, key=_vagueness))


class _Patterns:
    """The patterns of one schema. The keyword's class is made for it, to collect what is wrong with them."""

    def __init__(self) -> None:
        self.flaw: Flaw | None = None
        self._total = 0
        collected = self

        class Pattern:
            def __init__(self, _parent: dict[str, Any], pattern: str, at: list[str | int]) -> None:
                self._found = collected.add(pattern, tuple(at))

            def validate(self, value: Any) -> None:
                if isinstance(value, str) and self._found is not None:
                    _match(*self._found, value)

        self.keyword = Pattern

    def add(self, pattern: str, at: Path) -> tuple[jsonschema_rs.Draft202012Validator, str, int] | None:
        for size in _SIZES:
            try:
                options = RegexOptions(size_limit=size)
                compiled = jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options)
            except ValidationError:
                continue
            self._total += size
            if self._total > _MAX_TOTAL_SIZE:
                break
            return compiled, pattern, size
        self.flaw = self.flaw or Flaw(_UNUSABLE, at)
        return None


def _match(compiled: jsonschema_rs.Draft202012Validator, pattern: str, size: int, text: str) -> None:
    _budget.left -= size * len(text.encode(errors="replace"))
    if _budget.left < 0:
        raise ValueError("is too long to be checked against its pattern; make it shorter")
    if not compiled.is_valid(text):
        raise ValueError(f"should match the pattern {pattern[:200]}")


class _Format:
    """Only these two formats are checked; the others are hints."""

    def __init__(self, _parent: dict[str, Any], name: str, _at: list[str | int]) -> None:
        self._name = name

    def validate(self, value: Any) -> None:
        if not isinstance(value, str):
            return
        if self._name == "date" and not _is_date(value):
            raise ValueError('should be a date such as "2026-12-31"')
        if self._name == "file-name" and not _is_file_name(value):
            raise ValueError("should be the name of a file, without a path")


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and datetime.date.fromisoformat(text) is not None
    except ValueError:
        return False


def _is_file_name(text: str) -> bool:
    unsafe = any(each in "/\\\x7f" or each < " " for each in text)
    return not unsafe and 1 <= len(text) <= 255 and text not in (".", "..")


def _vagueness(error: ValidationError) -> tuple[bool, int]:
    """The problem to report: problems of alternatives say least; of the others, the one nearest to the top."""
    return error.kind.name in ("anyOf", "oneOf"), len(error.instance_path)


def _told(error: ValidationError) -> SchemaProblem:
    at = tuple(error.instance_path)
    kind = error.kind
    match kind:
        case ValidationErrorKind.Required():
            return SchemaProblem((*at, kind.property), "is required")
        case ValidationErrorKind.AdditionalProperties() | ValidationErrorKind.UnevaluatedProperties():
            return SchemaProblem((*at, kind.unexpected[0]), "is not a known field; remove it")
        case ValidationErrorKind.AnyOf() | ValidationErrorKind.OneOfNotValid():
            return _alternative(at, kind.context)
    return SchemaProblem(at, _message(error))


def _alternative(at: Path, branches: list[list[ValidationError]]) -> SchemaProblem:
    """If all but one of the alternatives are of another type, the problem of that one."""
    likely = [branch[0] for branch in branches if branch and branch[0].kind.name not in ("type", "const", "enum")]
    if len(likely) == 1:
        found = _told(likely[0])
        return found if found.path[: len(at)] == at else SchemaProblem((*at, *found.path), found.message)
    options = sorted({_told(branch[0]).message for branch in branches if branch and not branch[0].instance_path})
    return SchemaProblem(at, " or ".join(options)[:500] or "matches none of the allowed forms")


def _message(error: ValidationError) -> str:
    kind = error.kind
    match kind:
        case ValidationErrorKind.Type():
            return f"should be {' or '.join(map(_with_article, kind.types))}"
        case ValidationErrorKind.Enum():
            return f"should be one of {', '.join(map(_json, kind.options))}"[:500]
        case ValidationErrorKind.Constant():
            return f"should be {_json(kind.expected_value)}"[:500]
        case ValidationErrorKind.Custom():
            return kind.message
        case ValidationErrorKind.FalseSchema():
            return "is not allowed; remove it"
        case ValidationErrorKind.Pattern():
            return f"should match the pattern {kind.pattern[:200]}"
    return error.message.removeprefix("the value ")[:500]


def _with_article(type: str) -> str:
    if type == "null":
        return type
    return f"an {type}" if type[0] in "aio" else f"a {type}"


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _path(error: ValidationError) -> Path:
    return tuple(error.instance_path)


def _is_deeper(value: Any, room: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return room == 0 or any(_is_deeper(child, room - 1) for child in children)


def _key_text(value: Any) -> int:
    match value:
        case Mapping():
            return sum(len(key.encode(errors="replace")) + _key_text(child) for key, child in value.items())
        case list():
            return sum(map(_key_text, value))
    return 0
