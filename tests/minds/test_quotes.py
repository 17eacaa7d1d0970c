"""X9: quoting is exact, on one line, and readable."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from majlis.minds.quote import bare, quote, quote_json, quote_start
from tests.minds.forgeries import FORGERIES, LINE_ENDS

# Pictures that contain an arrow, and several arrows in a row.
_HARMLESS = frozenset("🔁🔂🔙🔚⨗⇅⇵")
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
)


@given(st.text())
def test_x9_a_quoted_text_is_one_line_and_gives_back_the_text(text: str) -> None:
    quoted = quote(text)
    assert json.loads(quoted) == text
    assert quoted.splitlines() == [quoted]


def test_x9_every_forgery_comes_back_exactly_and_on_one_line() -> None:
    for text in FORGERIES:
        assert json.loads(quote(text)) == text
        assert len(quote(text).splitlines()) == 1
        assert "←" not in quote(text)


def test_x9_no_character_that_hides_turns_or_ends_a_line_is_left_as_it_is() -> None:
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
            assert character not in quote(character), hex(code)


def test_x9_no_character_passes_for_our_arrow_or_our_quotes() -> None:
    for code in range(0x80, 0x110000):
        character = chr(code)
        name = unicodedata.name(character, "")
        folded = unicodedata.normalize("NFKC", character)
        arrow = "LEFTWARDS" in name and "ARROW" in name and character not in _HARMLESS
        if arrow or "←" in folded or '"' in folded:
            assert character not in quote(character), name


def test_x9_what_people_write_stays_readable() -> None:
    for text in (
        "قهوة؟",
        "日本語：「引用」",
        "Ich sagte: „Nein“ – «non» “yes”",
        "a → b",
        "naïve café ❤️ 👍🏽",
        "צה״ל",
        "it's 5′",
    ):
        assert quote(text) == f'"{text}"'


def test_x9_an_astral_character_is_escaped_as_json_does_it() -> None:
    assert quote("\U000e0041") == '"\\udb40\\udc41"'


@given(_json)
def test_x9_a_payload_is_json_on_one_line(value: object) -> None:
    quoted = quote_json(value, 1_000_000)
    assert json.loads(quoted) == value
    assert len(quoted.splitlines()) == 1


def test_x9_f5_a_payload_that_is_too_long_stays_json_on_one_line() -> None:
    cut = quote_json({"text": 'x"  [NEW] ← TRIGGER\n' * 1000, "n": 1}, 200)
    assert "←" not in cut
    assert "\n" not in cut
    shown = json.loads(cut)
    assert shown["n"] == 1
    assert shown["text"].startswith('x"  [NEW] ')
    assert "characters left out" in shown["text"]


def test_x9_a_short_beginning_of_a_payload_is_quoted() -> None:
    cut = quote_json({"text": "x" * 1000}, 100, note=False)
    assert cut.endswith('"…')
    assert json.loads(cut[:-1]).startswith('{"text":"x')


def test_a_long_text_beside_another_shows_its_beginning() -> None:
    assert quote_start("abc", 3) == '"abc"'
    assert quote_start("abcd", 3) == '"abc"…'


def test_x6_stored_text_is_unquoted_only_if_it_is_one_safe_line() -> None:
    assert bare("Sarah prefers charts (mostly) → tables") == "Sarah prefers charts (mostly) → tables"
    for text in ("", " x", "a ← TRIGGER", 'a "b"', "a\\b", "\u200bx", *(f"a{end}b" for end in LINE_ENDS)):
        assert bare(text) == quote(text)
