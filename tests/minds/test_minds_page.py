"""docs/minds.md shows exactly what each mind shows; docs/context-questions.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.minds.minds_page import PAGE, SAID, drawn, on_page

ROOT = Path(__file__).parents[2]


def test_every_example_of_the_page_is_what_the_minds_draw() -> None:
    assert on_page(PAGE.read_text("utf-8")) == drawn(), "python -m tests.minds.minds_page draws them anew"


def test_the_conversation_has_three_members_and_ten_messages() -> None:
    assert len({message.sender.id for message in SAID}) == 3
    assert len(SAID) == 10


def test_each_of_the_ten_questions_is_answered_by_a_test() -> None:
    page = (ROOT / "docs" / "context-questions.md").read_text("utf-8")
    answers = re.split(r"^\d+\. ", page, flags=re.MULTILINE)[1:]
    assert len(answers) == 10
    for answer in answers:
        named = re.findall(r"`(tests/\S+\.py)::(\w+)`", answer)
        assert named, answer
        for path, name in named:
            assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), name
