"""Reminders. The plan's instruction says where, whom and what to remind."""

from __future__ import annotations

import re

from majlis.models.demo.say import Step, say, shortened
from majlis.models.outline import Seen

_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "five": 5, "ten": 10, "half an": 30}
_WHEN = (
    r"(?:in (?P<count{0}>\d{{1,5}}|half an|an?|one|two|three|five|ten) (?P<unit{0}>second|minute|hour|day|week)s?"
    r"|(?P<tomorrow{0}>tomorrow))"
)
REMIND = re.compile(
    rf"\bremind me\b,? (?:{_WHEN.format(1)},? (?:to|that|about|of) (?P<what1>.+)"
    rf"|(?:to|that|about|of) (?P<what2>.+?),? {_WHEN.format(2)}\W*$"
    rf"|{_WHEN.format(3)}\W*$)",
    re.IGNORECASE | re.DOTALL,
)
_INSTRUCTION = re.compile(r"In space (?P<space>\S+) remind (?P<who>.+?): (?P<what>.+)", re.DOTALL)


def plan_reminder(seen: Seen, found: re.Match[str]) -> list[Step]:
    if seen.active is None:
        return []
    form = "1" if found["what1"] else "2" if found["what2"] else "3"
    what = shortened(found[f"what{form}"], 300).rstrip(".!") if form != "3" else "it is time"
    after = _run_after(found, form)
    plan = {
        "name": f"Reminder: {shortened(what, 40)}",
        "instruction": f"In space {seen.active.id} remind {seen.asker}: {what}",
        "runAfter": after,
    }
    return [Step("set_plans", {"plans": [plan]}), say(seen, f"I will remind you in {after}, {seen.asker}: {what}.")]


def reminder_steps(seen: Seen) -> list[Step]:
    """For the run that the plan starts. Ignores plans that are not reminders."""
    found = _INSTRUCTION.fullmatch(seen.event["instruction"])
    if not found:
        return []
    reminder = f"{found['who']}, you asked me to remind you: {found['what']}."
    return [Step("enter_space", {"spaceId": found["space"]}), say(seen, reminder)]


def _run_after(found: re.Match[str], form: str) -> str:
    if found[f"tomorrow{form}"]:
        return "1 day"
    said, unit = found[f"count{form}"].lower(), found[f"unit{form}"].lower()
    if said == "half an":
        unit = "minute"
    count = max(1, int(said) if said.isdigit() else _COUNTS[said])
    return f"{count} {unit}{'s' if count > 1 else ''}"
