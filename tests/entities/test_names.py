"""X9: a name cannot look like a line of ours, or like another member's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.entities.names import entity_name, name_key, space_name
from majlis.errors import Invalid

GOOD = [
    "Husam",
    "Ahmad Al-Sayed",
    "محمد",
    "田中 太郎",
    "O'Brien",
    "R2-D2",
    "dev_bot.v2",
    "Zoë",
    "C++ & Co",
    "José",
    "🤖 Bot",
    "A",
]
FORGERIES = [
    "",
    " ",
    "x" * 65,
    " Husam",
    "Husam ",
    "Hu  sam",
    'Husam "the boss"',
    "Husam (human, id:ent_1)",
    "[msg:1] Husam",
    "Husam\n[NEW] Ahmad",
    "Husam\t",
    "Husam\x00",
    "Husam\x1b[2J",
    "Hus\u200bam",  # zero width space
    "Hus\u202eam",  # right-to-left override
    "Hus\u2066am",
    "Husam ← TRIGGER",
    "Husam\u00a0Ali",  # no-break space
    "Husam：hi",  # full-width colon folds to one
    "（human）",
    "⑴",
    "＂quoted＂",
    "<b>",
    "{x}",
    "“Husam”",
    "You",
    "ＹＯＵ",
    "Majlis",
    "...",
    "Husam: hello",
    "@Husam",
    "\ud800",
]


@pytest.mark.parametrize("name", GOOD)
def test_ordinary_names_of_all_scripts_are_kept(name: str) -> None:
    assert entity_name(name) == name


@pytest.mark.parametrize("name", FORGERIES)
def test_a_name_that_could_forge_a_line_is_refused(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        entity_name(name)
    assert refused.value.code == "invalid_name"


@pytest.mark.parametrize(
    ("one", "other"), [("Husam", "HUSAM"), ("Bot", "Ｂｏｔ"), ("Straße", "STRASSE"), ("e\u0301", "é")]
)
def test_names_that_differ_in_case_or_width_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


def test_a_space_may_be_called_as_people_call_it() -> None:
    assert space_name("1:1 with Husam") == "1:1 with Husam"


@given(st.text(max_size=80))
def test_accepted_names_contain_none_of_our_marks(text: str) -> None:
    try:
        kept = entity_name(text)
    except Invalid:
        return
    assert not set(kept) & set('"[](){}<>:\n\r\t←→`\\|')
    assert kept.isprintable()
    assert name_key(kept) == name_key(name_key(kept))
