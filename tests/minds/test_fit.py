"""Every view fits its budget, and what matters most is always in it (F1)."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.minds.fit import first_shown
from majlis.minds.roles.perceive import perceive as perceive_roles
from majlis.minds.roles.scene import Place
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import Action, Goal, Memory, Message, Scene
from majlis.models.chat.wire_format import chat_messages
from majlis.models.estimate_tokens import estimate_turns
from majlis.models.port import Prompt
from tests.minds.scenes import ALPHA, DESIGNER, HUSAM, config, in_alpha, message, trigger_of

SPACES = 1_000
_LENGTHS, _SHORTER = (1, 5, 40, 400, 3_000), (*(1, 5, 40) * 8, 400, 400, 2_000)
_SCRIPTS = ["word ", "قهوة ", "咖啡", "x = f(1)\n", '"quoted" ']


def _text(rng: random.Random, lengths: Sequence[int]) -> str:
    return rng.choice(_SCRIPTS) * rng.choice(lengths)


def _scene(rng: random.Random, layout: str = "stable", most: int = 50, lengths: Sequence[int] = _LENGTHS) -> Scene:
    """A random space with random goals, memories and calls."""
    total = rng.randint(1, most)
    said = [
        message(n, rng.choice([HUSAM, DESIGNER]), f"#{n} {_text(rng, lengths)}"[: 64 * 1024])
        for n in range(1, total + 1)
    ]
    trigger = rng.choice(said)
    actions = tuple(
        Action(n, f"tool_{n}", {"n": n}, {"out": _text(rng, lengths)}, "done") for n in range(rng.randint(0, 8))
    )
    made = config(layout=layout, instructions=_text(rng, lengths)[: rng.choice([0, 500, 30_000])])
    scene = in_alpha(tuple(said), cursor=rng.randint(0, total), total=total, trigger=trigger_of(trigger), config=made)
    return replace(
        scene,
        actions=actions,
        memories=tuple(Memory(f"key {n}", _text(rng, lengths)) for n in range(rng.randint(0, 12))),
        goals=tuple(Goal(f"gol_{n}", _text(rng, lengths), n, False) for n in range(rng.randint(0, 10))),
    )


def _as_roles(common: Scene, rng: random.Random) -> RolesScene:
    """Triggered by the last message."""
    *known, last = common.history
    place = Place(ALPHA.id, ALPHA.name, last.seq, since=rng.choice([None, last.seq // 2]))
    return RolesScene(replace(common, trigger=trigger_of(last)), place, tuple(known))


def _whole(view_turns: object) -> str:
    return json.dumps(chat_messages(Prompt(view_turns)), ensure_ascii=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("first", range(0, SPACES, SPACES // 4))
@pytest.mark.parametrize("mind", ["timeline", "roles"])
def test_f1_no_space_of_a_thousand_exceeds_the_budget_or_loses_its_trigger(mind: str, first: int) -> None:
    """Small and quick ones; those below are larger."""
    for seed in range(first, first + SPACES // 4):
        rng = random.Random(seed)
        scene = _scene(rng, rng.choice(["stable", "classic"]), most=20, lengths=_SHORTER)
        room = rng.choice([2_500, 3_000, 4_000])
        view = perceive(scene, room) if mind == "timeline" else perceive_roles(_as_roles(scene, rng), room)
        assert estimate_turns(view.turns) <= room, seed
        trigger = scene.trigger if mind == "timeline" else trigger_of(scene.history[-1])
        assert str(trigger["text"])[:3] in _whole(view.turns), seed


@settings(max_examples=25)
@given(st.integers(0, 10**9), st.sampled_from([4_000, 8_000, 32_000]), st.sampled_from(["stable", "classic"]))
def test_f1_a_timeline_never_exceeds_its_budget(seed: int, room: int, layout: str) -> None:
    scene = _scene(random.Random(seed), layout)
    view = perceive(scene, room)
    assert estimate_turns(view.turns) <= room
    text = _whole(view.turns)
    # The trigger and the newest message are in it, and every call is named.
    assert scene.trigger["messageId"] in text
    assert f"[msg:{scene.history[-1].id}]" in text
    assert all(f"called tool_{n}(" in text for n in range(len(scene.actions)))
    # Nothing is left out without a note.
    missing = sum(f"[msg:{each.id}]" not in text for each in scene.history)
    assert not missing or f"{missing} earlier message" in text
    assert view.shown == perceive(scene).shown


@settings(max_examples=20)
@given(st.integers(0, 10**9), st.sampled_from([4_000, 8_000, 32_000]))
def test_f1_roles_never_exceed_their_budget(seed: int, room: int) -> None:
    common = _scene(random.Random(seed))
    *known, last = common.history
    view = perceive_roles(_as_roles(common, random.Random(seed)), room)
    assert estimate_turns(view.turns) <= room
    text = _whole(view.turns)
    assert f"#{last.seq} " in text
    if known:
        assert f"#{known[-1].seq} " in text


def test_f1_content_that_fits_is_not_changed() -> None:
    scene = in_alpha((message(1, HUSAM, "Hello"), message(2, HUSAM, "Are you there?")), cursor=1)
    assert perceive(scene, 4_000).turns == perceive(scene).turns


def test_f1_a_huge_message_shows_its_beginning_and_its_end() -> None:
    said = message(1, HUSAM, "BEGIN " + "x " * 30_000 + "END")
    text = _whole(perceive(in_alpha((said, message(2, HUSAM, "And?")), cursor=0), 8_000).turns)
    assert "BEGIN" in text
    assert "END" in text
    assert "characters left out" in text


@pytest.mark.parametrize("room", [8_000, 32_000])
def test_f1_x8_the_prefix_stays_with_long_messages(room: int) -> None:
    """Over budget, the start of the history moves in steps, so most runs share their beginning with the one before."""
    said: list[Message] = []
    shares: list[float] = []
    before = ""
    for seq in range(1, 41):
        said.append(message(seq, HUSAM if seq % 2 else DESIGNER, f"#{seq} " + "some words " * 100))
        scene = in_alpha(tuple(said), cursor=seq - 1, total=seq)
        text = _whole(perceive(scene, room).turns)
        shares.append(_common(before, text) / len(before) if before else 1.0)
        before = text
    assert sorted(shares)[len(shares) // 4] >= 0.75
    moved = sum(share < 0.5 for share in shares)
    assert moved <= 40 * 330 / (room / 2 / 4)


def _common(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@given(st.lists(st.integers(1, 500), min_size=1, max_size=80), st.integers(1, 3_000))
def test_f1_the_first_shown_message_moves_by_a_quarter_at_least(costs: list[int], room: int) -> None:
    starts = [first_shown(costs[:end], room) for end in range(1, len(costs) + 1)]
    assert starts == sorted(starts)
    for end, start in enumerate(starts, 1):
        assert start < end
        assert sum(costs[start:end]) <= room or start == end - 1
