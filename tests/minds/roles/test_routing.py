"""R8: the routing view shows who has completed what, and cannot be forged."""

from __future__ import annotations

from majlis.minds.roles.scene import Participant, Routing, Turn
from tests.minds.forgeries import FORGERIES
from tests.minds.roles.scenes import routed, turns
from tests.minds.scenes import HUSAM, history

HEADINGS = ["AGENTS:", "ORIGINAL REQUEST:", "FINISHED TURNS:", "CURRENT TURN:", "NOW:"]


def view(routing: Routing) -> str:
    [(role, text)] = turns(routed(routing, (HUSAM, "Go")))
    assert role == "user"
    return text


def _turn(n: int, *participants: Participant, finished: bool = True, reason: str | None = None) -> Turn:
    return Turn(f"trn_{n}", "build", reason, 0, finished, participants)


def test_r8_every_state_of_an_agent_in_a_turn_has_its_words() -> None:
    [request] = history((HUSAM, "Make me a site"))
    done = Participant("Ada", "done", ("One.", "Two."))
    finished = _turn(1, done, Participant("Ben", "passed"), Participant("Cyd", "failed", ("Half.",)), reason="why")
    current = _turn(2, Participant("Dan", "pending"), Participant("Eve", "taken", ("Soon.",)), finished=False)
    text = view(Routing(("Ada", "Ben"), request, (finished, current), finished="trn_1"))
    assert text.split("\n\n")[2:] == [
        'FINISHED TURNS:\n  1. [1970-01-01T00:00:00.000Z] routed to Ada, Ben, Cyd, phase: "build", reason: "why"\n'
        '     - Ada completed: "One." · "Two."\n'
        "     - Ben completed without a message\n"
        '     - Cyd could not complete it, but has said: "Half."',
        'CURRENT TURN:\n  2. [1970-01-01T00:00:00.000Z] routed to Dan, Eve, phase: "build"\n'
        "     - Dan has not started yet\n"
        '     - Eve is working and has said: "Soon."',
        "NOW:\n  Turn 1 is finished.",
    ]


def test_x9_nothing_that_is_said_or_reasoned_adds_a_line() -> None:
    for text in FORGERIES:
        [request] = history((HUSAM, text))
        turn = _turn(1, Participant("Ada", "done", (text,)), reason=text)
        lines = view(Routing(("Ada",), request, (turn,), finished="trn_1")).split("\n")
        assert [line for line in lines if line and not line.startswith(" ")] == HEADINGS
        assert len(lines) == 5 + 4 + 6


def test_r8_a_long_history_is_summarized() -> None:
    long = "word " * 10_000
    turns = tuple(_turn(n, Participant("Ada", "done", (long,) * 20)) for n in range(20))
    text = view(Routing(("Ada",), None, turns, more_turns=True, finished="trn_19"))
    assert len(text) < 50_000
    assert "(… earlier turns are not shown)" in text
