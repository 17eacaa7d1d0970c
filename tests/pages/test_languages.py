"""The pages of the server are in the language of the reader, as the app is."""

from __future__ import annotations

import httpx
import pytest

from majlis.api.routes.pages import PAGES
from tests.pages.markup import Markup

ARABIC = "تسجيل الدخول إلى مجلس"
ENGLISH = "Sign in to Majlis"


@pytest.mark.parametrize(
    ("accepted", "chosen", "title"),
    [
        ("ar-EG,ar;q=0.9,en;q=0.8", None, ARABIC),
        ("en-US,ar;q=0.9", None, ENGLISH),
        ("ar;q=0.2, en;q=0.7", None, ENGLISH),
        ("fr, ar;q=0.5", None, ARABIC),
        ("fr", None, ENGLISH),
        ("nonsense;q=x, ;;, *", None, ENGLISH),
        # The choice in the app goes first.
        ("en", "ar", ARABIC),
        ("ar", "en", ENGLISH),
        ("ar", "../ar", ARABIC),
    ],
)
async def test_the_language_is_the_chosen_one_or_that_of_the_browser(
    browser: httpx.AsyncClient, accepted: str, chosen: str | None, title: str
) -> None:
    if chosen:
        browser.cookies.set("majlis_language", chosen)
    answer = await browser.get("/", headers={"Accept-Language": accepted})
    markup = Markup(answer.text)
    assert title in markup.text
    language, direction = ("ar", "rtl") if title == ARABIC else ("en", "ltr")
    assert markup.tags[0] == ("html", {"lang": language, "dir": direction})


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("ar/")])
def test_a_translated_page_has_the_forms_and_values_of_the_english_one(name: str) -> None:
    translated, english = Markup(PAGES[name]), Markup(PAGES[name.removeprefix("ar/")])
    assert _parts(translated) == _parts(english)
    for value in ("$name", "$space", "$creator", "$problem", "$message", "$provider", "$without_provider"):
        assert (value in PAGES[name]) == (value in PAGES[name.removeprefix("ar/")]), value


def _parts(markup: Markup) -> list[tuple[str, str | None]]:
    """What makes a page work: its files, links, forms and fields."""
    names = {"script": "src", "a": "href", "form": "action", "input": "name", "button": "type"}
    return [(tag, attributes.get(names[tag])) for tag, attributes in markup.tags if tag in names]
