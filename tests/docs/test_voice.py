"""The check of our own prose finds what it should, and leaves plain English alone."""

from __future__ import annotations

import pytest

from tools.voice import check


@pytest.mark.parametrize(
    "sentence",
    [
        "Who mistypes an address gets a page.",
        "Whether there is more.",
        "Of a run that has ended.",
        "Of the messages before it.",
        "What was said is kept.",
        "A message that nobody reads.",
        "Whoever holds the lock goes first.",
        "Call it again, mended.",
        "Each agent is owed an event.",
        "Nadim is no agent but a person.",
        "Its mentions are no list.",
        "A reader that goes away is no error.",
        "A text that is no command is sent as it is.",
        "An admin signs the gateway in at a server.",
    ],
)
def test_odd_sentences_are_found_in_docstrings_comments_strings_and_docs(sentence: str) -> None:
    assert check("a.py", f'"""{sentence}"""\n')
    assert check("a.py", f"x = 1  # {sentence}\n")
    assert check("a.py", f'x = f"{sentence}"\n')
    assert check("a.md", f"- {sentence}\n")
    assert check("a.tsx", f"// {sentence}\n")
    assert check("a.tsx", f"<p>{sentence}</p>\n")
    assert check("a.ts", f'const label = "{sentence}";\n')


@pytest.mark.parametrize(
    "sentence",
    [
        "Who can see this?",
        "The worker that holds the lock goes first.",
        "← RESUME: timeout, nobody replied within 300 s. Continue from here.",
        "Fix the input and call the tool again.",
        "Of course the worker retries.",
        "There is no answer yet.",
        "The agent is no longer a member.",
    ],
)
def test_plain_sentences_pass(sentence: str) -> None:
    assert check("a.py", f'"""{sentence}"""\n') == []


def test_a_finding_names_its_line_and_what_to_do() -> None:
    [finding] = check("src/a.py", '"""A module."""\n\n# Somebody waits.\n')
    assert (finding.path, finding.line) == ("src/a.py", 3)
    assert "say who" in finding.advice


def test_code_and_quoted_blocks_in_docs_are_left_alone() -> None:
    assert check("a.md", "```\nnobody\n```\n`nobody`\n") == []
    assert check("a.py", "nobody = 1\n") == []
