"""docs/agents.md: its table lists every setting with its default, and its example can be applied."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from majlis.agents.config.config import AgentConfig, dump_config
from majlis.cli.agent.files import read_agents

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")
_ROW = re.compile(r"^\| `([\w.]+)` \| `(.*?)` \| ", re.MULTILINE)


def settings(config: dict[str, Any], path: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in config.items():
        inside = isinstance(value, dict)
        found += settings(value, f"{path}{name}.") if inside else [(f"{path}{name}", json.dumps(value))]
    return found


def test_the_table_holds_every_setting_with_its_default() -> None:
    assert _ROW.findall(PAGE) == settings(dump_config(AgentConfig()))


def test_the_example_describes_two_agents(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "team.yaml"
    file.write_text(example, "utf-8")
    scout, guide = read_agents([file])
    assert (scout.name, scout.spaces, scout.config["limits"]["waitSeconds"]) == ("Scout", ("Lobby",), 3600)
    assert (guide.name, guide.config["heartbeat"]["everyMinutes"]) == ("Guide", 60)
