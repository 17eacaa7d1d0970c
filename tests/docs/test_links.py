"""Links between the pages of the docs lead to files and headings that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.codes import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!\w+:)([^()\s#]*)(?:#([^()\s]*))?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = list(_broken(page))
    assert not broken, "\n  ".join(
        [f"{page.relative_to(ROOT)} has links to files or headings that do not exist:", *broken]
    )


def _broken(page: Path) -> Iterator[str]:
    for file, anchor in _LINK.findall(_prose(page)):
        target = (page.parent / file).resolve() if file else page
        if not target.exists():
            yield file
        elif anchor and target.suffix == ".md" and anchor not in _anchors(target):
            yield f"{file}#{anchor}"


@cache
def _anchors(page: Path) -> frozenset[str]:
    return frozenset(_anchor(heading) for heading in _HEADING.findall(_prose(page)))


def _anchor(heading: str) -> str:
    """As GitHub makes it: lower case, without punctuation, with hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _prose(page: Path) -> str:
    return _FENCED.sub("", page.read_text("utf-8"))
