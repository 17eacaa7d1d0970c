"""docs/tools.md lists every built-in tool with its input, as models see it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from majlis.agents.config.config import parse_config
from majlis.agents.config.http import HttpExecution
from majlis.cli.agent.files import read_data
from majlis.tools.builtin.send_message import send_message
from majlis.tools.builtin.turns import route
from majlis.tools.python.tool import Python
from majlis.tools.toolbox import Allowed, Tools, built_in_tools
from tests.tools.web_server import context

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text("utf-8")
_ROW = re.compile(r"^\| `(\w+)` \| `(.*?)` \| ", re.MULTILINE)


def inputs(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(_input(name, each, name in required) for name, each in schema["properties"].items())


def _input(name: str, schema: dict[str, Any], required: bool) -> str:
    default = f" = {json.dumps(schema['default'])}" if "default" in schema else ""
    return f"{name}{'' if required else '?'}: {_kind(schema)}{default}"


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " ".join(f'"{each}"' for each in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    match schema.get("type", "any"):
        case "array":
            return f"[{_kind(schema['items'])}]"
        case "object" if "properties" in schema:
            return f"{{{inputs(schema)}}}"
        case plain:
            return str(plain)


def test_the_tables_hold_every_tool_with_its_input_in_the_order_in_which_models_read_them() -> None:
    everybody = built_in_tools()
    conscious = built_in_tools("consciousness")[len(everybody) :]
    # Both have `send_files`.
    roles = built_in_tools("roles")[len(everybody) + 1 :]
    listed = [(tool.name, inputs(tool.spec.schema)) for tool in (*everybody, *conscious, *roles, route)]
    assert _ROW.findall(PAGE)[: len(listed)] == listed


def test_m2_the_page_tells_the_input_of_send_message_without_waits() -> None:
    assert f"exactly `{inputs(send_message.spec.schema)}`" in PAGE


def test_the_examples_of_own_tools_work_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The config is parsed, its function is called, and its tools come after the built-in ones."""
    [example], [code] = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("yaml", "python"))
    file = tmp_path / "tools.yaml"
    file.write_text(example, "utf-8")
    (tmp_path / "house_tools.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    tools, config = Tools(Allowed(modules=["house_tools"])), parse_config(read_data(file))
    specs = tools.specs(config)[len(built_in_tools()) :]
    assert [spec.name for spec in specs] == ["office_hours", "find_order", "deploy"]
    assert specs[2].description == "Puts a version on staging."
    assert inputs(specs[2].schema) == "version: string, force?: boolean = false"
    deploy = tools.find(config, "deploy")
    assert isinstance(deploy, Python)
    result = asyncio.run(deploy.act(context(), deploy.parse('{"version": "v1.2"}')))
    assert result == {"deployed": "v1.2", "by": "Scout", "key": "run_1:3"}


def test_the_page_tells_every_part_of_a_request_with_its_default() -> None:
    section = PAGE[PAGE.index("### http") : PAGE.index("### Where tools may go")]
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:`(.*?)`)? ?\| ", section, re.MULTILINE))
    defaults = HttpExecution(url="https://example.com").model_dump(mode="json", by_alias=True)
    del defaults["url"]
    told = {name: json.loads(default) for name, default in rows.items() if default}
    assert told == {name: value for name, value in defaults.items() if value is not None}
    assert [*rows] == [field.alias for field in HttpExecution.model_fields.values()]
