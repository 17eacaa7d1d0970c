"""A server's question as a form that Majlis shows. Its schema is rebuilt from known parts, so that it is small and
nothing else of it reaches people, validators or browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from majlis.agents.config.validate import schema_flaw
from majlis.errors import Invalid
from majlis.runs.calls.elicit import ServerQuestion
from majlis.runs.calls.result import clean

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams

MAX_MESSAGE = 4000
_MAX_FIELDS = 50
_MAX_OPTIONS = 100
_MAX_WORDS = 500
_MAX_URL = 2000
_MAX_FORM = 64 * 1024
_FORMATS = ("email", "uri", "date", "date-time")
_NUMBERS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")
_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def read_question(key: str, params: ElicitRequestParams) -> ServerQuestion:
    """Raises Invalid."""
    message = clean(params.message[:MAX_MESSAGE])
    if not _is_text(key):
        raise _unusable("its key is too long or not valid text")
    if params.mode == "url":
        return ServerQuestion(key=key, message=message, form=_NO_FIELDS, url=_checked_url(params.url))
    form = _form(params.requested_schema)
    if len(orjson.dumps(form)) > _MAX_FORM:
        raise _unusable(f"its form is longer than {_MAX_FORM} bytes")
    if flaw := schema_flaw(form):
        raise _unusable(flaw.message)
    return ServerQuestion(key=key, message=message, form=form)


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    ascii_only = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or not ascii_only:
        raise _unusable("its link is not an http or https URL")
    if len(url) > _MAX_URL:
        raise _unusable("its link is too long")
    return url


def _form(schema: Any) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or schema.get("type") != "object":
        raise _unusable('its form is not of type "object" with properties')
    if len(properties) > _MAX_FIELDS:
        raise _unusable(f"its form has more than {_MAX_FIELDS} fields")
    if not all(_is_text(name) and len(name) <= _MAX_WORDS for name in properties):
        raise _unusable("the name of a field of its form is too long or not valid text")
    fields = {name: _field(each) for name, each in properties.items()}
    wanted = schema.get("required")
    required = [name for name in fields if isinstance(wanted, list) and name in wanted]
    return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}


def _field(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _unusable("a field of its form has no schema")
    kind = given.get("type")
    field: dict[str, Any] = {
        name: clean(given[name][:_MAX_WORDS]) for name in ("title", "description") if _is_text(given.get(name))
    }
    if kind == "array":
        items = given.get("items")
        if not isinstance(items, dict):
            raise _unusable("a list of its form has no options")
        field |= {"type": "array", "items": {"type": "string", **_options(items)}, "uniqueItems": True}
    elif kind in ("string", "number", "integer", "boolean"):
        field |= {"type": kind, **(_options(given) if kind == "string" else {})}
    else:
        raise _unusable("a field of its form is not a text, number, yes or no, or choice")
    field |= {name: given[name] for name in _NUMBERS if _is_number(given.get(name))}
    if kind == "string" and given.get("format") in _FORMATS:
        field["format"] = given["format"]
    default = given.get("default")
    if isinstance(default, bool | int | float) or _is_text(default) or (kind == "array" and isinstance(default, list)):
        field["default"] = default if not isinstance(default, list) else [each for each in default if _is_text(each)]
    return field


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """`enum` with `enumNames`, or constants with titles."""
    titled = next((given[name] for name in ("oneOf", "anyOf") if isinstance(given.get(name), list)), None)
    values, names = given.get("enum"), given.get("enumNames")
    if titled is not None:
        known = [each for each in titled if isinstance(each, dict) and _is_text(each.get("const"))]
        values = [each["const"] for each in known]
        names = [each["title"] if _is_text(each.get("title")) else each["const"] for each in known]
    if values is None:
        return {}
    if not isinstance(values, list) or not values or len(values) > _MAX_OPTIONS or not all(map(_is_text, values)):
        raise _unusable(f"a choice of its form does not have 1 to {_MAX_OPTIONS} texts as options")
    found: dict[str, Any] = {"enum": list(dict.fromkeys(values))}
    if isinstance(names, list) and len(names) == len(found["enum"]) and all(map(_is_text, names)):
        found["enumNames"] = [clean(name[:_MAX_WORDS]) for name in names]
    return found


def _is_text(value: Any) -> bool:
    """A text made short, and without characters that databases refuse."""
    return isinstance(value, str) and len(value) <= MAX_MESSAGE and clean(value) == value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53


def _unusable(reason: str) -> Invalid:
    return Invalid("bad_question", f"the server asked people a question that cannot be shown: {reason}")
