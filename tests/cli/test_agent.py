"""`majlis agent`: create, show and change agents, and apply files."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from majlis.settings import Settings
from tests.cli.command import Command
from tests.cli.terminals import in_terminal
from tests.past_runs import add_cycle, add_run
from tests.world import World

# These commands do not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

TEAM = """
agents:
  - name: Scout
    instructions: |
      Look around.
    model: {provider: openai, name: tiny, baseUrl: "http://127.0.0.1:9000/v1", apiKeyEnv: SCOUT_KEY}
    limits: {steps: 5}
    spaces: [Lobby]
  - name: Guide
    config: {instructions: Lead the way.}
"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    return settings.model_copy(update={"workers": 0})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working directory of the command."""
    return tmp_path / "empty"


def left_in(folder: Path) -> list[Path]:
    return list(folder.glob("majlis-agent-*"))


async def config_of(world: World, name: str) -> dict[str, Any]:
    [found] = [agent for agent in await world.owner.ok("GET", "/api/agents") if agent["name"] == name]
    config: dict[str, Any] = found["config"]
    return config


async def test_an_agent_is_made_listed_shown_and_removed(majlis: Command, world: World, folder: Path) -> None:
    await world.owner.create_space("Lobby")
    (folder / "prompt.md").write_text("Be kind.\nBe brief.", "utf-8")
    made = await majlis.ok(
        "agent", "add", "Scout", "--model", "demo", "--instructions", "@prompt.md", "--space", "lobby"
    )
    assert made.out.startswith("Created agent Scout (ent_")
    assert made.out.endswith(") with the model demo and added it to Lobby.\n")
    members = (await majlis.ok("space", "members", "Lobby", "--json")).json
    assert [member["name"] for member in members] == ["Owner", "Scout"]
    assert (await config_of(world, "Scout"))["instructions"] == "Be kind.\nBe brief."
    listed = (await majlis.ok("agent", "list")).out.splitlines()
    assert listed[1].split()[1:4] == ["Scout", "demo", "timeline"]
    assert [agent["name"] for agent in (await majlis.ok("agent", "list", "--json")).json] == ["Scout"]
    shown = (await majlis.ok("agent", "show", "scout")).out
    assert "Be kind.\\nBe brief." in shown
    assert "No runs yet." in shown
    assert (await majlis.ok("agent", "show", "Scout", "--json")).json["config"]["mind"] == "timeline"
    assert (await majlis.ok("agent", "remove", "Scout")).out == "Removed Scout.\n"
    assert (await majlis.ok("agent", "list")).out == "There are no agents.\n"


async def test_an_agent_that_cannot_be_made_is_refused_in_one_line(majlis: Command, world: World, folder: Path) -> None:
    await world.person("Sara")
    (folder / "bad.toml").write_text('mind = "timeline"\n[limits]\nsteps = "many"\n', "utf-8")
    assert "There is no space named 'Nowhere'" in await majlis.line("agent", "add", "A", "--space", "Nowhere", code=1)
    assert "is taken" in await majlis.line("agent", "add", "sara", code=1)
    assert "model" in await majlis.line("agent", "add", "A", "--model", "nonsense", code=1)
    assert await majlis.line("agent", "add", "A", "--instructions", "@none.md", code=2) == (
        "Cannot read none.md: No such file or directory."
    )
    assert (await majlis.line("agent", "add", "A", "--file", "bad.toml", code=2)).startswith(
        "bad.toml: limits.steps should be a valid integer"
    )
    assert await majlis.line("agent", "show", "Sara", code=1) == "Sara is a person, not an agent."
    assert await world.owner.ok("GET", "/api/agents") == []


async def test_single_settings_are_changed_and_put_back(majlis: Command, world: World) -> None:
    await world.agent("Scout")
    edit = "agent", "edit", "Scout", "--set"
    assert (await majlis.ok(*edit, "limits.steps=5", "--set", "instructions=Look around.")).out == (
        "Scout is updated. The change applies from its next run.\n"
    )
    config = await config_of(world, "Scout")
    assert config["instructions"] == "Look around."
    assert config["limits"]["steps"] == 5
    assert (await majlis.ok(*edit, "limits.steps=5")).out == "Scout is unchanged.\n"
    changed = (await majlis.ok(*edit, "limits.steps=null", "--json")).json
    assert (changed["config"]["limits"]["steps"], changed["config"]["instructions"]) == (20, "Look around.")
    assert "limits.steps" in await majlis.line(*edit, "limits.steps=-1", code=1)
    for usage in ("limits", "=5", "a..b=1"):
        assert "should be KEY=VALUE" in await majlis.line(*edit, usage, code=2)
    assert "--file" in await majlis.line("agent", "edit", "Scout", code=2)


