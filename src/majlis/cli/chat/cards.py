"""Answering agents from the terminal: what is asked in a space, and lines such as `/approve go ahead`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from majlis.cli.terminal import safe_line
from majlis.errors import Invalid, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from majlis.client import MajlisClient
    from majlis.client.shapes import MessageJson, PendingToolCallJson

COMMANDS = ("/approve", "/deny", "/choose", "/answer")
HELP = (
    "/approve [why], /deny [why]  answer the newest request for approval",
    "/choose OPTION               answer the newest choice, by its name or number",
    "/answer NAME=VALUE …         fill in the newest form; JSON does, too",
    "/cards                       what agents ask here",
)
_UI = {"/approve": "approval", "/deny": "approval", "/choose": "choice", "/answer": "form"}


async def answer_card(client: MajlisClient, space_id: str, line: str) -> MessageJson:
    """The newest open card that such a line can answer."""
    command, _, rest = line.partition(" ")
    fitting = [card for card in await client.list_pending_tool_calls(space_id) if card["ui"] == _UI[command]]
    if not fitting:
        raise NotFound("nothing_asked", f"No agent asks for that here at the moment ({command}).")
    card = fitting[-1]
    return await client.submit_tool_result(card["runId"], card["toolCallId"], result_of(card, command, rest.strip()))


def card_lines(cards: Sequence[PendingToolCallJson]) -> list[str]:
    return [f"{safe_line(card['agentName'])}: {card_line(card)}" for card in cards] or ["No agent asks anything here."]


def card_line(card: Mapping[str, Any]) -> str:
    """For a pending call and for the tool of a message alike."""
    given = card["input"] if isinstance(card["input"], dict) else {}
    question = given.get("question") or given.get("message") or card["name"]
    if card.get("purpose") == "permission":
        question = f"may I call {card['name']} with {json.dumps(card['input'], ensure_ascii=False)}?"
    return safe_line(f"{question} {_how(card)}")


def outcome_line(tool: Mapping[str, Any]) -> str:
    who = tool.get("answeredBy")
    said = json.dumps(tool["output"], ensure_ascii=False)
    return safe_line(f"{tool['name']}: {who['name']} answered {said}" if who else f"{tool['name']}: {said}")


def _how(card: Mapping[str, Any]) -> str:
    properties = card.get("resultSchema", {}).get("properties", {})
    match card["ui"]:
        case "approval":
            return "(/approve or /deny)"
        case "choice":
            options = enumerate(properties.get("choice", {}).get("enum", ()), 1)
            return f"(/choose {', '.join(f'{n} {option}' for n, option in options)})"
    return f"(/answer {' '.join(f'{name}=…' for name in properties)})"


def result_of(card: PendingToolCallJson, command: str, rest: str) -> dict[str, Any]:
    match command:
        case "/approve" | "/deny":
            return {"approved": command == "/approve", **({"comment": rest} if rest else {})}
        case "/choose":
            return {"choice": _option(card, rest)}
    return _fields(card, rest)


def _option(card: PendingToolCallJson, rest: str) -> Any:
    options = card.get("resultSchema", {}).get("properties", {}).get("choice", {}).get("enum", [])
    named = next((option for option in options if str(option).casefold() == rest.casefold()), None)
    if named is not None:
        return named
    return options[int(rest) - 1] if rest.isdecimal() and 0 < int(rest) <= len(options) else rest


def _fields(card: PendingToolCallJson, rest: str) -> dict[str, Any]:
    if rest.startswith("{"):
        return dict(_json(rest))
    properties = card.get("resultSchema", {}).get("properties", {})
    names = list(properties)
    if "=" not in rest and len(names) == 1:
        return {names[0]: _value(properties[names[0]], rest)}
    fields: dict[str, str] = {}
    for word in rest.split(" "):
        name, equals, value = word.partition("=")
        if equals and name in properties:
            fields[name] = value
        elif fields:
            # Words that name no field go on with the value before them.
            fields[list(fields)[-1]] += f" {word}"
        else:
            raise Invalid("bad_answer", f"Write it as NAME=VALUE; the names are {', '.join(names)}.")
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
        raise Invalid("bad_answer", f"{text[:80]} is not JSON.") from None
