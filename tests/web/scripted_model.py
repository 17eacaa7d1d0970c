"""The model server of the browser tests, as a process: it follows the command in the message or the payload that
triggered the run.

Prints its address. On standard input, an empty line releases the held responses. `key KEY` sets the key that requests
need. Any other line is JSON that maps message texts to commands: `{"What is left?": "hold: Three things"}`.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

from tests.model_server import Asked, ModelServer, Reply, call, calls, say, silent

_WAITING = ("ask", "approve", "choose", "fill")


class Script:
    def __init__(self) -> None:
        self.held = asyncio.Event()
        self.commands: dict[str, str] = {}
        self._asked: set[tuple[str, str]] = set()

    def __call__(self, asked: Asked) -> Reply:
        if asked.system.startswith("Summarise "):
            return Reply(text="They planned the release.")
        if not asked.agent:
            return say("Hello from the test.")
        if asked.step > 0 and not asked.trigger_text.startswith("mutter: "):
            return silent()
        text = (asked.trigger_text or _payload(asked)).removeprefix(f"@{asked.agent} ")
        verb, _, words = self.commands.get(text, text).partition(": ")
        if verb in _WAITING and not self._first_time(asked.agent, text):
            return silent()
        match verb:
            case "say":
                return say(words)
            case "mutter":
                return Reply(text=words)
            case "hold" | "write":
                reply = say(words)
                reply.gate_mid = self.held
                reply.filler = f"{words} " if verb == "write" else ""
                return reply
            case "think":
                return Reply(calls=[("send_message", {"text": words})], gate=self.held)
            case "ask":
                return call("send_message", text=words, wait=True)
            case "approve" | "choose" | "fill":
                return call(verb, question=words)
            case "use":
                return call(words)
            case "prepare":
                name, _, note = words.partition(" ")
                return Reply(calls=[(name, {"note": note})], gate_mid=self.held)
            case "go":
                space, _, said = words.partition(" ")
                return calls(("enter_space", {"spaceId": space}), ("send_message", {"text": said}))
            case "fail":
                return Reply(status=401, text=words)
        return silent()

    def _first_time(self, agent: str, text: str) -> bool:
        """A run that resumes after a wait gets the same trigger again."""
        known = (agent, text) in self._asked
        self._asked.add((agent, text))
        return not known

    def hear(self, line: str) -> None:
        if line.strip():
            self.commands |= json.loads(line)
        else:
            self.release()

    def release(self) -> None:
        self.held.set()
        self.held = asyncio.Event()


def _payload(asked: Asked) -> str:
    """The payload of a service's event, if it is text."""
    found = re.search(r"^  payload: (\".*\")$", asked.text, re.MULTILINE)
    return str(json.loads(found[1])) if found else ""


async def main() -> None:
    script = Script()
    async with ModelServer(script) as server:
        print(server.base_url, flush=True)  # noqa: T201 - the parent process reads this
        while line := await asyncio.to_thread(sys.stdin.readline):
            if line.startswith("key "):
                server.key = line.removeprefix("key ").strip()
            else:
                script.hear(line)


if __name__ == "__main__":
    asyncio.run(main())
