"""What a built-in tool is: a name, words for the model, the shape of its input, and one function in a transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from majlis.errors import Invalid
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.schema import schema_of


class Input(BaseModel):
    """What a model may give. Unknown keys are refused, so that a misunderstanding is noticed instead of ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )


@dataclass(frozen=True)
class BuiltIn:
    """`call` runs inside the transaction that also journals it: effect and record are one (J2). It may raise a
    MajlisError, whose message is the error result and must tell the model what to do."""

    name: str
    description: str
    input: type[Input]
    call: Callable[[Tx, Acting, Any], ToolResult]
    outside: Literal[False] = False
    own: bool = False
    visible: bool = False

    def parse(self, arguments: str) -> Input:
        try:
            return self.input.model_validate_json(arguments or "{}")
        except ValidationError as error:
            raise unfit_input(self.name, error) from None

    @cached_property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, schema_of(self.input))


def unfit_input(name: str, error: ValidationError) -> Invalid:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    listed = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'input'}: {each['msg']}" for each in problems[:5])
    return Invalid("invalid_input", f"{name} was not called: its input does not fit ({listed}). Call it again, mended.")
