"""The kinds of cards, which agents show to people, and of asks, which programs put to a space: what each asks for, and
what an answer looks like. Tables, configs and the command line use this module. A new kind also needs a migration
of their tables, and its form in `web/app/src/features/cards/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

CardKind = Literal["approval", "choice", "form"]
AskKind = Literal["text", CardKind]
"""An ask of the kind `text` shows a form with one field."""
CARD_KINDS: tuple[CardKind, ...] = get_args(CardKind)
ASK_KINDS: tuple[AskKind, ...] = get_args(AskKind)


def _closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


# JSON Schemas of the answers. A form has its own.
APPROVAL_ANSWER = _closed(
    {"approved": {"type": "boolean"}, "comment": {"type": "string", "maxLength": 4000}}, "approved"
)
TEXT_ANSWER = _closed({"text": {"type": "string", "minLength": 1, "maxLength": 16_000}}, "text")

_QUESTION = {"type": "string", "minLength": 1, "maxLength": 4000, "description": "The question to ask."}
_OPTIONS = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 200},
    "minItems": 1,
    "maxItems": 50,
    "uniqueItems": True,
    "description": "The options to choose from.",
}


def choice_answer(options: Sequence[Any]) -> dict[str, Any]:
    return _closed({"choice": {"enum": list(options)}}, "choice")


def options_of(answer: Mapping[str, Any]) -> list[Any]:
    """The options in the schema of a choice's answer."""
    options: list[Any] = answer.get("properties", {}).get("choice", {}).get("enum", [])
    return options


def default_input(kind: CardKind, has_options: bool) -> dict[str, Any]:
    """The schema of the input of a model that shows a card of this kind. With `has_options` the tool has options, so
    the model may omit them."""
    if kind != "choice":
        return _closed({"question": _QUESTION}, "question")
    return _closed({"question": _QUESTION, "options": _OPTIONS}, "question", *([] if has_options else ["options"]))


def full_answer(kind: AskKind, given: Any) -> Any:
    """`true` is short for `{approved: true}`, an option for `{choice: …}`, and words for `{text: …}`."""
    if isinstance(given, dict):
        return given
    match kind:
        case "approval":
            return {"approved": given} if isinstance(given, bool) else given
        case "choice":
            return {"choice": given}
        case "text":
            return {"text": given}
        case "form":
            return given
