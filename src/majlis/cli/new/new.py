"""`majlis new`: lists agent templates, writes one to a folder, or plays it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, run_async
from majlis.cli.terminal import print_json, print_line, print_list, safe_line
from majlis.errors import ConfigurationError, Invalid

if TYPE_CHECKING:
    from majlis.cli.new.template import Template


def new(
    template: Annotated[
        str | None,
        typer.Argument(metavar="[TEMPLATE]", help="Name of the template. Without it, the templates are listed."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Where to write it.  [default: the template's name]")
    ] = None,
    model: Annotated[
        str, typer.Option(help="provider:model or JSON. The default follows fixed rules and needs no key.")
    ] = "demo",
    play: Annotated[
        bool, typer.Option("--play", help="Write no files; play the template once, next to a running server.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start from an agent template.

    Writes files that you can change, and says how to apply them.
    """
    from majlis.cli.new.template import load, names

    if template is None:
        found = [load(name) for name in names()]
        listed = [{"name": each.name, "about": each.about, "say": each.say} for each in found]
        print_list(listed, as_json, ("Template", "What it shows"), [(each.name, each.about) for each in found], "")
        if not as_json:
            print_line("\nWrite one: majlis new deploy-bot\nWatch one: majlis new deploy-bot --play")
        return
    chosen = load(template)
    if play:
        from majlis.cli.new.play import play_alone

        run_async(play_alone(chosen, as_json))
        return
    _check_model(model)
    place = folder or Path(chosen.name)
    files = chosen.write(place, model)
    steps = _next_steps(chosen, place)
    if as_json:
        written = [str(file) for file in files]
        print_json({"template": chosen.name, "folder": str(place), "files": written, "next": steps, "say": chosen.say})
        return
    print_line(safe_line(f"Wrote {', '.join(map(str, files))}."))
    if chosen.environment:
        print_line("\nThe server needs its tools. Stop it and start it with:")
        print_line(safe_line(f"  {steps.pop(0)}"))
    print_line("\nThen:" if chosen.environment else "\nNext:")
    for step in steps:
        print_line(safe_line(f"  {step}"))


def _next_steps(template: Template, place: Path) -> list[str]:
    given = [f"{name}={shlex.quote(value)}" for name, value in template.environment_in(place).items()]
    return [
        *([" ".join([*given, "majlis serve"])] if given else []),
        f"majlis agent apply {shlex.quote(str(place / 'agents.yaml'))}",
        f"majlis send {shlex.quote(template.space)} {shlex.quote(template.say)}",
        f"majlis chat {shlex.quote(template.space)}",
    ]


def _check_model(text: str) -> None:
    from majlis.agents.config.config import parse_config

    try:
        parse_config({"model": json.loads(text) if text.startswith("{") else text})
    except Invalid as error:
        raise ConfigurationError(f"--model: {error.message}") from None
    except ValueError as error:
        raise ConfigurationError(f"--model is not JSON ({error}).") from None
