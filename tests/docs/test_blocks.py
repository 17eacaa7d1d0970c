"""Commands with their options, settings, routes and configs on the pages exist.

`test_commands.py` runs the blocks that are marked `sh`. Blocks that cannot run in a test are marked `bash`.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest
import typer
import yaml
from typer.core import TyperGroup

from majlis import metrics
from majlis.agents.config.config import parse_config
from majlis.api.app import openapi_document
from majlis.cli.agent.files import read_agents
from majlis.cli.main import COMMANDS, app, load_command
from majlis.settings import Settings, unknown_variables
from tests.docs.codes import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "examples/README.md"])
_FENCED = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")
_PROGRAMS = {"majlis", "$majlis", "/opt/majlis/bin/majlis", ".venv/bin/majlis"}
_OPTIONS = {"--help", "--version", "--install-completion", "--show-completion"}
_ENDS = {"|", "||", "&", "&&", ";", "<", ">", ">>", "(", ")", "<<<", "2>"}
_METHODS = "GET|POST|PUT|PATCH|DELETE"
_ROUTE = re.compile(
    rf"(?:\b({_METHODS})(?: and ({_METHODS}))? )?(?<![\w./])(?:localhost:8700|\$MAJLIS_URL)?(/(?:api|v1)/[^\s`\"'?,)]+)"
)
# Variables of the browser tests, and a typo that `majlis doctor` finds in an example.
_NO_SETTINGS = {"MAJLIS_SCREENSHOTS", "MAJLIS_SCREENSHOTS_ONLY", "MAJLIS_PROT"}
# Formats that are not ours.
_FOREIGN = {"nginx", "js", "html", "ts", "tsx", "caddy", "powershell", "ini", "http"}


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    for _, kind, block in _FENCED.findall(page.read_text("utf-8")):
        yield kind, dedent(block)


def inline(page: Path) -> Iterator[str]:
    for found in _INLINE.findall(_FENCED.sub("", page.read_text("utf-8"))):
        yield " ".join(found.split())


def command_lines(text: str) -> Iterator[list[str]]:
    """The arguments of each `majlis …` in a piece of shell."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            # A quotation that goes on in the next line: not one of ours.
            continue
        for n, word in enumerate(words):
            if word in _PROGRAMS and words[n + 1 : n + 2] and _begins(words[n + 1]):
                # A variable of the shell may be a number.
                rest = [re.sub(r"\$\w+", "1", each) for each in words[n + 1 :]]
                yield rest[: next((m for m, each in enumerate(rest) if each in _ENDS), len(rest))]


def _begins(word: str) -> bool:
    return word in COMMANDS or word in _OPTIONS


def check_command(arguments: list[str], whole: bool) -> str | None:
    """The problem. A command in a sentence may leave out what it needs."""
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    if arguments[0] in _OPTIONS:
        return None
    name, *rest = arguments
    context = typer.Context(root, info_name="majlis")
    command = load_command(name)
    if isinstance(command, TyperGroup):
        if not rest or rest[0] == "--help":
            return None
        verb, *rest = rest
        found = command.get_command(context, verb)
        if found is None:
            return f"there is no majlis {name} {verb}"
        command = found
    if "--help" in rest:
        return None
    try:
        command.make_context(name, list(rest), parent=context)
    except typer.TyperException as error:
        if not whole and re.search("Missing|requires an argument", error.format_message()):
            return None
        return error.format_message()
    return None


# The list of commands is generated from the commands.
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "reference-cli.md"], ids=lambda page: page.name
)
def test_every_command_of_a_page_is_one_that_majlis_takes(page: Path) -> None:
    wrong = []
    for kind, block in blocks(page):
        if kind in ("", "sh", "bash", "text"):
            for arguments in command_lines(block):
                if problem := check_command(arguments, whole=True):
                    wrong.append(f"majlis {shlex.join(arguments)}: {problem}")
    for code in inline(page):
        first, *verbs = code.split(" · ")
        for arguments in command_lines(first):
            together = [arguments, *([*arguments[:-1], verb] for verb in verbs if verb)]
            for each in together if page.name != "CHANGELOG.md" else [arguments]:
                if not verbs or each[0] in COMMANDS:
                    problem = check_command(each, whole=False) if not verbs or len(each) > 1 else None
                    wrong += [f"majlis {shlex.join(each)}: {problem}"] if problem else []
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_setting_and_variable_of_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    named = dict.fromkeys(re.findall(r"\bMAJLIS_[A-Z_]+[A-Z]\b", text), "x")
    assert set(unknown_variables(named)) <= _NO_SETTINGS
    for name in re.findall(r"\bsettings? (?:is )?`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`", text):
        assert name in Settings.model_fields, name


