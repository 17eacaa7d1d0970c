"""`@majlis.tool` and `majlis.ToolContext`, for authors of tools. Imports nothing, so that `import majlis` is fast."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])
MARK = "__majlis_tool__"


def tool(function: F) -> F:
    """Makes a function a tool. Its type hints become the input schema, its docstring the description for models. The
    function itself does not change."""
    setattr(function, MARK, True)
    return function


class Told:
    """Allows `await context.progress(…)` in async tools, although there is nothing to wait for."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


def ignore_progress(_text: str) -> None:
    """For tools that are not visible."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The calling agent and run, and a key to recognize a repeated call. Passed to the parameter that is annotated with
    this class."""

    agent_id: str
    agent_name: str
    run_id: str
    space_id: str | None
    space_name: str | None
    idempotency_key: str
    tell: Callable[[str], None] = ignore_progress

    def progress(self, text: str) -> Told:
        """Shows a line in the space while the tool runs, if the tool is visible there. Replaces the previous line.
        Works from any thread."""
        self.tell(text)
        return Told()
