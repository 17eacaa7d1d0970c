"""What the demo agents understand, first match first. To teach them more, add a rule; "help" lists the examples."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from majlis.models.demo.reminder import REMIND, plan_reminder
from majlis.models.demo.saying import say, shortened
from majlis.models.seen import ASKING, Seen, Step

Steps = list[Step]


@dataclass(frozen=True)
class Rule:
    """`steps` are those of the whole run, made anew for each of them: what was done stays at its place."""

    pattern: re.Pattern[str]
    steps: Callable[[Seen, re.Match[str]], Steps]
    example: str = ""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


GREETING = _words(r"^\W*(hi|hello|hey|hallo|salam|salaam|marhaba|ahlan|welcome|good (morning|afternoon|evening))\b")


def remark(seen: Seen) -> str:
    """What an agent adds to another agent's words, once."""
    if GREETING.search(seen.trigger.text):
        return f"Hello from me, too: I am {seen.name}. Say my name, and I answer instead of the others."
    return (
        f"Thank you for asking, {seen.asker}. My favourite number is {len(seen.name)}: one for each letter of my name."
    )


def _help(seen: Seen, _found: re.Match[str]) -> Steps:
    examples = "\n".join(f"- {rule.example}" for rule in RULES if rule.example)
    return [
        say(
            seen,
            "I am a demo agent: rules, not a language model. These I understand:\n"
            f"{examples}\n\n"
            "For a real mind, give me a model: majlis agent set-model.",
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
        return [say(seen, 'Nothing yet. Tell me something: "remember that the key is under the mat".')]
    known = "\n".join(f"- {shortened(value, 200)}" for _, value in seen.memories[:10])
    return [say(seen, f"I remember:\n{known}")]


def _ask(seen: Seen, _found: re.Match[str]) -> Steps:
    asked = say(seen, f"Tea or coffee, {seen.asker}?", wait=True)
    if seen.resume is None:
        return [asked]
    if seen.resume.status == "timeout":
        return [asked, say(seen, "Nobody answered, so I drink water.")]
    wish = shortened(seen.resume.answer.text, 100).rstrip(".!") if seen.resume.answer else "that"
    return [asked, say(seen, f"Then {wish} it is. (I waited for your answer and held no process open.)")]


def _seek_approval(seen: Seen, _found: re.Match[str]) -> Steps:
    if not seen.can_ask:
        return [say(seen, f"I have no tool to ask with: give me one of type space, called {ASKING}.")]
    asked = Step(ASKING, {"question": f"Shall I put the kettle on, {seen.asker}?"})
    if ASKING not in seen.done:
        return [asked]
    if seen.approved is None:
        return [asked, say(seen, "Nobody decided in time, so the kettle stays cold.")]
    outcome = "The kettle is on." if seen.approved else "Then the kettle stays cold."
    return [asked, say(seen, f"{outcome} (While you were deciding I was a row in a database.)")]


def _talk(seen: Seen, _found: re.Match[str]) -> Steps:
    others = [member.name for member in seen.active.others if member.type == "agent"] if seen.active else []
    if not others:
        return [say(seen, "I am the only agent here. Add another one to this space, and I talk to it.")]
    return [say(seen, f"@{others[0]}, {seen.asker} would like to hear us talk. What is your favourite number?")]


def _introduce(seen: Seen, _found: re.Match[str]) -> Steps:
    return [say(seen, f'I am {seen.name}, a demo agent: rules, not a language model. Say "help" for what I can do.')]


def meet(seen: Seen, name: str) -> Steps:
    memory = {"key": f"name_of_{seen.asker}", "value": f"{seen.asker} is called {name}"}
    greeting = say(seen, f'Hello {name}, nice to meet you! I will remember your name. Say "help" whenever you like.')
    return [Step("set_memories", {"memories": [memory]}), greeting]


def _introduced(seen: Seen, found: re.Match[str]) -> Steps:
    return meet(seen, shortened(found["name"], 40).rstrip(". "))


def _thanks(seen: Seen, _found: re.Match[str]) -> Steps:
    return [say(seen, f"You are welcome, {seen.asker}.")]


def _greet(seen: Seen, _found: re.Match[str]) -> Steps:
    return [say(seen, f'Hello {seen.asker}! I am {seen.name}, a demo agent. Say "help" to see what I understand.')]


def otherwise(seen: Seen) -> Steps:
    """People who talk among themselves are left alone."""
    people = [member for member in seen.active.others if member.type == "human"] if seen.active else []
    if len(people) > 1 and not seen.named:
        return []
    return [say(seen, 'That is beyond my rules: I am a demo agent, not a language model. Say "help" to see them.')]


RULES = (
    Rule(_words(r"\bhelp\b|what can you do"), _help),
    Rule(REMIND, plan_reminder, "remind me in 1 minute to stretch"),
    Rule(_words(r"(what|do) (do )?you (remember|know)|what did i tell you"), _recall, "what do you remember?"),
    Rule(_words(r"\bremember (?:that |to )?(?P<fact>.+)"), _remember, "remember that the door code is on the fridge"),
    Rule(_words(r"\bask me\b"), _ask, "ask me something"),
    Rule(_words(r"\bapproval\b|\bpermission\b"), _seek_approval, "ask for my approval"),
    Rule(_words(r"\btalk to (each other|one another|another|the other|\w+)"), _talk, "talk to each other"),
    Rule(_words(r"who are you|introduce yourself|your name"), _introduce, "who are you?"),
    Rule(
        _words(r"^\W*(?:(?:hi|hello|hey)\W+)?(?:my name is|call me|i am|i'm|this is)\s+(?P<name>[^\W\d_][^,.!?\n]*)"),
        _introduced,
        "my name is Lena",
    ),
    Rule(_words(r"^\W*(thanks|thank you|shukran)\b"), _thanks),
    Rule(GREETING, _greet, "hello"),
)
