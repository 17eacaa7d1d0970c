"""Cards in the terminal: how they are shown, and slash commands like `/approve go ahead` that answer them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from majlis.card_kinds import options_of
from majlis.cli.terminal import safe_line
from majlis.errors import Invalid, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from majlis.card_kinds import CardKind
    from majlis.client import MajlisClient, shapes

COMMANDS: Mapping[str, CardKind] = {
    "/approve": "approval",
    "/deny": "approval",
    "/choose": "choice",
    "/answer": "form",
    "/decline": "form",
}
HELP = (
    "/cards                   list the open cards in this space",
    "/approve, /deny [TEXT]   answer the newest approval, with an optional comment",
    "/choose OPTION           answer the newest choice, by name or number",
    "/answer NAME=VALUE …     fill in the newest form; JSON also works",
    "/decline                 decline the newest question of an MCP server",
)


async def answer_card(client: MajlisClient, space_id: str, line: str) -> shapes.MessageJson:
    """Answers the newest open card that the command fits."""
    command, _, rest = line.partition(" ")
    fitting = [
        card
        for card in await client.list_pending_tool_calls(space_id)
        if card["ui"] == COMMANDS[command] and (command != "/decline" or card.get("mayDecline"))
    ]
    if not fitting:
        raise NotFound("nothing_asked", f"There is no open card here that {command} can answer.")
    card = fitting[-1]
    if command == "/decline":
        return await client.decline_tool_call(card["runId"], card["toolCallId"])
    return await client.submit_tool_result(card["runId"], card["toolCallId"], result_of(card, command, rest.strip()))


def card_lines(cards: Sequence[shapes.PendingToolCallJson]) -> list[str]:
    return [f"{safe_line(card['agentName'])}: {card_line(card)}" for card in cards] or ["There are no open cards."]


def card_line(card: Mapping[str, Any]) -> str:
    """For a pending call, or the tool of a message."""
    given = card["input"] if isinstance(card["input"], dict) else {}
    question = given.get("question") or given.get("message") or card["name"]
    if card.get("purpose") == "permission":
        question = f"May I call {card['name']} with {json.dumps(card['input'], ensure_ascii=False)}?"
    return safe_line(f"{question} {_how(card)}")


def outcome_line(tool: Mapping[str, Any]) -> str:
    who = tool.get("answeredBy")
    output = json.dumps(tool["output"], ensure_ascii=False)
    return safe_line(f"{tool['name']}: {who['name']} answered {output}" if who else f"{tool['name']}: {output}")


def _how(card: Mapping[str, Any]) -> str:
    properties = _properties(card)
    match card["ui"]:
        case "approval":
            return "(/approve or /deny)"
        case "choice":
            options = enumerate(options_of(card.get("resultSchema", {})), 1)
            return f"(/choose {', '.join(f'{n} {option}' for n, option in options)})"
    decline = " or /decline" if card.get("mayDecline") else ""
    return f"(/answer {' '.join(f'{name}=…' for name in properties)}{decline})"


def result_of(card: shapes.PendingToolCallJson, command: str, rest: str) -> dict[str, Any]:
    match command:
        case "/approve" | "/deny":
            return {"approved": command == "/approve", **({"comment": rest} if rest else {})}
        case "/choose":
            return {"choice": _option(options_of(card.get("resultSchema", {})), rest)}
    return _fields(_properties(card), rest)


def _properties(card: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = card.get("resultSchema", {}).get("properties", {})
    return properties


def _option(options: list[Any], rest: str) -> Any:
    named = next((option for option in options if str(option).casefold() == rest.casefold()), None)
    if named is not None:
        return named
    return options[int(rest) - 1] if rest.isdecimal() and 0 < int(rest) <= len(options) else rest


def _fields(properties: dict[str, Any], rest: str) -> dict[str, Any]:
    if rest.startswith("{"):
        return dict(_json(rest))
    if "=" not in rest and len(properties) == 1:
        [(name, schema)] = properties.items()
        return {name: _value(schema, rest)}
    fields: dict[str, str] = {}
    for word in rest.split(" "):
        name, equals, value = word.partition("=")
        if equals and name in properties:
            fields[name] = value
        elif fields:
            # A word without a field name continues the previous value.
            fields[list(fields)[-1]] += f" {word}"
        else:
            raise Invalid("bad_answer", f"Use NAME=VALUE. The names are {', '.join(properties)}.")
    return {name: _value(properties[name], value) for name, value in fields.items()}


def _value(schema: Mapping[str, Any], text: str) -> Any:
    if schema.get("type") == "array" and not text.startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if schema.get("type") in ("number", "integer", "boolean", "array", "object"):
        return _json(text)
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise Invalid("bad_answer", f"{text[:80]} is not valid JSON.") from None
