"""docs/timeline.md shows what models are really shown."""

from __future__ import annotations

from tests.minds.pages import PAGE, drawn, on_page


def test_every_example_of_the_page_is_what_the_code_draws() -> None:
    assert on_page(PAGE.read_text("utf-8")) == drawn(), "python -m tests.minds.pages draws them anew"