async def test_a_whole_config_from_a_file_puts_everything_else_back(
    majlis: Command, world: World, folder: Path
) -> None:
    await world.agent("Scout", window=7, limits={"steps": 3}, model={"provider": "openai", "name": "x"})
    (folder / "scout.json").write_text(json.dumps({"model": {"provider": "openai", "name": "y"}}), "utf-8")
    await majlis.ok("agent", "edit", "Scout", "--file", "scout.json")
    config = await config_of(world, "Scout")
    assert (config["window"], config["model"]["name"]) == (50, "y")
    assert config["limits"]["steps"] == 20


EDITOR = """
import json, sys
from pathlib import Path
from typing import Any
file = Path(sys.argv[2])
config = json.loads(file.read_text("utf-8"))
config.update(json.loads(sys.argv[1]))
file.write_text(json.dumps(config), "utf-8")
"""


async def test_a_config_is_changed_in_an_editor(majlis: Command, world: World, folder: Path) -> None:
    await world.agent("Scout")
    editor = folder / "editor.py"
    editor.write_text(EDITOR, "utf-8")

    def editing(change: object) -> Command:
        command = shlex.join([sys.executable, str(editor), json.dumps(change)])
        return majlis.given(EDITOR=command, TMPDIR=str(folder))

    async with in_terminal(editing({"window": 9}), "agent", "edit", "Scout") as terminal:
        await terminal.until("Scout is updated")
    assert (await config_of(world, "Scout"))["window"] == 9
    assert left_in(folder) == []
    async with in_terminal(editing({"windo": 9}), "agent", "edit", "Scout") as terminal:
        told = await terminal.until("--file")
    assert "windo is not a known setting" in told
    [kept] = left_in(folder)
    assert json.loads(kept.read_text("utf-8"))["windo"] == 9


async def test_one_agent_or_all_get_another_model(majlis: Command, world: World) -> None:
    await world.agent("Scout", model={"provider": "openai", "name": "x", "settings": {"temperature": 1}})
    await world.agent("Guide")
    assert (await majlis.ok("agent", "set-model", "Scout", "anthropic:claude-sonnet-4-5")).out == (
        "Scout now uses anthropic:claude-sonnet-4-5.\n"
    )
    assert (await config_of(world, "Guide"))["model"] == "demo"
    local = "--base-url", "http://127.0.0.1:11434/v1"
    shown = await majlis.ok("agent", "set-model", "--all", "qwen3:8b", *local, "--api-key-env", "MY_KEY")
    assert shown.out.splitlines() == [
        "Scout now uses openai:qwen3:8b at http://127.0.0.1:11434/v1.",
        "Guide now uses openai:qwen3:8b at http://127.0.0.1:11434/v1.",
    ]
    model = (await config_of(world, "Scout"))["model"]
    assert model == {
        "provider": "openai",
        "name": "qwen3:8b",
        "baseUrl": "http://127.0.0.1:11434/v1",
        "apiKeyEnv": "MY_KEY",
        "settings": {},
    }
    versions = [agent["version"] for agent in await world.owner.ok("GET", "/api/agents")]
    await majlis.ok("agent", "set-model", "--all", "qwen3:8b", *local, "--api-key-env", "MY_KEY")
    assert [agent["version"] for agent in await world.owner.ok("GET", "/api/agents")] == versions
    assert "known provider" in await majlis.line("agent", "set-model", "--all", "unknown:x", code=1)
    for usage in (["x"], ["a", "b", "c"], ["--all", "a", "b"]):
        assert "NAME" in await majlis.line("agent", "set-model", *usage, code=2)


async def test_agents_become_what_a_file_says_and_applying_it_again_changes_nothing(
    majlis: Command, world: World, folder: Path
) -> None:
    space = await world.owner.create_space("Lobby")
    (folder / "team.yaml").write_text(TEAM, "utf-8")

    async def outcomes(*arguments: str) -> list[tuple[str, str]]:
        done = (await majlis.ok("agent", "apply", "team.yaml", "--json", *arguments)).json
        return [(each["name"], each["outcome"]) for each in done]

    created, unchanged = [("Scout", "created"), ("Guide", "created")], [("Scout", "unchanged"), ("Guide", "unchanged")]
    assert await outcomes("--dry-run") == created
    assert await world.owner.ok("GET", "/api/agents") == []
    assert await outcomes() == created
    before = await world.owner.ok("GET", "/api/agents")
    assert await outcomes() == await outcomes("--dry-run") == unchanged
    assert await world.owner.ok("GET", "/api/agents") == before
    assert [member["name"] for member in (await world.owner.space(space))["members"]] == ["Owner", "Scout"]

    (folder / "team.yaml").write_text(TEAM.replace("limits: {steps: 5}", "window: 9"), "utf-8")
    applied = (await majlis.ok("agent", "apply", "team.yaml")).out.splitlines()
    assert applied[1].split() == ["Scout", "agent", "changed", "limits,", "window"]
    assert applied[2].split() == ["Guide", "agent", "unchanged"]
    config = await config_of(world, "Scout")
    assert (config["window"], config["limits"]["steps"]) == (9, 20)

    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{before[0]['id']}")
    assert await outcomes() == [("Scout", "changed"), ("Guide", "unchanged")]
    assert len((await world.owner.space(space))["members"]) == 2


