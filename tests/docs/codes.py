"""Finds behaviour codes in source, tests and docs, and reads docs/behaviours.md.

A code is the letter of a section of docs/behaviours.md and a number without a leading zero, written as a word: a code,
a range ("M4–M12", "X1 to X7") or a list. It counts where people read it:

- Python: in docstrings, in comments, and at the start of a test's name (`test_m5_m7_…`, `test_x1_to_x8_…`).
- TypeScript: in comments and in the titles of tests.
- Markdown: anywhere but in fenced code.

Other strings do not count, so "%C3%BC", SVG paths and names such as "R2-D2" are not codes.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "behaviours.md"
_FOLDERS = (
    "src", "tests", "bench", "examples", "tools", "docs",
    "web/app/src", "web/sdk/src", "web/sdk/tests", "web/examples", "web/tests",
)  # fmt: skip

_ENTRY = re.compile(r"^- \*\*([A-Z])(\d+)( \(planned\))?\.\*\* ((?:.|\n  )*)", re.MULTILINE)
_TITLE = re.compile(r"""\b(?:test|it|describe)(?:\.\w+)*\(\s*(['"`])(?P<title>.*?)\1""", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Behaviour:
    letter: str
    number: int
    planned: bool
    text: str

    @property
    def code(self) -> str:
        return f"{self.letter}{self.number}"


@dataclass(frozen=True)
class Use:
    code: str
    path: str
    line: int
    # Inside a test function, or in a test file of the web app.
    by_test: bool

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


@cache
def behaviours() -> tuple[Behaviour, ...]:
    found = _ENTRY.findall(PAGE.read_text("utf-8"))
    return tuple(Behaviour(letter, int(n), bool(planned), " ".join(text.split())) for letter, n, planned, text in found)


@cache
def uses() -> tuple[Use, ...]:
    return tuple(
        use for path in _files() for use in uses_in(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    )


def uses_in(path: str, text: str) -> Iterator[Use]:
    if path.endswith(".py"):
        yield from _in_python(path, text)
    elif path.endswith((".ts", ".tsx")):
        yield from _in_typescript(path, text)
    else:
        yield from _in_markdown(path, text)


def codes_in(text: str) -> Iterator[tuple[str, int]]:
    """Each code with its offset in the text."""
    for match in _word().finditer(text):
        letter, first, last = match.groups()
        yield from ((f"{letter}{n}", match.start()) for n in range(int(first), int(last or first) + 1))


def codes_of_test(name: str) -> list[str]:
    match = _test_name().match(name)
    prefix = match[1].upper().replace("_TO_", "-").replace("_", " ") if match else ""
    return [code for code, _ in codes_in(prefix)]


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w%/-])([{_letters()}])([1-9]\d?)(?:(?:\s?[-–]\s?|\s+to\s+)\1([1-9]\d?))?(?![\w-])")


@cache
def _test_name() -> re.Pattern[str]:
    code = rf"[{_letters().lower()}][1-9]\d?"
    return re.compile(rf"test_({code}(?:_(?:to_)?{code})*)(?=_|$)")


def _letters() -> str:
    return "".join(sorted({each.letter for each in behaviours()}))


def _files() -> Iterator[Path]:
    yield from sorted(ROOT.glob("*.md"))
    for folder in _FOLDERS:
        yield from sorted(
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in (".py", ".ts", ".tsx", ".md") and "node_modules" not in path.parts
        )


def _in_python(path: str, text: str) -> Iterator[Use]:
    if not _word().search(text) and not re.search(rf"def {_test_name().pattern}", text):
        return
    statements = list(_statements(ast.parse(text)))
    functions = (each for each in statements if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    tests = [each for each in functions if each.name.startswith("test_")]
    inside = {line for test in tests for line in range(test.lineno, (test.end_lineno or 0) + 1)}
    written = [*_docstrings(statements), *_comments(text)]
    found = [(code, line + part[:at].count("\n")) for line, part in written for code, at in codes_in(part)]
    found += [(code, test.lineno) for test in tests for code in codes_of_test(test.name)]
    yield from (Use(code, path, line, line in inside) for code, line in sorted(found, key=lambda each: each[1]))


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements of a module or statement; expressions hold none and are not walked."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, block, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from _statements(child)


def _docstrings(statements: Iterable[ast.stmt]) -> Iterator[tuple[int, str]]:
    for each in statements:
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str):
            yield each.lineno, each.value.value


def _comments(text: str) -> Iterator[tuple[int, str]]:
    # Tokenizing is slow, and most files have no code after a "#".
    if not any(_word().search(line.partition("#")[2]) for line in text.splitlines()):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _in_typescript(path: str, text: str) -> Iterator[Use]:
    parts = [(match.start(), match[0]) for match in _COMMENT.finditer(text)]
    is_test = path.endswith((".test.ts", ".browser.ts"))
    if is_test:
        parts += [(match.start("title"), match["title"]) for match in _TITLE.finditer(text)]
    return _at_offsets(path, text, parts, is_test)


def _in_markdown(path: str, text: str) -> Iterator[Use]:
    blank = _FENCED.sub(lambda fenced: "\n" * fenced[0].count("\n"), text)
    return _at_offsets(path, blank, [(0, blank)], by_test=False)


def _at_offsets(path: str, text: str, parts: Iterable[tuple[int, str]], by_test: bool) -> Iterator[Use]:
    for start, part in parts:
        for code, at in codes_in(part):
            yield Use(code, path, text.count("\n", 0, start + at) + 1, by_test)
