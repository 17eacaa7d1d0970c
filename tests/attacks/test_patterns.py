"""Regular expressions that backtrack: `(a+)+$` and forty letters held Python's `re`, and with it every task, for good.
After a restart the same run was claimed first."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import majlis
from majlis.agents.config.config import parse_config
from majlis.agents.config.validate import problem_with, schema_flaw
from majlis.model_providers import Key
from majlis.models.provider_errors import ProviderErrors
from majlis.runs.calls.call import outcome
from majlis.tools.toolbox import Allowed, Tools
from tests.attacks.cpu_time import at_most
from tests.model_server import call, say, sequence
from tests.runs.cards import asked, submit
from tests.runs.house import House
from tests.tools.web_server import context

STALLING = ("^(a+)+$", "^(a|aa)+$", "^(a*)*$", r"^(\w+\s?)*$", "^(a|a?)+$", "(x+x+)+y")
LETTERS = "a" * 60 + "!"


def form(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"name": "order", "type": "space", "ui": "form", "execution": {"resultSchema": schema}}


@pytest.mark.parametrize("pattern", STALLING)
def test_g1_a_pattern_with_nested_quantifiers_is_matched_in_linear_time(pattern: str) -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": pattern}}}
    with at_most(2):
        assert schema_flaw(schema) is None
        for text in (LETTERS, "a" * 60_000 + "!", "x" * 60_000):
            problem_with(schema, {"code": text})


def test_g1_a_large_pattern_has_a_budget_of_text() -> None:
    """Linear time still means text times pattern size: this took 2.5 s for one answer."""
    schema = {
        "type": "object",
        "properties": {"code": {"allOf": [{"pattern": f"a[ab]{{{n}}}c"} for n in range(500, 530)]}},
    }
    text = ("ab" * 100 + "ba" * 90 + "abb") * 150
    with at_most(2):
        assert schema_flaw(schema) is None
        found = problem_with(schema, {"code": text})
    assert found is not None
    assert found.message == "is too long to be checked against its pattern; make it shorter"


@pytest.mark.parametrize("pattern", ["(?=a)b", "(?<=a)b", r"(a)\1", "((a{100}){100}){100}", "[a-z", "("])
def test_g1_a_pattern_that_has_no_linear_time_is_refused_when_it_is_saved(pattern: str) -> None:
    flaw = schema_flaw({"type": "object", "properties": {"code": {"pattern": pattern}}})
    assert flaw is not None
    assert flaw.at == ("properties", "code", "pattern")
    assert "linear time" in flaw.message


def test_g1_patterns_for_names_of_fields_are_bounded_too() -> None:
    schema = {"type": "object", "patternProperties": {f"a[ab]{{{n}}}c": {} for n in range(50, 60)}}
    with at_most(2):
        assert schema_flaw(schema) is None
        assert problem_with(schema, {"ab" * 30: 1}) is None
        found = problem_with(schema, {"ab" * 10_000 + str(n): 1 for n in range(10)})
    assert found is not None
    assert "names of fields" in found.message


async def test_g1_a_form_answer_cannot_stall_the_gateway(house: House) -> None:
    _, _, card = await asked(house, say("Done."), tool=form(code={"type": "string", "pattern": "^(a+)+$"}))
    with at_most(10):
        refused = await submit(house.owner, card, {"code": LETTERS})
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["path"] == "result.code"
    assert "code should match the pattern ^(a+)+$" in refused.json()["error"]["message"]
    assert (await submit(house.owner, card, {"code": "aaa"})).status_code == 200


async def test_g1_a_tool_call_cannot_stall_the_gateway(house: House) -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(a+)+$"}}}
    tool = {"name": "look", "type": "static", "inputSchema": schema, "execution": {"output": "ok"}}
    bot = await house.agent("Bot", tools=[tool])
    space = await house.space("Lab", bot)
    house.model.script = sequence(call("look", code=LETTERS), say("It was refused."))
    with at_most(10):
        await house.owner.say(space, "Look")
        await house.until_idle()
    assert (await house.texts(space))[-1] == ("Bot", "It was refused.")
    assert "code should match the pattern" in str(house.model.asked[-1].results)


async def test_g1_an_mcp_servers_output_schema_cannot_stall_the_gateway() -> None:
    """The MCP library checks results with `re`: a server could send a pattern, and then a text that stalls it."""
    tools = Tools(Allowed(commands=["*"]))
    script = str(Path(__file__).parents[1] / "tools" / "hostile_mcp_server.py")
    config = parse_config({"mcp": [{"name": "calc", "command": [sys.executable, "-I", script]}]})
    try:
        assert await tools.open(config) == []
        stalling = tools.find(config, "calc__stalling")
        assert stalling is not None
        assert stalling.outside
        with at_most(5):
            output, state = await outcome(stalling, context(), {})
    finally:
        await tools.close()
    assert (output["structured"], state) == ({"a": LETTERS}, "done")


def compiled_patterns() -> dict[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for module in pkgutil.walk_packages(majlis.__path__, "majlis."):
        if ".migrations" not in module.name and not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    found[f"{module.name}.{name}"] = value
    return found


PIECES = (
    *" =a0*_@.-[](){}\"'\\:/|~\u200d",
    "a0", "@a ", "{{ input", "${env.", "'input' ", "Bearer ", "remind me to in a day ", "input_value=", "sk-", "=  ",
    "previous ", "\\ud8", "msg:msg_", "a.", "*.", "1 second ", "\n", "\t ,", "é", "🟢",
)  # fmt: skip


# The rules of the demo agents read at most 2000 characters.
SHORT_TEXTS = ("majlis.models.demo.rules", "majlis.models.demo.welcome")


@pytest.mark.parametrize(("name", "pattern"), compiled_patterns().items(), ids=lambda value: str(value)[:60])
def test_g1_none_of_our_own_patterns_takes_quadratic_time(name: str, pattern: re.Pattern[str]) -> None:
    """16,000 characters take a millisecond in linear time and seconds in quadratic time."""
    length = 2000 if name.startswith(SHORT_TEXTS) else 16_000
    with at_most(2):
        for piece in PIECES:
            text = (piece * length)[:length]
            pattern.search(text)
            pattern.search(f"{text}\x00")


def test_g1_the_words_of_a_model_server_are_read_in_linear_time() -> None:
    errors = ProviderErrors("The model server", "m", Key(None, None))
    with at_most(1):
        errors.reason(" " * 2_000_000)
        errors.reason("({[, " * 400_000)
