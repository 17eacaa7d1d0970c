"""The rules of the demo agents. The first rule that matches applies; "help" lists the examples."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from majlis.models.demo.outline import Seen

# The tool with which the demo agents ask people for approval (J5).
ASKING = "ask_approval"
ABOUT = "I follow rules; I am not a language model."

_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "five": 5, "ten": 10, "half an": 30}
_WHEN = (
    r"(?:in (?P<count{0}>\d{{1,5}}|half an|an?|one|two|three|five|ten) (?P<unit{0}>second|minute|hour|day|week)s?"
    r"|(?P<tomorrow{0}>tomorrow))"
)
_REMIND = re.compile(
    rf"\bremind me\b,? (?:{_WHEN.format(1)},? (?:to|that|about|of) (?P<what1>.+)"
    rf"|(?:to|that|about|of) (?P<what2>.+?),? {_WHEN.format(2)}\W*$"
    rf"|{_WHEN.format(3)}\W*$)",
    re.IGNORECASE | re.DOTALL,
)
_INSTRUCTION = re.compile(r"In space (?P<space>\S+) remind (?P<who>.+?): (?P<what>.+)", re.DOTALL)


@dataclass(frozen=True)
class Step:
    tool: str
    input: dict[str, Any]


Steps = list[Step]


def say(seen: Seen, text: str, wait: bool = False) -> Step:
    """Uses only the inputs that the agent's send_message has."""
    inputs = seen.tools.get("send_message", frozenset())
    given: dict[str, Any] = {"text": text}
    if wait and "wait" in inputs:
        given["wait"] = True
    if seen.event.get("senderExpectsReply") and not seen.resumed and "messageId" in inputs:
        given["messageId"] = seen.event["messageId"]
    return Step("send_message", given)


