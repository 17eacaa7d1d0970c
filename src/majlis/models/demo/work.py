"""What demo agents do in the templates of `majlis new`: deploy, count votes, write a report, keep tasks, take turns.

They go by the tools that an agent has and by the words of people, so they also follow a template that was changed a
little. Like all rules, they work out all steps of the run each time.
"""

from __future__ import annotations

import re
from typing import Any

from majlis.models.demo.outline import Line, Routing, Seen
from majlis.models.demo.rules import Step, Steps, say, shortened

_FLAGS = re.IGNORECASE | re.DOTALL
_DEPLOY = re.compile(r"\bdeploy\b.*?(?P<version>\d+(?:\.\d+)*)", _FLAGS)
_VOTE = re.compile(r"\bvote\b[^:]*:\s*(?P<question>[^?]+\?)", _FLAGS)
_ALL_REPLY = "Everyone, please reply."
_COUNTED = re.compile(r"(wins \(\d+(-\d+)+\)|^It is a tie)", re.IGNORECASE)
_REPORT = re.compile(r"\b(?:write|generate|prepare|make)\b.*?\b(?P<name>\w+) report\b\W*(?P<facts>.*)", _FLAGS)
_FIGURE = r"\b{}\b (?:is|was|are|were) (?P<figure>\S*\d[^\s,;]*)"
_NEEDED = ("revenue", "budget")
_REPORT_MEMORY = re.compile(r"Report (?P<name>\w+), known: (?P<known>.*?), missing: (?P<missing>.*)", re.DOTALL)
_REPORT_PLAN = re.compile(r"Ask (?P<who>.+) in space (?P<space>\S+) for the (?P<what>.+)", re.DOTALL)
_TASK = re.compile(
    r"\b(?:note|write down|add)\b(?: that)?[:,]?(?: (?:some\w+|we|i|you) (?:has|have) to)? (?P<task>.+)", _FLAGS
)


def work_steps(seen: Seen) -> Steps | None:
    """None if the message asks for none of this."""
    for steps in (_deploy, _count, _report, _complete_report, _keep_tasks):
        found = steps(seen)
        if found is not None:
            return found
    return None


def route_steps(seen: Seen, routing: Routing) -> Steps:
    """The agents of the space one after the other, in the order of their names."""
    if routing.under_way:
        return []
    if routing.finished_turns < len(routing.agents):
        first = {"phase": "plan"} if routing.finished_turns == 0 else {}
        return [Step("route", {"agents": [routing.agents[routing.finished_turns]], **first})]
    return [say(seen, f"It is ready. {' and '.join(routing.agents)} have worked on it.")]


def turn_steps(seen: Seen) -> Steps:
    """The first phase plans and hands over, the next ones build."""
    wanted = shortened(seen.text, 80).rstrip(".!")
    if seen.active is None or seen.active.phase != "plan" or "hand_over" not in seen.tools:
        return [say(seen, "I have built what was planned.")]
    summary = f"{wanted}: a first version with two pages, then the details."
    return [Step("hand_over", {"phase": "build", "summary": summary}), say(seen, f"The plan: {summary}")]


def report_reminder(seen: Seen) -> Steps | None:
    """For the run that the plan of a report starts."""
    found = _REPORT_PLAN.fullmatch(seen.event["instruction"])
    if found is None:
        return None
    return [
        Step("enter_space", {"spaceId": found["space"]}),
        say(seen, f"{found['who']}, I still need the {found['what']}."),
        _plan(found["who"], found["space"], found["what"]),
    ]


def _deploy(seen: Seen) -> Steps | None:
    found = _DEPLOY.search(seen.text)
    stages = [name for name in ("deploy_test", "deploy_live") if name in seen.tools]
    if found is None or not stages:
        return None
    results = dict(seen.made)
    steps: Steps = []
    for stage in stages:
        steps.append(Step(stage, {"version": found["version"]}))
        if stage in results and not _deployed(results[stage]):
            return [*steps, say(seen, f"I did not deploy {found['version']} to {stage.removeprefix('deploy_')}.")]
    return [*steps, say(seen, f"{found['version']} is {stages[-1].removeprefix('deploy_')}.")]


def _deployed(result: Any) -> bool:
    return isinstance(result, dict) and "stage" in result


def _count(seen: Seen) -> Steps | None:
    """A vote is open from the question to the result; the last vote of each person counts."""
    called = _VOTE.search(seen.text)
    if called is not None:
        return [say(seen, f"{called['question']} {_ALL_REPLY}")]
    asked = next((n for n in range(len(seen.history) - 1, -1, -1) if _is_call(seen, seen.history[n])), None)
    if asked is None or any(_is_own(seen, line) and _COUNTED.search(line.text) for line in seen.history[asked:]):
        return None
    options, prefix = _options(seen.history[asked].text)
    caller = next((each.sender.name for each in reversed(seen.history[:asked]) if _VOTE.search(each.text)), "")
    said = [*((line.sender.name, line.text) for line in seen.history[asked + 1 :]), (seen.asker, seen.text)]
    votes = {name: vote for name, text in said for vote in [_vote(text, options)] if vote}
    people = {each.name for each in seen.active.others if each.type == "human"} - {caller} if seen.active else set()
    if people - votes.keys():
        return []
    counts = sorted((sum(votes[name] == option for name in people) for option in options), reverse=True)
    winners = [each for each in options if sum(votes[name] == each for name in people) == counts[0]]
    numbers = "-".join(map(str, counts))
    if len(winners) > 1:
        return [say(seen, f"It is a tie ({numbers}).")]
    winner = f"{prefix}{winners[0]}"
    return [say(seen, f"{winner[:1].upper()}{winner[1:]} wins ({numbers}).")]


