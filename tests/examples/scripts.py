"""A scripted model for each template of `majlis new`. It follows the instructions, as a pure function of its prompt."""

from __future__ import annotations

import json
import re

from tests.model_server import Asked, Reply, Script, by_agent, call, calls, say, silent

_KNOWN = "Revenue $2.1M; the budget is missing"


def deployer(asked: Asked) -> Reply:
    done = asked.text + json.dumps(asked.results)
    if '"stage":"live"' in done:
        return say("1.4 is live.") if "is live." not in json.dumps(asked.messages) else silent()
    if "did not approve" in done:
        return say("Then not.") if "Then not." not in json.dumps(asked.messages) else silent()
    if asked.step == 0 and '"stage":"test"' not in done:
        return call("deploy_test", version="1.4")
    return call("deploy_live", version="1.4")


def teller(asked: Asked) -> Reply:
    if asked.step:
        return silent()
    if "Everyone please reply" not in asked.text:
        return say("Option A or B? Everyone please reply.")
    votes = dict(re.findall(r'^  \[msg.*?\] (Ahmad|Sarah|Husam) \(human.*?\): "Option ([AB])"', asked.text, re.M))
    if len(votes) < 3:
        return silent()
    count = [list(votes.values()).count(option) for option in "AB"]
    return say(f"Option {'A' if count[0] > count[1] else 'B'} wins ({max(count)}-{min(count)}).")


def reporter(asked: Asked) -> Reply:
    if not asked.trigger_text:
        return _remind(asked)
    if "Budget is $500K" in asked.text:
        return _report(asked)
    if asked.step:
        return silent()
    [space, *_] = re.findall(r'ACTIVE SPACE: ".*?" \(id: (spc_\w+)\)', asked.text)
    return calls(
        ("set_memories", {"memories": [{"key": "q4_report", "value": _KNOWN}]}),
        ("set_goals", {"goals": [{"id": "q4", "description": "Complete the Q4 report"}]}),
        ("set_plans", {"plans": [_reminder(space)]}),
        ("send_message", {"text": "Started. I need the budget from Finance."}),
    )


def maestro(asked: Asked) -> Reply:
    view = json.dumps(asked.messages)
    if asked.step:
        return silent()
    if "Turn 2 is finished" in view:
        return say("Your site is ready.")
    if "Turn 1 is finished" in view:
        return call("route", agents=["Programmer"])
    return call("route", agents=["Planner"], phase="plan")


def planner(asked: Asked) -> Reply:
    given = {"phase": "build", "summary": "two pages, green"}
    both = calls(("hand_over", given), ("send_message", {"text": "Two pages: menu and map."}))
    return silent() if asked.step else both


def programmer(asked: Asked) -> Reply:
    return silent() if asked.step else say("Built.")


def secretary(asked: Asked) -> Reply:
    if asked.step:
        return say("Noted.") if asked.step == 1 and "watered" not in asked.trigger_text else silent()
    wanted = "finish" if "watered" in asked.trigger_text else "add"
    if "called tasks__finish_task" in asked.text:
        return say("Off the list.")
    return call(f"tasks__{wanted}_task", text="water the plants")


SCRIPTS: dict[str, Script] = {
    "deploy-bot": deployer,
    "team-vote": teller,
    "report": reporter,
    "hand-over": by_agent({"Maestro": maestro, "Planner": planner, "Programmer": programmer}),
    "mcp-agent": secretary,
}


def _report(asked: Asked) -> Reply:
    if asked.step == 0:
        return call("get_plans", status="active")
    if asked.step > 1:
        return silent()
    return calls(
        ("send_message", {"text": "Q4 report: revenue $2.1M, budget $500K."}),
        ("set_goals", {"goals": [{"id": "q4", "status": "completed"}]}),
        ("delete_memories", {"keys": ["q4_report"]}),
        ("delete_plans", {"ids": [plan["id"] for plan in asked.results[0]["plans"]]}),
    )


def _remind(asked: Asked) -> Reply:
    """Triggered by the plan: in no space, with only its memories, goals and plans."""
    assert _KNOWN in asked.text
    assert "Complete the Q4 report" in asked.text
    space = re.findall(r"Remind Finance in (spc_\w+)", asked.text)[0]
    if asked.step == 0:
        return call("enter_space", spaceId=space)
    if asked.step > 1:
        return silent()
    return calls(("send_message", {"text": "Finance, the budget?"}), ("set_plans", {"plans": [_reminder(space)]}))


def _reminder(space: str) -> dict[str, str]:
    return {"name": "remind", "instruction": f"Remind Finance in {space} of the budget for Q4", "runAfter": "1 day"}
