"""docs/tools.md names every built-in tool with its input, as models are told of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from majlis.agents.config import parse_config
from majlis.cli.agent_files import read_data
from majlis.tools import send_message
from majlis.tools.toolbox import Tools, built_in_tools

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
    match schema["type"]:
        case "array":
            return f"[{_kind(schema['items'])}]"
        case "object":
            return f"{{{inputs(schema)}}}"
        case plain:
            return str(plain)


def test_the_table_holds_every_tool_with_its_input_in_the_order_in_which_models_read_them() -> None:
    assert _ROW.findall(PAGE) == [(tool.name, inputs(tool.spec.schema)) for tool in built_in_tools()]


def test_m2_the_page_tells_the_input_of_send_message_without_waits() -> None:
    assert f"exactly `{inputs(send_message.TOOL.spec.schema)}`" in PAGE


def test_the_example_of_own_tools_is_a_config_and_its_tools_come_after_the_built_in_ones(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "tools.yaml"
    file.write_text(example, "utf-8")
    names = [spec.name for spec in Tools().specs(parse_config(read_data(file)))]
    assert names == [*(tool.name for tool in built_in_tools()), "office_hours", "deploy"]
