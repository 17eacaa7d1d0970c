"""Checks the voice of docstrings, comments, strings and docs: plain English, as STYLE.md asks for.

It finds the patterns that make text sound translated: noun clauses as sentences ("Who mistypes …", "Of a run …"),
stand-ins for people ("nobody", "whoever"), and pictures where a plain term exists ("mended"). A sentence that has to
stay as it is, such as a line of a prompt that is part of the contract, goes into ALLOWED.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
KINDS = {".py", ".ts", ".tsx", ".html", ".md"}
SKIPPED = (
    "web/sdk/src/schema.ts",
    "src/majlis/store/migrations/versions/",
    "tools/voice.py",
    "tests/docs/test_voice.py",
)

# Text that quotes the contract, or where the word is meant literally.
ALLOWED = (
    "nobody replied within",  # the RESUME line of a wait that timed out (M9), and of a card
    "nobody answered",
)

RULES = (
    (
        re.compile(
            r"(?:^|[.!?] )(?:Who|Whom|Whether|Of(?! course)|What (?:is|was|has|a|an|the|can|may|must)) (?!.*\?)"
        ),
        "starts with a noun clause: start with the thing that acts",
    ),
    (
        re.compile(r"\b(?:nobody|somebody|whoever|whomever|anybody|everybody)\b", re.IGNORECASE),
        "is a stand-in: say who (the worker, the sender, a member)",
    ),
    (re.compile(r"\bmended?\b", re.IGNORECASE), "use fix or correct"),
    (re.compile(r"\bowe[sd]?\b", re.IGNORECASE), "use pending, due or delivery"),
    (re.compile(r"\btaken for dead\b|\bhow it stands\b|\bnor are\b", re.IGNORECASE), "use a plain term"),
    (
        re.compile(r"(?<![Tt]here )\b(?:is|are) no (?!(?:longer|more|other|better|less|matter)\b)[A-Za-z]+"),
        "use 'is not a …'",
    ),
    (re.compile(r"\b[Ss]ign(?:s|ed|ing)?(?:-ins?| .{1,20} in| in)? at (?:a|an|the|MCP|remote)\b"), "use 'sign in to'"),
    (re.compile(r"\b(?:begins|begin|began|begun) anew\b|\bmade anew\b|\banew\b"), "use again, or name what happens"),
)


class Text(NamedTuple):
    """A piece of prose, and the line that it starts on."""

    line: int
    words: str


class Finding(NamedTuple):
    path: str
    line: int
    found: str
    advice: str


def main() -> int:
    findings = [each for path in _files() for each in check(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))]
    for each in findings:
        print(f"{each.path}:{each.line}: “{each.found}”: {each.advice}")
    if findings:
        print(f"{len(findings)} sentences to rewrite; STYLE.md says how we write.")
    return 1 if findings else 0


def check(path: str, source: str) -> list[Finding]:
    findings = []
    for text in _prose(path, source):
        words = text.words
        for quote in ALLOWED:
            words = words.replace(quote, "")
        for pattern, advice in RULES:
            for match in pattern.finditer(words):
                line = text.line + words.count("\n", 0, match.start())
                shown = " ".join(words[match.start() : match.end() + 40].split())
                findings.append(Finding(path, line, shown, advice))
    return findings


def _files() -> Iterator[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    for name in listed:
        path = ROOT / name
        if path.suffix in KINDS and not name.startswith(SKIPPED) and path.is_file():
            yield path


def _prose(path: str, source: str) -> Iterator[Text]:
    if path.endswith(".py"):
        # What people say in tests and measurements is data.
        return _python(source, strings=not path.startswith(("tests/", "bench/")))
    if path.endswith(".md"):
        return _markdown(source)
    return _web(source)


# Python 3.12 and later split f-strings into parts.
_STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def _python(source: str, strings: bool) -> Iterator[Text]:
    starts_line = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.string.lstrip("# "))
        elif token.type in _STRINGS and (strings or starts_line):
            yield Text(token.start[0], token.string.lstrip("rbfRBF").strip("\"'"))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            starts_line = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def _markdown(source: str) -> Iterator[Text]:
    fenced = False
    for n, line in enumerate(source.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield Text(n, re.sub(r"`[^`]*`", "", line).lstrip("-*|># "))


_WEB = re.compile(
    r"//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|`(?P<template>[^`]*)`"
    r"|>(?P<markup>[^<>{}]*)<",
    re.DOTALL,
)


def _web(source: str) -> Iterator[Text]:
    for match in _WEB.finditer(source):
        words = next(each for each in match.groups() if each is not None)
        line = source.count("\n", 0, match.start()) + 1
        yield Text(line, re.sub(r"^[\s*/]+", "", words))


if __name__ == "__main__":
    sys.exit(main())
