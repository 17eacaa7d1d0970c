"""X8: how much of a prompt two consecutive runs share, for the provider's cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, takewhile
from statistics import mean

from majlis.minds.timeline.history_block import stepped_start, window_start
from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import ActiveSpace, Message, Scene, Summary
from majlis.models.port import User
from majlis.tools.toolbox import built_in_tools
from tests.minds.scenes import AHMAD, ALPHA, ANALYST, DESIGNER, HUSAM, START, config, in_alpha, message, seed_scene
from tests.minds.view_text import seen_text

_SPEAKERS = (HUSAM, ANALYST, AHMAD, ANALYST, DESIGNER, ANALYST)
_WORDS = (
    "revenue",
    "by",
    "region",
    "for",
    "the",
    "last",
    "quarter",
    "is",
    "in",
    "the",
    "sheet;",
    "please",
    "check",
    "row",
)
_INSTRUCTIONS = "You look after the numbers of the team. " * 12
_TOOLS = json.dumps([[tool.spec.name, tool.spec.description, tool.spec.schema] for tool in built_in_tools()])


def _text(seq: int) -> str:
    """Between 40 and 200 characters."""
    return " ".join(_WORDS[(seq * 5 + n) % len(_WORDS)] for n in range(8 + seq * 7 % 30)) + f" ({seq})"


def _conversation() -> list[Scene]:
    """200 messages, every second one by the agent. Each other message starts a run that sees all messages so far."""
    said = tuple(message(seq, _SPEAKERS[(seq - 1) % 6], _text(seq)) for seq in range(1, 201))
    return [_run(said, total) for total in range(1, 200, 2)]


def _run(said: tuple[Message, ...], total: int) -> Scene:
    settings = config(instructions=_INSTRUCTIONS)
    kept = seed_scene()
    return replace(
        in_alpha(said[window_start(settings, total) - 1 : total], cursor=total - 1, config=settings),
        goals=kept.goals,
        memories=kept.memories,
        plans=kept.plans,
        run_id=f"run_{total:016d}",
        now=START + total * 60_000 + 2_000,
    )


def _moved(before: Scene, after: Scene) -> bool:
    return before.history[0].seq != after.history[0].seq


def _share(before: Scene, after: Scene, tools: str) -> float:
    one, two = tools + seen_text(before), tools + seen_text(after)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))) / len(two)


def test_x8_two_consecutive_runs_share_nine_tenths_of_their_prompts_characters(
    record_property: Callable[[str, object], None],
) -> None:
    """In a busy space. Once in 25 messages the window moves and the history is sent again."""
    busy = list(pairwise(_conversation()))[25:]
    still = [pair for pair in busy if not _moved(*pair)]
    shares = [_share(*pair, tools=_TOOLS) for pair in still]
    overall = [_share(*pair, tools=_TOOLS) for pair in busy]
    without_tools = [_share(*pair, tools="") for pair in still]
    record_property("shared", f"mean {mean(shares):.3f}, least {min(shares):.3f}, with moves {mean(overall):.3f}")
    assert min(shares) >= 0.9
    assert mean(overall) >= 0.88
    assert mean(without_tools) >= 0.88


def test_x8_the_window_moves_once_in_half_a_window_of_messages() -> None:
    scenes = _conversation()
    starts = [after.history[0].seq for before, after in pairwise(scenes) if _moved(before, after)]
    assert starts == [26, 51, 76, 101, 126, 151]


def test_x8_the_stable_part_is_the_beginning_of_the_next_prompt() -> None:
    for before, after in pairwise(_conversation()):
        if not _moved(before, after):
            lasting = seen_text(before).partition(f"[msg:{before.history[-1].id}]")[0]
            assert seen_text(after).startswith(lasting)


def test_f3_x8_a_summary_changes_the_beginning_only_when_the_window_moves() -> None:
    """Whenever it is made: all parts before the new messages are the same in runs with the same window."""
    for at_seq in range(51, 110):
        beginnings: dict[int, set[str]] = {}
        for total in range(52, 130):
            start = stepped_start(config(), total)
            said = tuple(message(seq, HUSAM, f"m{seq}") for seq in range(start, total + 1))
            made = (Summary(1, 25, "They chose Friday.", at_seq),) if total >= at_seq else ()
            active = ActiveSpace(ALPHA.id, ALPHA.name, total, start + 20, summaries=made)
            user = perceive(in_alpha(said, active=active)).turns[1]
            assert isinstance(user, User)
            assert user.text.count("EARLIER (messages 1–25, summarised)") == len(made)
            beginnings.setdefault(start, set()).add("".join(user.parts[:-1]))
        assert {len(each) for each in beginnings.values()} == {1}
