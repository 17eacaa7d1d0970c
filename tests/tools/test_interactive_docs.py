"""docs/interactive.md: its examples are valid configs, and its table of answers matches the schemas."""

from __future__ import annotations

import re
from pathlib import Path

from majlis.agents.config.config import parse_config
from majlis.agents.config.policy import verdict
from majlis.agents.config.tools import SpaceTool
from majlis.agents.config.validate import problem_with
from majlis.cli.agent.files import read_data

PAGE = (Path(__file__).parents[2] / "docs" / "interactive.md").read_text("utf-8")


def test_the_examples_are_configs(tmp_path: Path) -> None:
    tools, policy = (read(example, tmp_path) for example in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
    asking = [tool for tool in parse_config(tools).tools if isinstance(tool, SpaceTool)]
    assert [tool.ui for tool in asking] == ["approval", "choice", "form"]
    answers = [{"approved": True}, {"choice": "Hall"}, {"version": "1.4", "day": "2026-12-01", "teams": ["web"]}]
    for tool, answer in zip(asking, answers, strict=True):
        assert problem_with(tool.answer_schema({}) or {}, answer) is None
    rules = parse_config(policy).policy
    names = ("deploy_test", "deploy_live", "shop__delete_all", "shop__read")
    assert [verdict(rules, name) for name in names] == ["allow", "ask", "deny", "allow"]


def test_the_inputs_of_tools_that_ask_match_the_table() -> None:
    table = dict(re.findall(r"^\| `(approval|choice|form)` \| (.*?) \|", PAGE, re.MULTILINE))
    for ui, said in table.items():
        [tool] = parse_config({"tools": [{"name": "ask", "type": "space", "ui": ui}]}).tools
        assert isinstance(tool, SpaceTool)
        assert re.findall(r"`(\w+)`", said) == list(tool.model_schema["properties"])  # type: ignore[arg-type]


def read(example: str, folder: Path) -> object:
    file = folder / "example.yaml"
    file.write_text(example, "utf-8")
    return read_data(file)
