"""The demo model in the templates of `majlis new`, beyond what their plays show."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.models.demo.outline import Line, Member, Routing, Seen, Space
from majlis.models.demo.rules import Steps
from majlis.models.demo.work import report_reminder, route_steps, work_steps

AGENT, OWNER, SARA, OMAR = (
    Member("Teller", "agent"), Member("Owner", "human"), Member("Sara", "human"), Member("Omar", "human"),
)  # fmt: skip
TEAM = Space("spc_1", "Team", (OWNER, SARA, OMAR))
CALL = [Line(OWNER, "Team vote: tea or coffee?"), Line(AGENT, "tea or coffee? Everyone, please reply.")]


def seen(text: str, sender: Member = OWNER, history: list[Line] | None = None, **more: Any) -> Seen:
    event = {"type": "space_message", "text": text, "senderName": sender.name, "senderType": sender.type}
    return Seen("Teller", event, (TEAM,), TEAM, more.pop("memories", ()), tuple(history or ()), **more)


def said(steps: Steps | None) -> list[str]:
    return [step.input["text"] for step in steps or () if step.tool == "send_message"]


@pytest.mark.parametrize(
    ("votes", "result"),
    [
        (["tea"], []),
        (["tea", "Tea, please!"], ["Tea wins (2-0)."]),
        (["tea", "coffee"], ["It is a tie (1-1)."]),
        # Neither names exactly one option.
        (["tea", "both tea and coffee"], []),
        (["tea", "a steak"], []),
    ],
)
def test_a_vote_is_counted_when_all_have_voted(votes: list[str], result: list[str]) -> None:
    lines = [*CALL, *(Line(who, text) for who, text in zip((SARA, OMAR), votes, strict=False))]
    *history, last = lines
    assert said(work_steps(seen(last.text, last.sender, history))) == result


def test_the_last_vote_counts_and_the_callers_none() -> None:
    history = [*CALL, Line(SARA, "coffee"), Line(OWNER, "coffee"), Line(SARA, "tea")]
    assert said(work_steps(seen("tea", OMAR, history))) == ["Tea wins (2-0)."]
    # A vote that has ended does not count as one.
    assert work_steps(seen("tea", OMAR, [*history, Line(AGENT, "Tea wins (2-0).")])) is None


def test_a_deployment_stops_where_it_fails() -> None:
    tools = {"deploy_test": frozenset({"version"}), "deploy_live": frozenset({"version"})}
    asked = seen("Please deploy version 2.0.1 to live", tools=tools)
    assert [step.tool for step in work_steps(asked) or ()] == ["deploy_test", "deploy_live", "send_message"]
    failed = seen("deploy 2.0", tools=tools, made=(("deploy_test", None),))
    assert said(work_steps(failed)) == ["I did not deploy 2.0 to test."]
    denied = seen("deploy 2.0", tools=tools, made=(("deploy_test", {"stage": "test"}), ("deploy_live", None)))
    assert said(work_steps(denied)) == ["I did not deploy 2.0 to live."]
    assert work_steps(seen("deploy 2.0")) is None


def test_a_report_asks_for_what_is_missing_and_uses_what_it_remembers() -> None:
    [*_, plan, _] = work_steps(seen("Write the Q3 report. The revenue was 3M, I think.")) or []
    instruction = plan.input["plans"][0]["instruction"]
    reminder = Seen("Teller", {"type": "plan", "instruction": instruction}, (TEAM,), None, ())
    assert said(report_reminder(reminder)) == ["Sara, I still need the budget for the Q3 report."]
    assert said(work_steps(seen("Make the Q3 report: revenue is 3M, budget is 1M"))) == [
        "Q3 report: revenue 3M, budget 1M."
    ]
    memories = ("Report Q3, known: nothing, missing: revenue, budget",)
    assert said(work_steps(seen("Revenue is 3M.", SARA, memories=memories))) == ["Thank you. I still need the budget."]
    assert work_steps(seen("Revenue is 3M.", SARA)) is None


def test_tasks_are_added_listed_and_finished_by_what_people_say() -> None:
    tools = {
        f"tasks__{name}_task{'s' if name == 'list' else ''}": frozenset[str]() for name in ("add", "finish", "list")
    }
    [add, _] = work_steps(seen("Note: buy the milk.", tools=tools)) or []
    assert add.input == {"text": "buy the milk"}
    listed = (("tasks__list_tasks", {"structured": {"result": ["buy the fresh milk", "call Omar"]}}),)
    assert said(work_steps(seen("What is there?", tools=tools, made=listed))) == [
        "On the list: buy the fresh milk, call Omar."
    ]
    denied = (*listed, ("tasks__finish_task", None))
    assert said(work_steps(seen("The fresh milk is here", tools=tools, made=denied))) == ["It stays on the list."]


def test_an_orchestrator_waits_for_the_turn_that_is_under_way() -> None:
    agents = ("Planner", "Programmer")
    [first] = route_steps(seen("Do it"), Routing(agents, 0, False))
    assert first.input == {"agents": ["Planner"], "phase": "plan"}
    assert route_steps(seen("Do it"), Routing(agents, 0, True)) == []
    assert said(route_steps(seen("Do it"), Routing(agents, 2, False))) == [
        "It is ready. Planner and Programmer have worked on it."
    ]
