"""The tools that a config gives to its agent beside the built-in ones (J4, J5): one shape for each type."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from majlis.agents.http_tool import HttpExecution
from majlis.agents.input_schema import InputSchema, no_input
from majlis.agents.limits import MAX_TOOL_WAIT
from majlis.agents.wire import Matching, Maybe, Name, Wire, refusal, refuse_repeated

BUILT_IN_TOOLS = frozenset(
    {
        "enter_space", "send_message", "read_messages",
        "get_my_runs", "stop_run", "absorb_run",
        "set_memories", "get_memories", "delete_memories",
        "set_goals", "delete_goals",
        "set_plans", "get_plans", "delete_plans",
        "peek_inbox", "skip", "route", "hand_over",
    }
)  # fmt: skip


def _not_built_in(name: str) -> str:
    if name.casefold() in BUILT_IN_TOOLS:
        raise refusal("is the name of a built-in tool; choose another")
    return name


class _Tool(Wire):
    name: Annotated[Name, AfterValidator(_not_built_in)]
    description: Annotated[str, Field(max_length=4096)] = ""
    """Tells the model when to use the tool."""
    visible: bool = False
    """Shows call and result as a message in the active space."""
    idempotent: bool = False
    """May be repeated when a crash left its outcome unknown."""


class HttpTool(_Tool):
    type: Literal["http"]
    input_schema: InputSchema = Field(default_factory=no_input)
    execution: HttpExecution


class PythonExecution(Wire):
    function: Annotated[
        str,
        Matching(
            r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*",
            'should name a function as "package.module:name"',
        ),
        Field(max_length=256),
    ]


class PythonTool(_Tool):
    type: Literal["python"]
    input_schema: Maybe[InputSchema] = None
    """Left out: taken from the function's type hints."""
    execution: PythonExecution


class SpaceExecution(Wire):
    timeout_seconds: Maybe[Annotated[int, Field(ge=1, le=MAX_TOOL_WAIT)]] = None
    """Left out: the agent's `limits.toolWaitSeconds`."""


class SpaceTool(_Tool):
    """Asks the people in the active space and waits for the first answer."""

    type: Literal["space"]
    input_schema: InputSchema = Field(default_factory=no_input)
    ui: Literal["approval", "choice", "form"]
    execution: SpaceExecution = SpaceExecution()


class StaticExecution(Wire):
    output: JsonValue


class StaticTool(_Tool):
    """Answers the same, always."""

    type: Literal["static"]
    input_schema: InputSchema = Field(default_factory=no_input)
    execution: StaticExecution


Tool = Annotated[HttpTool | PythonTool | SpaceTool | StaticTool, Field(discriminator="type")]


def _names_differ(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    refuse_repeated([tool.name for tool in tools], "name")
    return tools


Tools = Annotated[tuple[Tool, ...], Field(max_length=128), AfterValidator(_names_differ)]