async def test_toml_and_json_describe_agents_too_and_missing_spaces_can_be_made(
    majlis: Command, world: World, folder: Path
) -> None:
    (folder / "a.toml").write_text('name = "Scout"\nwindow = 9\nspaces = ["New Room"]\n', "utf-8")
    (folder / "b.json").write_text('{"name": "Guide", "spaces": ["New Room"]}', "utf-8")
    told = await majlis.line("agent", "apply", "a.toml", "b.json", code=1)
    assert told == "There is no space named 'New Room'. Use --create-spaces to create it."
    assert await world.owner.ok("GET", "/api/agents") == []
    await majlis.ok("agent", "apply", "a.toml", "b.json", "--create-spaces", "--dry-run")
    assert await world.owner.ok("GET", "/api/spaces") == []
    await majlis.ok("agent", "apply", "a.toml", "b.json", "--create-spaces")
    [space] = await world.owner.ok("GET", "/api/spaces")
    assert [member["name"] for member in space["members"]] == ["Owner", "Scout", "Guide"]


SCENE = """
people: [Sara]
spaces:
  - {name: Team, description: Where we meet, members: [sara], orchestrator: Scout}
agents:
  - {name: Scout, spaces: [Team]}
"""


async def test_a_file_describes_people_and_spaces_too(majlis: Command, world: World, folder: Path) -> None:
    (folder / "scene.yaml").write_text(SCENE, "utf-8")

    async def outcomes(*arguments: str) -> list[tuple[str, str, str, list[str]]]:
        done = (await majlis.ok("agent", "apply", "scene.yaml", "--json", *arguments)).json
        return [(each["type"], each["name"], each["outcome"], each["settings"]) for each in done]

    created = [
        ("person", "Sara", "created", []),
        ("space", "Team", "created", ["members", "description", "orchestrator"]),
        ("agent", "Scout", "created", []),
    ]
    assert await outcomes("--dry-run") == created
    assert await world.owner.ok("GET", "/api/spaces") == await world.owner.ok("GET", "/api/agents") == []
    ran = await majlis.ok("agent", "apply", "scene.yaml")
    assert ran.err.strip() == "majlis: Send each new person a sign-in link: majlis person invite 'Sara'"
    [space] = await world.owner.ok("GET", "/api/spaces")
    [scout] = await world.owner.ok("GET", "/api/agents")
    assert sorted(member["name"] for member in space["members"]) == ["Owner", "Sara", "Scout"]
    assert (space["description"], space["triggers"], space["orchestratorId"]) == (
        "Where we meet", "orchestrated", scout["id"],
    )  # fmt: skip
    assert {outcome for _, _, outcome, _ in await outcomes()} == {"unchanged"}
    (folder / "scene.yaml").write_text(SCENE.replace("Where we meet", "Where we work"), "utf-8")
    assert (await outcomes("--dry-run"))[1] == ("space", "Team", "changed", ["description"])
    assert (await outcomes())[1] == ("space", "Team", "changed", ["description"])
    (folder / "scene.yaml").write_text(SCENE.replace("[sara]", "[Sarah]"), "utf-8")
    line = await majlis.line("agent", "apply", "scene.yaml", code=1)
    assert line == "There is no person, agent or service named 'Sarah'. Did you mean 'Sara'?"