def _is_own(seen: Seen, line: Line) -> bool:
    return line.sender.name == seen.name


def _is_call(seen: Seen, line: Line) -> bool:
    return _is_own(seen, line) and line.text.endswith(_ALL_REPLY)


def _options(question: str) -> tuple[list[str], str]:
    """Option A or B? → ["A", "B"] and "Option "."""
    parts = [each.strip() for each in re.split(r",|\bor\b", question.partition("?")[0]) if each.strip()]
    prefix = f"{parts[0].rpartition(' ')[0]} " if " " in parts[0] and all(" " not in each for each in parts[1:]) else ""
    return [each.removeprefix(prefix) for each in parts], prefix


def _vote(text: str, options: list[str]) -> str | None:
    named = [each for each in options if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text, re.IGNORECASE)]
    return named[0] if len(named) == 1 else None


def _report(seen: Seen) -> Steps | None:
    found = _REPORT.search(seen.text)
    if found is None or seen.active is None:
        return None
    name = found["name"]
    known = _figures(found["facts"])
    missing = [each for each in _NEEDED if each not in known]
    if not missing:
        return [say(seen, _written(name, known))]
    who = next((each.name for each in seen.active.others if each.type == "human" and each.name != seen.asker), None)
    what = f"{' and the '.join(missing)} for the {name} report"
    value = f"Report {name}, known: {_listed(known)}, missing: {', '.join(missing)}"
    return [
        Step("set_memories", {"memories": [{"key": f"report_{name}".lower(), "value": value}]}),
        Step("set_goals", {"goals": [{"id": f"report_{name}".lower(), "description": f"Complete the {name} report"}]}),
        _plan(who or seen.asker, seen.active.id, what),
        say(seen, f"I have started. {who or seen.asker}, I need the {what}."),
    ]


def _complete_report(seen: Seen) -> Steps | None:
    for memory in seen.memories:
        found = _REPORT_MEMORY.fullmatch(memory)
        told = _figures(seen.text)
        missing = found["missing"].split(", ") if found else []
        if found is None or not told.keys() & set(missing):
            continue
        if set(missing) - told.keys():
            return [say(seen, f"Thank you. I still need the {' and the '.join(set(missing) - told.keys())}.")]
        key = f"report_{found['name']}".lower()
        plans = next((output for name, output in seen.made if name == "get_plans" and isinstance(output, dict)), {})
        ids = [plan["id"] for plan in plans.get("plans", ())]
        return [
            Step("get_plans", {"status": "active"}),
            say(seen, _written(found["name"], _figures(found["known"]) | told)),
            Step("set_goals", {"goals": [{"id": key, "status": "completed"}]}),
            Step("delete_memories", {"keys": [key]}),
            *([Step("delete_plans", {"ids": ids})] if ids else []),
        ]
    return None


def _figures(text: str) -> dict[str, str]:
    found = {each: re.search(_FIGURE.format(each), text, _FLAGS) for each in _NEEDED}
    return {each: match["figure"].rstrip(".!") for each, match in found.items() if match}


def _listed(known: dict[str, str]) -> str:
    return ", ".join(f"{name} is {figure}" for name, figure in known.items()) or "nothing"


def _written(name: str, known: dict[str, str]) -> str:
    return f"{name} report: " + ", ".join(f"{each} {known[each]}" for each in _NEEDED) + "."


def _plan(who: str, space_id: str, what: str) -> Step:
    instruction = f"Ask {who} in space {space_id} for the {what}"
    return Step("set_plans", {"plans": [{"name": "Reminder", "instruction": instruction, "runAfter": "1 day"}]})


def _keep_tasks(seen: Seen) -> Steps | None:
    add, finish, listing = (_tool(seen, name) for name in ("add_task", "finish_task", "list_tasks"))
    if add is None or finish is None or listing is None:
        return None
    noted = _TASK.search(seen.text)
    if noted is not None:
        return [Step(add, {"text": noted["task"].strip().rstrip(".!")}), say(seen, "Noted.")]
    looked = Step(listing, {})
    tasks = next((_texts(output) for name, output in seen.made if name == listing), None)
    if tasks is None:
        return [looked]
    done = next((each for each in tasks if len(_stems(each) & _stems(seen.text)) > 1), None)
    if done is None:
        return [looked, say(seen, f"On the list: {', '.join(tasks)}." if tasks else "The list is empty.")]
    finished = next((output for name, output in seen.made if name == finish), True)
    ending = "Off the list." if finished is True or _texts(finished) is not None else "It stays on the list."
    return [looked, Step(finish, {"text": done}), say(seen, ending)]


def _tool(seen: Seen, name: str) -> str | None:
    return next((each for each in sorted(seen.tools) if each == name or each.endswith(f"__{name}")), None)


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{4,}", text.casefold())}


def _texts(output: Any) -> list[str] | None:
    """A list of texts, as it is or inside of an object."""
    if isinstance(output, dict):
        return next((found for value in output.values() if (found := _texts(value)) is not None), None)
    return [str(each) for each in output] if isinstance(output, list) else None