def shortened(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def unaddressed(text: str) -> str:
    """The text without the names at the beginning: "@Rawi hello" becomes "hello"."""
    return re.sub(r"^(?:\s*@\S+[\s,:]+)+", "", text).replace("@", "").strip() or text


@dataclass(frozen=True)
class Rule:
    """`steps` returns all steps of the run, each time in the same order."""

    pattern: re.Pattern[str]
    steps: Callable[[Seen, re.Match[str]], Steps]
    example: str = ""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


GREETING = _words(r"^\W*(hi|hello|hey|hallo|salam|salaam|marhaba|ahlan|welcome|good (morning|afternoon|evening))\b")


def remark(seen: Seen) -> str:
    """The one message with which an agent answers another agent."""
    if GREETING.search(seen.text):
        return f"Hello from me too! I am {seen.name}. Mention my name if you want me to answer."
    return f"Thanks for asking, {seen.asker}. My favourite number is {len(seen.name)}, one for each letter of my name."


def _help(seen: Seen, _found: re.Match[str]) -> Steps:
    examples = "\n".join(f"- {rule.example}" for rule in RULES if rule.example)
    return [
        say(
            seen,
            f"I am a demo agent. {ABOUT} I understand:\n{examples}\n\n"
            "To connect me to a real model, open Administration → Models, or run majlis model add and majlis agent "
            "set-model.",
        )
    ]


def _remember(seen: Seen, found: re.Match[str]) -> Steps:
    fact = found["fact"].strip().rstrip(".!")
    key = "_".join(re.findall(r"\w+", fact.casefold())[:4])[:64] or "note"
    memory = {"key": key, "value": shortened(fact, 500)}
    confirmed = say(seen, f"I will remember: {shortened(fact, 200)}.")
    return [Step("set_memories", {"memories": [memory]}), confirmed]


def _recall(seen: Seen, _found: re.Match[str]) -> Steps:
    if not seen.memories:
        return [say(seen, 'Nothing yet. Try "remember that the key is under the mat".')]
    known = "\n".join(f"- {shortened(value, 200)}" for value in seen.memories[:10])
    return [say(seen, f"I remember:\n{known}")]


def _ask(seen: Seen, _found: re.Match[str]) -> Steps:
    asked = say(seen, f"Tea or coffee, {seen.asker}?", wait=True)
    if seen.resumed is None:
        return [asked]
    if seen.resumed == "timeout":
        return [asked, say(seen, "I got no answer in time.")]
    wish = shortened(seen.answer.text, 100).rstrip(".!") if seen.answer else "that"
    return [asked, say(seen, f"Then {wish} it is.")]


def _seek_approval(seen: Seen, _found: re.Match[str]) -> Steps:
    if ASKING not in seen.tools:
        return [say(seen, f'To ask for approval I need a tool of type "space" that is named {ASKING}.')]
    question = Step(ASKING, {"question": f"Shall I put the kettle on, {seen.asker}?"})
    outcomes = [output for name, output in seen.made if name == ASKING]
    if not outcomes:
        return [question]
    approved = next((each.get("approved") for each in outcomes if isinstance(each, dict) and each), None)
    if approved is None:
        return [question, say(seen, "I got no decision in time, so the kettle stays off.")]
    return [question, say(seen, "The kettle is on." if approved else "OK, the kettle stays off.")]


def _talk(seen: Seen, _found: re.Match[str]) -> Steps:
    if not seen.other_agents:
        return [say(seen, "I am the only agent here. Add another agent to this space and ask me again.")]
    return [
        say(seen, f"@{seen.other_agents[0]}, {seen.asker} would like to hear us talk. What is your favourite number?")
    ]


def _remind(seen: Seen, found: re.Match[str]) -> Steps:
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


def reminder_steps(seen: Seen) -> Steps:
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


def meet(seen: Seen, name: str) -> Steps:
    memory = {"key": f"name_of_{seen.asker}", "value": f"{seen.asker} is called {name}"}
    greeting = say(seen, f'Hello {name}, nice to meet you! I will remember your name. Say "help" to see what I can do.')
    return [Step("set_memories", {"memories": [memory]}), greeting]


def _introduced(seen: Seen, found: re.Match[str]) -> Steps:
    return meet(seen, shortened(found["name"], 40).rstrip(". "))


def _reply(text: str) -> Callable[[Seen, re.Match[str]], Steps]:
    return lambda seen, _found: [say(seen, text.format(asker=seen.asker, name=seen.name, about=ABOUT))]


def otherwise(seen: Seen) -> Steps:
    """Stays silent when people talk to each other."""
    people = [member for member in seen.active.others if member.type == "human"] if seen.active else []
    if len(people) > 1 and not seen.named:
        return []
    return [say(seen, f'I have no rule for that. {ABOUT} Say "help" to see what I can do.')]


RULES = (
    Rule(_words(r"\bhelp\b|what can you do"), _help),
    Rule(_REMIND, _remind, "remind me in 1 minute to stretch"),
    Rule(_words(r"(what|do) (do )?you (remember|know)|what did i tell you"), _recall, "what do you remember?"),
    Rule(_words(r"\bremember (?:that |to )?(?P<fact>.+)"), _remember, "remember that the door code is on the fridge"),
    Rule(_words(r"\bask me\b"), _ask, "ask me something"),
    Rule(_words(r"\bapproval\b|\bpermission\b"), _seek_approval, "ask for my approval"),
    Rule(_words(r"\btalk to (each other|one another|another|the other|\w+)"), _talk, "talk to each other"),
    Rule(
        _words(r"who are you|introduce yourself|your name"),
        _reply('I am {name}, a demo agent. {about} Say "help" to see what I can do.'),
        "who are you?",
    ),
    Rule(
        _words(r"^\W*(?:(?:hi|hello|hey)\W+)?(?:my name is|call me|i am|i'm|this is)\s+(?P<name>[^\W\d_][^,.!?\n]*)"),
        _introduced,
        "my name is Lena",
    ),
    Rule(_words(r"^\W*(thanks|thank you|shukran)\b"), _reply("You are welcome, {asker}.")),
    Rule(GREETING, _reply('Hello {asker}! I am {name}, a demo agent. Say "help" to see what I can do.'), "hello"),
)


def rule_steps(seen: Seen, text: str) -> Steps | None:
    """The steps of the first rule that matches."""
    for rule in RULES:
        found = rule.pattern.search(text)
        if found:
            return rule.steps(seen, found)
    return None
