"""Estimates how many tokens a text takes (F1).

A tokenizer with its vocabulary is tens of megabytes and differs from model to model. The estimate counts words, groups
of digits, punctuation and letters by script, with weights fitted to OpenAI's o200k: within 10 % for English, Arabic,
Chinese, code and our own prompts, whose ids and times take many tokens. Four bytes per token would be far too few for
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson

from majlis.models.port import Result, Said, System, ToolSpec, Turn, User

# Thousandths of a token. ASCII: for the start of a word, a letter, the start of a number, a digit, punctuation, a line.
_WORD, _LETTER, _NUMBER, _DIGIT, _MARK, _LINE = 440, 165, 2000, 210, 475, 400
_SCRIPTS = (
    # Latin with accents; Greek and Cyrillic; Hebrew and Arabic, and their vowel signs on top; Chinese, Japanese and
    # Korean; anything else.
    (re.compile("[\u0080-\u036f]"), 900),
    (re.compile("[\u0370-\u058f]"), 290),
    (re.compile("[\u0590-\u08ff]"), 350),
    (re.compile("[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]"), 560),
    (re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"), 680),
    (re.compile("[\u0900-\u2e7f\ua000-\uabff\U00010000-\U0010ffff]"), 950),
)


def _kind(code: int) -> str:
    letter = chr(code)
    if code >= 128:
        return "x"
    if letter.isalpha():
        return "a"
    if letter.isdigit():
        return "0"
    return "\n" if letter == "\n" else " " if letter.isspace() else "."


# Counting pairs of kinds takes a tenth of the time that a regular expression takes.
_KINDS = "".join(map(_kind, range(256))).encode()
_WORDS = (b" a", b"0a", b".a", b"\na", b"xa")
_NUMBERS = (b" 0", b"a0", b".0", b"\n0", b"x0")
# What marks a turn or a call for the model.
_TURN = 6
_CALL = 16


def estimate(text: str) -> int:
    kinds = f" {text}".encode("utf-8", "replace").translate(_KINDS)
    count = kinds.count
    total = _WORD * sum(map(count, _WORDS)) + _NUMBER * sum(map(count, _NUMBERS))
    total += _LETTER * count(b"a") + _DIGIT * count(b"0") + _MARK * count(b".") + _LINE * count(b"\n")
    if not text.isascii():
        total += sum(weight * len(pattern.findall(text)) for pattern, weight in _SCRIPTS)
    return total // 1000 + 1


def estimate_turns(turns: Iterable[Turn]) -> int:
    return sum(_turn(turn) for turn in turns)


def estimate_tools(tools: Iterable[ToolSpec]) -> int:
    return sum(_tool(tool) for tool in tools)


# By name, description and the schema's identity: the same few tools are in every request.
_tools: dict[tuple[str, str, int], int] = {}
_MAX_TOOLS = 10_000


def _tool(tool: ToolSpec) -> int:
    key = tool.name, tool.description, id(tool.schema)
    if key not in _tools:
        if len(_tools) >= _MAX_TOOLS:
            _tools.clear()
        _tools[key] = _CALL + estimate(tool.description) + estimate(orjson.dumps(tool.schema).decode())
    return _tools[key]


def _turn(turn: Turn) -> int:
    match turn:
        case User():
            return _TURN + estimate(turn.text) + sum(each.tokens for each in turn.pictures)
        case System():
            return _TURN + estimate(turn.text)
        case Said():
            calls = sum(_CALL + estimate(call.name) + estimate(call.arguments) for call in turn.calls)
            return _TURN + estimate(turn.text) + calls
        case Result():
            return _TURN + _CALL + estimate(turn.content)
