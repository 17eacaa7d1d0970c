"""What the demo agents understand. The first rule that matches applies; "help" lists the examples."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from majlis.models.demo.reminder import REMIND, plan_reminder
from majlis.models.demo.say import Step, say, shortened
from majlis.models.outline import Seen

# The tool with which the demo agents ask people for approval (J5).
ASKING = "ask_approval"
ABOUT = "I follow rules; I am not a language model."

Steps = list[Step]


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
            "To connect me to a real model, run majlis agent set-model.",
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
    Rule(REMIND, plan_reminder, "remind me in 1 minute to stretch"),
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
    """Of the first rule that matches."""
    for rule in RULES:
        found = rule.pattern.search(text)
        if found:
            return rule.steps(seen, found)
    return None
