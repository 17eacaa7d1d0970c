"""X9: a name cannot look like a line of ours, or like another member's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.entities.names import entity_name, look_key, name_key, space_name
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
    "👍🏽 Bot",
    "Вася",
    "Max Иванов",
    "Νίκος",
    "Łukasz",
    "田中 Taro",
    "Bjørn",
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
    "\u041ewner",  # Cyrillic O
    "Hus\u0430m",  # Cyrillic a
    "Owner\ua789 pay",  # modifier letter colon
    "Owner\ua4fd pay",  # Lisu letter that looks like a colon
    "Owner\u02f8 pay",  # modifier letter raised colon
    "\ufdfa" * 64,  # stands for 18 characters each
    "\u03bfn\u0435",
    "\u0443\u043e\u057d",  # "you" in other letters
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "\u0251nna"),  # Latin alpha
        ("Cope", "\u0421\u043e\u0440\u0435"),  # all Cyrillic
        ("\u0421\u043e\u0440\u0435", "cope"),
        ("OWNER", "\ua4f3\ua4ea\ua4e0\ua4f0\ua4e3"),  # all Lisu
    ],
)
def test_x9_names_that_look_alike_have_the_same_key(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)
    assert look_key(one) == look_key(other)


@pytest.mark.parametrize(("one", "other"), [("modem", "modern"), ("Lia", "Ila"), ("Bot 1", "Bot I"), ("محمد", "محمود")])
def test_names_that_only_resemble_each_other_are_both_allowed(one: str, other: str) -> None:
    assert look_key(one) != look_key(other)