@cache
def _routes() -> list[tuple[list[str], set[str]]]:
    paths = openapi_document()["paths"]
    return [(path.strip("/").split("/"), {method.upper() for method in paths[path]}) for path in paths]


def _is_route(path: str, method: str) -> bool:
    asked = path.rstrip("/.;:").strip("/").split("/")
    for parts, methods in _routes():
        same = len(parts) == len(asked) and all(
            theirs.startswith("{") or ours == theirs for ours, theirs in zip(asked, parts, strict=True)
        )
        if same and (not method or method in methods):
            return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_route_of_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8").replace("<agent id>", "{id}")
    wrong = [
        f"{method} {path}"
        for *methods, path in _ROUTE.findall(text)
        for method in filter(None, methods) or ("",)
        if "*" not in path and "…" not in path.rpartition("/")[2].replace("_…", "") and not _is_route(path, method)
    ]
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_code_and_config_is_valid(page: Path, tmp_path: Path) -> None:
    for kind, block in blocks(page):
        match kind:
            case "" | "sh" | "bash" | "text":
                pass
            case "yaml":
                check_yaml(block, tmp_path)
            case "toml":
                check_toml(block)
            case "json":
                if "…" not in block:
                    json.loads(block)
            case "python":
                check_python(block)
            case _:
                assert kind in _FOREIGN, f"no test reads blocks of the kind {kind}"


def check_yaml(block: str, folder: Path) -> None:
    data = yaml.safe_load(block)
    if isinstance(data, list):
        # Models of `llm`; `make guests` uses them.
        assert all({"model_id", "model_name"} <= each.keys() for each in data)
    elif "agents" in data:
        (folder / "agents.yaml").write_text(block, "utf-8")
        assert read_agents([folder / "agents.yaml"])
    elif data.keys() <= {"tools", "mcp", "policy"}:
        parse_config(data)
    elif "groups" in data:
        known = set(re.findall(r"^# TYPE (\w+)", metrics.render().decode(), re.MULTILINE))
        for rule in (rule for group in data["groups"] for rule in group["rules"]):
            assert set(re.findall(r"\bmajlis_\w+", rule["expr"])) <= known
    else:
        # A part of a compose file or of Prometheus's settings.
        assert data.keys() <= {"labels", "services", "scrape_configs"}, f"no test reads {sorted(data)}"


def check_toml(block: str) -> None:
    data = tomllib.loads(block)
    if "mcp_servers" not in data:
        Settings.model_validate(data | ({"oidc_client_id": "x"} if "oidc_issuer" in data else {}))


def check_python(block: str) -> None:
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("majlis"):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, each.name) for each in node.names)


def test_the_checks_find_what_they_look_for() -> None:
    """Otherwise a page in another style would pass unread."""
    lines = [line for page in PAGES for _, block in blocks(page) for line in command_lines(block)]
    assert len(lines) > 120
    assert sum(len(_ROUTE.findall(page.read_text("utf-8"))) for page in PAGES) > 150
    wrong = "VAR=1 majlis space mak A; echo | majlis send Lobby --lin 5\nTOKEN=$(majlis token create)"
    verb, option, argument = [check_command(each, whole=True) or "" for each in command_lines(wrong)]
    assert verb == "there is no majlis space mak"
    assert option.startswith("No such option: --lin")
    assert argument == "Missing argument 'NAME'."
    assert not _is_route("/api/spaces/{id}/massages", "")
    assert not _is_route("/api/spaces/{id}/messages", "PUT")
