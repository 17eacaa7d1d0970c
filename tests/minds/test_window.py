"""X4, X10: which messages are in the window, and what the prompt says about the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from majlis.minds.timeline.history_block import window_start
from majlis.minds.timeline.scene import Message
from tests.minds.scenes import ANALYST, HUSAM, config, in_alpha, message, trigger_of
from tests.minds.view_text import history_of, seen_text


def _said(start: int, end: int) -> tuple[Message, ...]:
    return tuple(message(seq, HUSAM, f"m{seq}") for seq in range(start, end + 1))


def test_x4_classic_shows_the_last_messages() -> None:
    classic = config(layout="classic")
    assert [window_start(classic, total) for total in (0, 1, 50, 51, 1_000_000)] == [1, 1, 1, 2, 999_951]


def test_x8_stable_shows_26_to_50_messages_and_moves_by_25() -> None:
    stable = config()
    assert [window_start(stable, total) for total in (0, 1, 50, 51, 75, 76, 1_000_000)] == [
        1,
        1,
        1,
        26,
        26,
        51,
        999_951,
    ]


def test_x4_a_window_of_an_odd_size_is_filled_before_anything_is_left_out() -> None:
    """An agent with a window of 3 used to see two of three messages."""
    for window in (3, 5, 7, 49):
        starts = [window_start(config(window=window), total) for total in (window, window + 1)]
        assert starts == [1, window // 2 + 1]


@given(window=st.integers(2, 500), total=st.integers(1, 100_000))
def test_x8_a_stable_window_is_never_larger_than_it_may_be_nor_smaller_than_half(window: int, total: int) -> None:
    start = window_start(config(window=window), total)
    shown = total - start + 1
    assert shown <= window
    assert shown == total or shown > window // 2
    assert (start - 1) % (window // 2) == 0


def test_x10_a_history_longer_than_the_window_says_how_much_it_leaves_out() -> None:
    for layout, start in (("classic", 71), ("stable", 76)):
        scene = in_alpha(_said(start, 120), config=config(layout=layout))
        first, second, *_ = history_of(seen_text(scene))
        assert first == f"  (… {start - 1} earlier messages are not shown; call read_messages with offset to read them)"
        assert f'"m{start}"' in second


def test_x10_a_trigger_older_than_the_window_is_shown_before_it() -> None:
    trigger = message(3, HUSAM, "m3")
    for layout, start in (("classic", 71), ("stable", 76)):
        shown = (trigger, *_said(start, 120))
        scene = in_alpha(shown, cursor=120, trigger=trigger_of(trigger), config=config(layout=layout))
        first, second, third, *_ = history_of(seen_text(scene))
        assert first.startswith(f"  (… {start - 2} earlier messages are not shown")
        assert second.endswith('"m3"  [NEW] ← TRIGGER')
        assert third.endswith(f'"m{start}"  [SEEN]')


def test_x10_a_single_message_left_out_is_not_called_messages() -> None:
    scene = in_alpha(_said(2, 3), config=config(layout="classic", window=2))
    assert history_of(seen_text(scene))[0].startswith("  (… 1 earlier message is not shown;")


def test_c1_c3_lines_up_to_the_cursor_and_the_agents_own_are_seen() -> None:
    said = (*_said(1, 3), message(4, ANALYST, "mine"), message(5, HUSAM, "m5"))
    for layout in ("classic", "stable"):
        lines = history_of(seen_text(in_alpha(said, cursor=2, config=config(layout=layout))))
        assert [line.rpartition("  [")[2] for line in lines] == ["SEEN]", "SEEN]", "NEW]", "SEEN]", "NEW] ← TRIGGER"]


def test_c1_without_a_cursor_everything_is_new() -> None:
    lines = history_of(seen_text(in_alpha(_said(1, 3))))
    assert all("  [NEW]" in line for line in lines)
