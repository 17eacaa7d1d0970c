"""J4: a function with type hints and a docstring is a tool; whatever it does, the run and the process continue."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from majlis.agents.config.config import parse_config
from majlis.errors import MajlisError
from majlis.runs.calls.call import outcome
from majlis.runs.calls.result import plain
from majlis.tools.python.functions import Functions
from majlis.tools.python.tool import Python
from majlis.tools.toolbox import Allowed, Tools
from tests.tools import sample_functions
from tests.tools.web_server import context

HERE = sample_functions.__name__


def tool(name: str, **more: Any) -> Python:
    config = parse_config(
        {"tools": [{"name": name, "type": "python", "execution": {"function": f"{HERE}:{name}"}, **more}]}
    )
    found = Tools(Allowed(modules=[HERE])).find(config, name)
    assert isinstance(found, Python)
    return found


async def call(name: str, input: Any, **more: Any) -> Any:
    made = tool(name)
    return await made.act(context(**more), made.parse(json.dumps(input)))


def test_the_signature_is_the_schema_and_the_docstring_the_description() -> None:
    made = tool("order")
    assert made.spec.description == "Orders things.\n\nMore about it."
    assert made.spec.schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["items", "when"],
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "amount": {"type": "integer", "default": 1}},
                    "required": ["name"],
                },
            },
            "when": {"type": "string", "format": "date"},
            "how": {"type": "string", "enum": ["fast", "slow"], "description": "How to send it.", "default": "slow"},
            "schema": {"type": "string"},
        },
    }
    assert tool("look_up", description="Mine", inputSchema={"type": "object"}).spec.description == "Mine"


async def test_arguments_are_converted_and_the_context_is_given() -> None:
    told: list[str] = []
    result = await call("order", {"items": [{"name": "tea"}], "when": "2026-02-03"}, tell=told.append)
    assert result == {
        "items": [{"name": "tea", "amount": 1}],
        "when": "2026-02-03",
        "how": "slow",
        "for": "Scout",
        "key": "run_1:3",
        "thread": "majlis-tool",
    }
    assert await call("look_up", {"word": "tea"}, tell=told.append) == "tea in Lobby"
    assert told == ["Ordering 1 things", "Looking"]


@pytest.mark.parametrize(
    "given", [{}, {"items": []}, {"items": [{}], "when": "2026-02-03"}, {"items": [], "when": "soon"},
              {"items": [], "when": "2026-02-03", "ctx": {}}, {"items": [], "when": "2026-02-03", "how": "never"}]
)  # fmt: skip
def test_input_that_does_not_fit_calls_nothing_and_says_what_is_wrong(given: Any) -> None:
    with pytest.raises(MajlisError, match=r"order was not called: .*Fix the input and call the tool again"):
        tool("order").parse(json.dumps(given))


async def test_a_plain_function_of_an_allowed_module_works_without_hints() -> None:
    assert await call("plain_one", {"x": [1]}) == [1]


REFUSED = [
    (f"{HERE}:_hidden", "defines no function and no @tool named _hidden"),
    (f"{HERE}:getcwd", "defines no function and no @tool named getcwd"),
    (f"{HERE}:Item", "defines no function and no @tool named Item"),
    (f"{HERE}:release", "defines no function and no @tool named release"),
    (f"{HERE}:nothing", "defines no function and no @tool named nothing"),
    (f"{HERE}:many_arguments", "cannot be passed by name"),
    (f"{HERE}:no_json", "type hints cannot be read as JSON"),
    ("os:system", "os is not allowed by the setting tool_modules"),
    ("broken_for_tests:x", "cannot be imported (ZeroDivisionError"),
    ("ends_for_tests:x", "cannot be imported (SystemExit"),
    ("missing_for_tests:x", "cannot be imported (ModuleNotFoundError"),
]


@pytest.fixture
def bad_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "broken_for_tests.py").write_text("1 / 0")
    (tmp_path / "ends_for_tests.py").write_text("raise SystemExit(1)")
    monkeypatch.syspath_prepend(str(tmp_path))
    return ["broken_for_tests", "ends_for_tests", "missing_for_tests"]


@pytest.mark.parametrize(("function", "reason"), REFUSED)
async def test_unusable_tools_are_not_offered_and_the_run_says_why(
    function: str, reason: str, bad_modules: list[str]
) -> None:
    config = parse_config(
        {
            "tools": [
                {"name": "bad", "type": "python", "execution": {"function": function}},
                {"name": "good", "type": "static", "execution": {"output": 1}},
            ]
        }
    )
    tools = Tools(Allowed(modules=[HERE, *bad_modules]))
    [note] = await tools.open(config)
    assert note.startswith("The tool bad cannot be used: ")
    assert reason in note
    assert [spec.name for spec in tools.specs(config)][-1] == "good"
    assert tools.find(config, "bad") is None


@pytest.mark.parametrize("name", ["throw", "throw_later"])
@pytest.mark.parametrize("kind", ["exit", "stop", "interrupt", "other", "cancel"])
async def test_an_exception_of_a_function_ends_neither_the_run_nor_the_process(name: str, kind: str) -> None:
    made = tool(name)
    output, state = await outcome(made, context(), made.parse(json.dumps({"kind": kind})))
    assert state == "error"
    assert output["error"].startswith(f"{name} failed: ")
    assert "Traceback" not in output["error"]
    assert len(json.dumps(output)) < 5000


@pytest.mark.parametrize("what", ["object", "circle", "bytes", "half", "deep"])
async def test_a_result_that_is_not_json_is_told_as_such_with_its_effect(what: str) -> None:
    with pytest.raises(MajlisError, match="had its effect, but its result is not JSON"):
        await call("give", {"what": what})


@pytest.mark.parametrize("what", ["huge", "many", "number", "infinite", "forged"])
async def test_a_hostile_result_is_made_harmless(what: str) -> None:
    text = json.dumps(plain(await call("give", {"what": what})), ensure_ascii=False)
    assert len(text.encode()) < 200_000


async def test_a_hung_function_does_not_delay_a_cancel() -> None:
    sample_functions.release.clear()
    made = tool("hold")
    task = asyncio.create_task(made.act(context(), {}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    sample_functions.release.set()


def test_functions_are_found_by_their_mark_in_modules_and_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "offered_for_tests.py").write_text(
        "import majlis\n@majlis.tool\ndef one(): 'One.'\n@majlis.tool\ndef two(): 'Two.'\n"
    )
    facts = tmp_path / "offered_for_tests-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: offered-for-tests\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[majlis.tools]\nanything = offered_for_tests:one\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    functions, problems = Functions([HERE]).listed()
    assert [each.reference for each in functions] == ["offered_for_tests:one", f"{HERE}:order", f"{HERE}:look_up"]
    assert problems == []
    with pytest.raises(MajlisError, match="tool_modules"):
        Functions([]).find("offered_for_tests:two")


def test_importing_majlis_imports_nothing_heavy() -> None:
    script = "import sys, majlis; majlis.tool; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "majlis" in shown
    for heavy in ("pydantic", "sqlalchemy", "httpx", "mcp", "asyncio"):
        assert f"'{heavy}'" not in shown
