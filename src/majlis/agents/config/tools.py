"""The tools of a config (J4, J5): `http`, `python`, `space` and `static`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from majlis.agents.config import schemas
from majlis.agents.config.http import HttpExecution
from majlis.agents.config.limits import MAX_TOOL_WAIT
from majlis.agents.config.problems import Path
from majlis.agents.config.types import JsonObject, Matching, Maybe, Name, Wire, names_differ, refusal, walk
from majlis.card_kinds import APPROVAL_ANSWER, TEXT_ANSWER, CardKind, choice_answer, default_input

# The names of the tools in `tools.builtin`, a higher layer; a test compares them.
BUILT_IN_TOOLS = frozenset((
    "enter_space", "send_message", "read_messages", "search_messages", "explain_message", "get_my_runs", "stop_run",
    "absorb_run", "set_memories", "get_memories", "delete_memories", "set_goals", "delete_goals", "set_plans",
    "get_plans", "delete_plans", "peek_inbox", "skip", "recall_cycles", "route", "hand_over",
    "edit_message", "delete_message", "react", "pin_message", "unpin_message",
    "read_file", "send_files",
))  # fmt: skip


def _not_built_in(name: str) -> str:
    if name.casefold() in BUILT_IN_TOOLS:
        raise refusal("is the name of a built-in tool; choose another")
    return name


class _Tool(Wire):
    name: Annotated[Name, AfterValidator(_not_built_in)]
    description: Annotated[str, Field(max_length=4096)] = ""
    """Tells the model what the tool does and when to use it."""
    visible: bool = False
    """Show the call and its result as a message in the active space."""
    idempotent: bool = False
    """The call may be repeated if a crash left its outcome unknown."""


class HttpTool(_Tool):
    type: Literal["http"]
    input_schema: schemas.InputSchema = Field(default_factory=schemas.no_input)
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
    input_schema: Maybe[schemas.InputSchema] = None
    """Default: taken from the function's type hints."""
    execution: PythonExecution


def _without_secrets(schema: JsonObject) -> JsonObject:
    if at := _secret_in(schema):
        raise refusal("is not possible here: all members of the space see the answer; ask for secrets elsewhere", *at)
    return schema


def _secret_in(schema: JsonValue) -> Path:
    return next((at for at, value in walk(schema) if at[-1:] == ("writeOnly",) and value is True), ())


ResultSchema = Annotated[schemas.InputSchema, AfterValidator(_without_secrets)]
"""The fields of a form that people fill in."""


class SpaceExecution(Wire):
    timeout_seconds: Maybe[Annotated[int, Field(ge=1, le=MAX_TOOL_WAIT)]] = None
    """Default: the agent's `limits.toolWaitSeconds`."""
    options: Maybe[
        Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(min_length=1, max_length=50)]
    ] = None
    """`choice` only: the options, unless the call has its own `options`."""
    result_schema: Maybe[ResultSchema] = None
    """`form` only: the fields that people fill in. Default: those of `inputSchema`, prefilled by the model; without
    either, one text."""


class SpaceTool(_Tool):
    """Asks the people in the active space and waits for the first answer."""

    type: Literal["space"]
    input_schema: Maybe[schemas.InputSchema] = None
    """Default: a `question`, and for a `choice` also `options`."""
    ui: CardKind
    execution: SpaceExecution = SpaceExecution()

    @model_validator(mode="after")
    def _fits_its_ui(self) -> SpaceTool:
        if self.execution.options is not None and self.ui != "choice":
            raise refusal('is for ui "choice" only; remove it', "execution", "options")
        if self.execution.result_schema is not None and self.ui != "form":
            raise refusal('is for ui "form" only; remove it', "execution", "resultSchema")
        if self._is_its_own_form and (at := _secret_in(self.input_schema)):
            raise refusal("is not possible in a form: all members of the space see the answer", "inputSchema", *at)
        return self

    @property
    def model_schema(self) -> JsonObject:
        """The schema of the model's input."""
        if self.input_schema is None:
            return default_input(self.ui, self.execution.options is not None)
        return schemas.without_required(self.input_schema) if self._is_its_own_form else self.input_schema

    def answer_schema(self, given: Mapping[str, Any]) -> JsonObject | None:
        """The schema of the answer to a call with this input; None for a choice without options."""
        match self.ui:
            case "approval":
                return APPROVAL_ANSWER
            case "choice":
                options = given.get("options") or self.execution.options
                return choice_answer(options) if isinstance(options, list | tuple) else None
            case "form":
                return self.execution.result_schema or self.input_schema or TEXT_ANSWER

    @property
    def _is_its_own_form(self) -> bool:
        return self.ui == "form" and self.execution.result_schema is None and self.input_schema is not None


class StaticExecution(Wire):
    output: JsonValue


class StaticTool(_Tool):
    """Always returns the same output."""

    type: Literal["static"]
    input_schema: schemas.InputSchema = Field(default_factory=schemas.no_input)
    execution: StaticExecution


Tool = Annotated[HttpTool | PythonTool | SpaceTool | StaticTool, Field(discriminator="type")]


Tools = Annotated[tuple[Tool, ...], Field(max_length=128), AfterValidator(names_differ)]
