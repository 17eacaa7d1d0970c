"""A template of `majlis new`: a folder with `agents.yaml`, for `majlis agent apply`, and files that its agents need.
Its `template.yaml` says what it shows and how it is played."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from majlis.errors import ConfigurationError, NotFound

_FOLDER = Path(__file__).parent / "templates"
_ABOUT = "template.yaml"
_WORD = re.compile("'([^']*)'")


class Act(TypedDict, total=False):
    """One step of a play: a person posts a message or approves a call, an agent's message arrives, or days pass once an
    agent has a plan."""

    say: str
    # A person other than the owner. "as" is a word of Python.
    by: str
    approve: str
    hear: str
    times: int
    days: int
    agent: str


@dataclass(frozen=True, slots=True)
class Template:
    name: str
    about: str
    # What to say, and where.
    space: str
    say: str
    play: list[Act]
    # The server needs these variables.
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return _FOLDER / self.name.replace("-", "_")

    def environment_in(self, folder: Path) -> dict[str, str]:
        """A part in quotes is a word of a command line."""

        def word(found: re.Match[str]) -> str:
            return shlex.quote(_filled(found[1], folder))

        return {name: _filled(_WORD.sub(word, value), folder) for name, value in self.environment.items()}

    def write(self, folder: Path, model: str = "demo") -> list[Path]:
        """The files, with `agents.yaml` first. Nothing is written if there is a file of one of the names."""
        names = sorted(file.name for file in self.folder.iterdir() if file.is_file() and file.name != _ABOUT)
        names.sort(key=lambda name: name != "agents.yaml")
        for name in names:
            if (folder / name).exists():
                raise ConfigurationError(
                    f"{folder / name} already exists. Choose another folder: majlis new {self.name} FOLDER"
                )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                text = (self.folder / name).read_text("utf-8")
                (folder / name).write_text(_filled(text, folder, model) if name == "agents.yaml" else text, "utf-8")
        except OSError as error:
            raise ConfigurationError(f"Cannot write to {folder}: {error.strerror}.") from None
        return [folder / name for name in names]


def names() -> list[str]:
    return sorted(file.parent.name.replace("_", "-") for file in _FOLDER.glob(f"*/{_ABOUT}"))


def load(asked: str) -> Template:
    from difflib import get_close_matches

    import yaml

    name = asked.replace("_", "-").casefold()
    if name not in names():
        close = get_close_matches(name, names(), 1)
        hint = f"Did you mean {close[0]!r}?" if close else "List them with: majlis new"
        raise NotFound("unknown_template", f"There is no template named {asked!r}. {hint}")
    data: dict[str, Any] = yaml.safe_load((_FOLDER / name.replace("-", "_") / _ABOUT).read_text("utf-8"))
    return Template(name, **data)


def _filled(text: str, folder: Path, model: str = "") -> str:
    """Fills in what depends on the machine: the folder, the Python that runs here, and the model."""
    known = {"{folder}": folder.resolve(), "{python}": sys.executable}
    for placeholder, value in known.items():
        # The quotes around it are those of YAML, which reads JSON.
        text = text.replace(placeholder, json.dumps(str(value))[1:-1])
    return text.replace("{model}", model)
