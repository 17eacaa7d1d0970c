"""For tests of the consciousness mind: scripts by cycle, and parts of a cycle."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from tests.model_server import Asked, Reply, Script, silent
from tests.runs.house import House
from tests.world import Person


def this_cycle(asked: Asked) -> list[dict[str, Any]]:
    """The turns from the last inbox on."""
    begins = [at for at, each in enumerate(asked.messages) if each["role"] == "user" and _is_inbox(each["content"])]
    return asked.messages[begins[-1] :]


def step(asked: Asked) -> int:
    """0 for the first request of a cycle, or of a retry of it."""
    return sum(message["role"] == "assistant" for message in this_cycle(asked))


def inbox(asked: Asked) -> list[str]:
    """The lines of the inbox, without its heading."""
    text = this_cycle(asked)[0]["content"]
    lines: list[str] = text[text.index("INBOX (") :].split("\n\n")[0].split("\n")[1:]
    return lines


def done_before(asked: Asked) -> list[str]:
    """The calls that an earlier attempt at this inbox has made."""
    parts: list[str] = this_cycle(asked)[0]["content"].split("\n\n")
    found = [part for part in parts if part.startswith("ALREADY DONE")]
    return found[0].split("\n")[1:] if found else []


def each_cycle(*replies: Reply | Script) -> Script:
    """Answers every cycle with these replies in order, then with silence."""

    def reply(asked: Asked) -> Reply | Awaitable[Reply]:
        at = step(asked)
        part = replies[at] if at < len(replies) else silent()
        return part if isinstance(part, Reply) else part(asked)

    return reply


def first_requests(house: House, agent: str) -> list[Asked]:
    return [asked for asked in house.asked(agent) if step(asked) == 0]


async def conscious(house: House, name: str = "Scout", **config: Any) -> Person:
    return await house.agent(name, mind="consciousness", **config)


async def consciousness(house: House, agent: Person) -> list[Any]:
    """Oldest first."""
    page = await house.owner.ok("GET", f"/api/agents/{agent.id}/consciousness", limit=200)
    return list(reversed(page["cycles"]))


def calls_of(cycle: Any) -> list[str]:
    """Calls and results in order: `enter_space`, then `= enter_space` for its result."""
    names: dict[str, str] = {}
    found: list[str] = []
    for message in cycle["messages"]:
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
            found.append(call["function"]["name"])
        if message["role"] == "tool":
            found.append(f"= {names[message['tool_call_id']]}")
    return found


def _is_inbox(content: str) -> bool:
    return content.startswith("INBOX (") or "\n\nINBOX (" in content
