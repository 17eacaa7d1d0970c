"""Turns the problems of a config into one error: wire paths, and messages that say what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from majlis.errors import Invalid

Path = tuple[str | int, ...]

MAX_LISTED = 20
MAX_TEXT = 500

_MESSAGES = {
    "missing": "is required; add it",
    "extra_forbidden": "is not a known setting; remove it, or check its spelling (names are camelCase)",
    "union_tag_not_found": "is required; add it",
    "model_attributes_type": "should be an object",
    "tuple_type": "should be an array",
}


class Problem(NamedTuple):
    path: Path
    message: str
    """Continues the path: `limits.steps` "should be a valid integer"."""

    def wire_path(self) -> str:
        return _shortened(".".join(map(str, self.path)))


def refused(problems: Sequence[Problem]) -> Invalid:
    first, more = problems[0], len(problems) - 1
    place = first.wire_path() or "the whole config"
    rest = f" ({more} more problem{'s' if more > 1 else ''})" if more else ""
    listed = [{"path": each.wire_path(), "message": each.message} for each in problems[:MAX_LISTED]]
    return Invalid(
        "invalid_config", f"The agent config is invalid: {place} {first.message}{rest}.", details={"errors": listed}
    )


def problems_of(error: ValidationError, value: object) -> list[Problem]:
    """`value` is the validated input; it tells wire names from the tags that pydantic adds to a location."""
    messages: dict[Path, list[str]] = {}
    for each in error.errors(include_url=False, include_input=False):
        messages.setdefault(_path(each, value), []).append(_message(each))
    return [Problem(path, " or ".join(alternatives)) for path, alternatives in messages.items()]


def _path(error: Any, value: Any) -> Path:
    path: list[str | int] = []
    for step in error["loc"]:
        is_key = isinstance(value, dict) and step in value
        if is_key or (isinstance(value, list) and isinstance(step, int) and step < len(value)):
            path.append(step)
            value = value[step]
    return (*path, *_last_steps(error))


def _last_steps(error: Any) -> Path:
    match error["type"]:
        case "missing":
            return (error["loc"][-1],)
        case "refused":
            return tuple(error["ctx"]["at"])
        case "union_tag_not_found" | "union_tag_invalid":
            return (error["ctx"]["discriminator"].strip("'"),)
    return ()


def _message(error: Any) -> str:
    if error["type"] == "union_tag_invalid":
        return f"should be one of {error['ctx']['expected_tags']}"
    known = _MESSAGES.get(error["type"])
    return known or _shortened(re.sub(r"^[A-Z]\w+ (?=should )", "", error["msg"]))


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