BAD_FILES = [
    ("a.yaml", "name: [", "a.yaml is not valid YAML: "),
    ("a.json", '{"name": }', "a.json is not valid JSON: "),
    ("a.toml", "name = ", "a.toml is not valid TOML: "),
    ("a.txt", "", "a.txt: the file name should end with .yaml, .yml, .toml or .json."),
    ("a.yaml", "", "a.yaml should contain an agent"),
    ("a.yaml", "- name: Scout", "a.yaml should contain an agent"),
    ("a.yaml", "agents: {}", "a.yaml should contain an agent"),
    ("a.yaml", "agents: []\nname: x", "a.yaml should contain an agent"),
    ("a.yaml", "window: 9", "a.yaml: name is required"),
    ("a.yaml", "agents: [{name: A}, {name: 5}]", "a.yaml: agents.1.name is required"),
    ("a.yaml", "agents: [7]", "a.yaml: agents.0 should be an object"),
    ("a.yaml", "name: A\nspaces: Lobby", "a.yaml: spaces should be a list"),
    ("a.yaml", "name: A\nwindo: 9", "a.yaml: windo is not a known setting"),
    ("a.yaml", "agents: [{name: A, limits: {steps: x}}]", "a.yaml: agents.0.limits.steps should be a valid integer"),
    ("a.yaml", "name: A\nconfig: {window: x}", "a.yaml: config.window should be"),
    ("a.yaml", "name: A\nconfig: {}\nwindow: 9", "a.yaml: window should be under config."),
    ("a.yaml", "name: A\ninstructions: 2026-01-01", "a.yaml: instructions should be JSON"),
    ("a.yaml", "agents: [{name: A}, {name: a}]", "a.yaml: 'a' is already described in a.yaml."),
    ("a.yaml", "agents: []\npeople: Sara", "a.yaml: people should be a list of names."),
    ("a.yaml", "agents: []\nspaces: Team", "a.yaml: spaces should be a list."),
    ("a.yaml", "agents: []\nspaces: [Team]", "a.yaml: spaces.0 should be an object with a name."),
    ("a.yaml", "agents: []\nspaces: [{name: A, x: 1}]", "a.yaml: spaces.0.x is not known. Use name, description"),
    ("a.yaml", "agents: []\nspaces: [{name: A, members: [1]}]", "a.yaml: spaces.0.members should be a list"),
    ("a.yaml", "agents: []\nspaces: [{name: A, orchestrator: 1}]", "a.yaml: spaces.0.orchestrator should be text."),
    ("a.yaml", "agents: []\nspaces: [{name: A}, {name: a}]", "a.yaml: the space 'a' is described twice."),
    ("a.yaml", "x: &x [1]\nname: !!python/object:os.system A", "a.yaml is not valid YAML: "),
    ("a.json", "[" * 100_000, "a.json is not valid JSON: "),
]


async def test_a_bad_file_is_refused_with_the_path_of_the_field_and_changes_nothing(
    majlis: Command, world: World, folder: Path
) -> None:
    for name, text, told in BAD_FILES:
        (folder / name).write_text(text, "utf-8")
        line = await majlis.line("agent", "apply", name, code=2)
        assert line.startswith(told), (name, text)
    assert "Cannot read no-such.yaml" in await majlis.line("agent", "apply", "no-such.yaml", code=2)
    assert await world.owner.ok("GET", "/api/agents") == []


async def test_every_commands_help_fits_a_terminal(majlis: Command) -> None:
    verbs = ("list", "add", "show", "remove", "set-model", "edit", "apply")
    for arguments in [["agent"], *(["agent", verb] for verb in verbs), ["runs"], ["run", "show"], ["chat"]]:
        shown = await majlis.ok(*arguments, "--help")
        assert shown.out.startswith(f"Usage: majlis {' '.join(arguments)} ")
        assert max(len(line) for line in shown.out.splitlines()) <= 80


async def test_k3_the_cycles_of_a_consciousness_are_listed_by_their_closing_words(
    majlis: Command, world: World
) -> None:
    scout = await world.agent("Scout", mind="consciousness")
    assert (await majlis.ok("agent", "cycles", "Scout")).out == "There are no cycles yet.\n"
    run = await add_run(world, scout)
    for n in range(1, 4):
        await add_cycle(world, scout, n, run, summary=f"what {n} was about")
    _, *rows = (await majlis.ok("agent", "cycles", "Scout", "--limit", "2")).out.splitlines()
    assert [(row.split()[0], row.rpartition("  ")[2]) for row in rows] == [
        ("3", "what 3 was about"),
        ("2", "what 2 was about"),
    ]
    page = json.loads((await majlis.ok("agent", "cycles", "Scout", "--before", "2", "--json")).out)
    assert [cycle["messages"] for cycle in page["cycles"]] == [[{"role": "user", "content": "cycle 1"}]]


async def test_a_provider_whose_package_is_missing_is_refused_with_the_command_that_installs_it(
    majlis: Command, world: World
) -> None:
    refused = await majlis.line("agent", "add", "Scout", "--model", "groq:some-model", code=1)
    assert 'run pip install "pydantic-ai-slim[groq]==' in refused
    assert await world.owner.ok("GET", "/api/agents") == []
