"""What a column's type does not say: the rules of the product for what is written, and how work changes hands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from majlis.agents.config.config import dump_config, parse_config
from majlis.entities.names import entity_name, name_key, space_name
from majlis.errors import Invalid
from majlis.spaces.post import MAX_MENTIONS
from majlis.spaces.text import checked_text
from majlis.store import ids

# More messages than a space can have had; a forged number must not become a billion placeholders.
MAX_HEAD = 1_000_000_000

Values = dict[str, Any]


def check(type: str, values: Values) -> None:
    """Raises Invalid. Puts names into the form in which they are kept."""
    if type in _CHECKS:
        _CHECKS[type](values)


def settled(type: str, values: Values) -> Values:
    """How a row arrives: nobody here holds a lease on it, so work that was under way is free to be taken. A config has
    all its defaults, as everybody who looks into a stored one expects."""
    if type == "agent" and "config" in values:
        return {**values, "config": _whole_config(values["config"])}
    if type == "run" and values.get("status") == "running":
        return {**values, "status": "queued"}
    if type == "delivery" and values.get("state") == "taken" and values.get("run_id") is None:
        return {**values, "state": "pending"}
    return values


def _whole_config(config: Any) -> Any:
    try:
        return dump_config(parse_config(config))
    except Invalid:
        # Of a row that is here already: whoever wrote it, it is compared as it is.
        return config


def derived(type: str, values: Values) -> Values:
    """Columns that do not travel and have no default: made anew."""
    if type == "entity":
        return {"name_key": name_key(values["name"])}
    return {"event_at": values["created_at"]} if type == "space" else {}


def _entity(values: Values) -> None:
    values["name"] = entity_name(values["name"])
    if values["type"] == "agent" and values.get("role", "member") != "member":
        raise Invalid("invalid_role", "An agent cannot administer the gateway.")


def _space(values: Values) -> None:
    values["name"] = space_name(values["name"])
    if not 0 <= values.get("head_seq", 0) <= MAX_HEAD:
        raise Invalid("invalid_line", f"headSeq should be between 0 and {MAX_HEAD}.")


def _agent(values: Values) -> None:
    parse_config(values["config"])


def _message(values: Values) -> None:
    if values.get("kind", "text") == "text":
        checked_text(values["text"])
    mentions = values.get("mentions")
    if mentions is not None and not (isinstance(mentions, list) and len(mentions) <= MAX_MENTIONS):
        raise Invalid("invalid_line", f"mentions should be a list of at most {MAX_MENTIONS} ids.")
    if not all(isinstance(mention, str) and ids.looks_like_id(mention) for mention in mentions or []):
        raise Invalid("invalid_line", "mentions should hold ids of entities.")
    _objects(values, "tool", "origin")


def _run(values: Values) -> None:
    _objects(values, "trigger", "wait", "usage")


def _objects(values: Values, *names: str) -> None:
    for name in names:
        if not isinstance(values.get(name), dict | None):
            raise Invalid("invalid_line", f"{name} should be an object.")


_CHECKS: dict[str, Callable[[Values], None]] = {
    "entity": _entity,
    "space": _space,
    "agent": _agent,
    "message": _message,
    "run": _run,
}
