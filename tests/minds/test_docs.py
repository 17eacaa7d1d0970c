"""docs/timeline.md shows exactly what models see."""

from __future__ import annotations

from tests.minds.timeline_page import PAGE, drawn, on_page


def test_every_example_of_the_page_is_what_the_code_draws() -> None:
    assert on_page(PAGE.read_text("utf-8")) == drawn(), "python -m tests.minds.timeline_page draws them anew"
