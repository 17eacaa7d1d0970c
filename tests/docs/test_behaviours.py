"""docs/behaviours.md and the tests agree: every code in use is listed, and every working behaviour is tested.

`tests/docs/codes.py` says what counts as a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tests.docs.codes import Behaviour, behaviours, codes_in, codes_of_test, uses, uses_in


def test_every_code_in_use_is_a_behaviour() -> None:
    known = {each.code for each in behaviours()}
    unknown = [f"{use.place}: {use.code}" for use in uses() if use.code not in known]
    assert not unknown, _problem(
        "These codes are not in docs/behaviours.md. Correct the code, add the behaviour, or reword what is not a code:",
        unknown,
    )


def test_every_working_behaviour_is_named_by_a_test() -> None:
    named = {use.code for use in uses() if use.by_test}
    untested = [_short(each) for each in behaviours() if not each.planned and each.code not in named]
    assert not untested, _problem(
        "No test names these behaviours. Add the code to the name or docstring of the test that proves each one:",
        untested,
    )


def test_no_test_names_a_planned_behaviour() -> None:
    planned = {each.code for each in behaviours() if each.planned}
    early = [f"{use.place}: {use.code}" for use in uses() if use.by_test and use.code in planned]
    assert not early, _problem(
        'Tests name these behaviours, so they work: remove "(planned)" after the code in docs/behaviours.md:', early
    )


def test_behaviours_of_a_section_are_numbered_from_one_without_gaps() -> None:
    numbers: dict[str, list[int]] = {}
    for each in behaviours():
        numbers.setdefault(each.letter, []).append(each.number)
    assert numbers == {letter: list(range(1, len(found) + 1)) for letter, found in numbers.items()}


def test_a_planned_change_is_announced_at_the_behaviour_it_changes() -> None:
    changes = {(each.code, code) for each in behaviours() for code in _listed(r"\bChanges ([^.]*)\.", each)}
    announced = {(code, each.code) for each in behaviours() for code in _listed(r"\*([^*]*) will change this", each)}
    planned = {each.code for each in behaviours() if each.planned}
    assert changes == announced
    assert {code for code, _ in changes} <= planned, "a behaviour that works has made its change: reword both entries"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("A plan fires at that depth (T6).", ["T6"]),
        ("J4-J6, K7: what a config holds", ["J4", "J5", "J6", "K7"]),
        ("Behaviours M8–M10 and X1 to X3", ["M8", "M9", "M10", "X1", "X2", "X3"]),
        ("R2-D2, UTF8, E2E, T03:15, T201, /x/M16, q=%C3%BC, RFC-A7", []),
    ],
)
def test_a_code_is_a_word(text: str, codes: list[str]) -> None:
    assert [code for code, _ in codes_in(text)] == codes


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("test_t6_a_plan_carries_its_depth", ["T6"]),
        ("test_m5_m7_a_reply_resumes_one_run", ["M5", "M7"]),
        ("test_x1_to_x3_the_blocks", ["X1", "X2", "X3"]),
        ("test_a_message_of_t6", []),
        ("test_m16bit_samples", []),
    ],
)
def test_a_test_is_named_by_the_codes_it_begins_with(name: str, codes: list[str]) -> None:
    assert codes_of_test(name) == codes


PYTHON = '''\
"""M1: the whole file."""
WORDS = "M2"

async def test_m3_m4_a_sentence() -> None:
    """M5"""
    assert WORDS == "M6"  # M7

def helper() -> None:
    """M8"""
'''
TYPESCRIPT = """\
/** M1
 * M2 */
const path = 'M3 4 6'  // M4
test('M5: a sentence', () => {})
"""
MARKDOWN = """\
M1 and `M2`
```
M3
```
M4
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("tests/test_x.py", PYTHON, "1 M1, 4 M3 test, 4 M4 test, 5 M5 test, 6 M7 test, 9 M8"),
        ("src/x.tsx", TYPESCRIPT, "1 M1, 2 M2, 3 M4"),
        ("web/tests/x.browser.ts", TYPESCRIPT, "1 M1 test, 2 M2 test, 3 M4 test, 4 M5 test"),
        ("docs/x.md", MARKDOWN, "1 M1, 1 M2, 5 M4"),
    ],
)
def test_codes_are_found_where_people_read_them(path: str, text: str, found: str) -> None:
    each = [f"{use.line} {use.code}" + (" test" if use.by_test else "") for use in uses_in(path, text)]
    assert ", ".join(each) == found


def _listed(pattern: str, behaviour: Behaviour) -> list[str]:
    return [code for part in re.findall(pattern, behaviour.text) for code, _ in codes_in(part)]


def _short(behaviour: Behaviour) -> str:
    return f"{behaviour.code}: {behaviour.text[:80]}…"


def _problem(heading: str, lines: Iterable[str]) -> str:
    return "\n  ".join([heading, *lines])
