"""How much of a request the one before it had begun with, in a conversation of 500 messages: what a provider's prompt
cache can know. Both layouts: the body of the request as it is sent, and its messages alone.

A person and an agent take turns. What counts is the first request of each run, against that of the run before.
"""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import Literal

from bench.gateways import Office, new_runner, open_office
from bench.models import TalkingModel
from bench.results import Result
from bench.stage import Stage
from bench.words import sentences
from majlis.agents.config.model import ModelObject
from majlis.models.chat.wire_format import Body, chat_messages
from majlis.models.port import Prompt
from majlis.models.port import Result as ToolResult

LEAST = 90.0
MESSAGES = 500
BODY = Body(ModelObject(provider="openai", name="any"))
Layout = Literal["stable", "classic"]


def measure(stage: Stage) -> list[Result]:
    """The database has no part in it: on one engine."""
    if stage.engine != "sqlite":
        return []
    return [result for layout in ("stable", "classic") for result in _of(stage, layout)]


def _of(stage: Stage, layout: Layout) -> list[Result]:
    prompts = _conversation(stage, layout)
    whole = _shared([BODY.bytes(prompt).decode() for prompt in prompts])
    alone = _shared([_messages(prompt) for prompt in prompts])
    least = LEAST if layout == "stable" else None
    return [
        Result(f"shared prefix, {layout}", stage.engine, whole, "%", least=least),
        Result(f"shared prefix, {layout}, without tools", stage.engine, alone, "%"),
    ]


def _conversation(stage: Stage, layout: Layout) -> list[Prompt]:
    """The first request of each run."""
    prompts: list[Prompt] = []

    def heard(prompt: Prompt) -> None:
        if not isinstance(prompt.turns[-1], ToolResult):
            prompts.append(prompt)

    with (
        new_runner() as runner,
        open_office(stage, runner, stage.fresh(), TalkingModel(heard), layout=layout) as office,
    ):
        runner.run(_talk(office))
    assert len(prompts) == MESSAGES // 2
    return prompts


async def _talk(office: Office) -> None:
    texts = sentences()
    for number in range(MESSAGES // 2):
        await office.say(next(texts))
        await office.until_ended(number + 1)


def _shared(requests: list[str]) -> float:
    """The percentage of all characters, except those of the first request, that the request before had too."""
    pairs = list(pairwise(requests))
    return 100 * sum(_beginning(*pair) for pair in pairs) / sum(len(after) for _, after in pairs)


def _beginning(before: str, after: str) -> int:
    """How many characters are the same, from the first on."""
    same = takewhile(lambda both: both[0] == both[1], zip(before, after, strict=False))
    return sum(1 for _ in same)


def _messages(prompt: Prompt) -> str:
    return "".join(f"{message['role']}\n{message['content']}\n" for message in chat_messages(prompt))
