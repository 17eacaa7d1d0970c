"""The base of the built-in tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ValidationError

from majlis.agents.own_rows import MODEL_INPUT
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.json_schema import input_error, schema_of


class Input(BaseModel):
    model_config = MODEL_INPUT


class Ids(Input):
    ids: list[str]


Call = Callable[[Tx, CallContext, Any], ToolResult]


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

    def parse(self, arguments: str) -> Input:
        try:
            return self.input.model_validate_json(arguments or "{}")
        except ValidationError as error:
            raise input_error(self.name, error) from None

    @cached_property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, schema_of(self.input))


def built_in(description: str, name: str | None = None) -> Callable[[Call], BuiltIn]:
    """Makes a tool from a function, named like it unless `name` is given. The type of `input` is the input model."""

    def decorate(call: Call) -> BuiltIn:
        return BuiltIn(name or call.__name__, description, get_type_hints(call)["input"], call)

    return decorate
