"""What people write tools with: `@majlis.tool` and `majlis.ToolContext`. Imports nothing: `import majlis` is light."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])
MARK = "__majlis_tool__"


def tool(function: F) -> F:
    """Makes a function a tool: its type hints are the schema of the input, its docstring is what models are told.

    The function itself stays as it is and can be called as before.
    """
    setattr(function, MARK, True)
    return function


class Told:
    """Nothing is left to wait for; `await` is allowed, for who likes to write it."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


def nobody_listens(_text: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who calls, and the key under which a repeated call can be recognised. A tool gets it in the parameter that is
    annotated with this class."""

    agent_id: str
    agent_name: str
    run_id: str
    space_id: str | None
    space_name: str | None
    idempotency_key: str
    tell: Callable[[str], None] = nobody_listens

    def progress(self, text: str) -> Told:
        """Shows a line in the space while the tool works, if the tool is visible there. From any thread; only the
        latest line counts, and none is kept."""
        self.tell(text)
        return Told()
