"""The base of the built-in tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ValidationError

from majlis.agents.own_rows import MODEL_INPUT
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.engine import Engine
from majlis.runs.run import Run
from majlis.store.transactions import Tx
from majlis.tools.json_schema import input_error, schema_of


class Input(BaseModel):
    model_config = MODEL_INPUT


class Ids(Input):
    ids: list[str]


Call = Callable[[Tx, CallContext, Any], ToolResult]
Load = Callable[[Engine, Run, Any], Awaitable[Any]]


@dataclass(frozen=True)
class BuiltIn:
    """`call` runs in the transaction that journals it (J2). A MajlisError becomes the error result, so its message
    tells the model what to do."""

    name: str
    description: str
    input: type[Input]
    call: Call
    outside: Literal[False] = False
    own: bool = False
    visible: bool = False
    # Reads what the call needs from outside the database, before its transaction.
    load: Load | None = None

    async def loaded(self, engine: Engine, run: Run, input: Any) -> Any:
        return input if self.load is None else await self.load(engine, run, input)

    def parse(self, arguments: str) -> Input:
        try:
            return self.input.model_validate_json(arguments or "{}")
        except ValidationError as error:
            raise input_error(self.name, error) from None

    @cached_property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, schema_of(self.input))


def built_in(
    description: str, name: str | None = None, input: type[Input] | None = None, load: Load | None = None
) -> Callable[[Call], BuiltIn]:
    """Makes a tool from a function, named like it unless `name` is given. The type of its `input` is the input model,
    unless `load` makes something else of the input."""

    def decorate(call: Call) -> BuiltIn:
        return BuiltIn(name or call.__name__, description, input or get_type_hints(call)["input"], call, load=load)

    return decorate
