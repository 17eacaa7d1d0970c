"""Shared types of the agent config: camelCase names, strict types, no unknown keys, immutable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from majlis.agents.config.problems import Path

JsonObject = dict[str, JsonValue]


def _title(name: str, _field: object) -> str:
    return name.replace("_", " ").capitalize()


class Wire(BaseModel):
    """Accepts only wire names: two spellings of one setting could contradict each other."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        field_title_generator=_title,
    )


T = TypeVar("T")
Maybe = Annotated[T | None, Field(exclude_if=partial(is_, None))]
"""Optional: null means the same as omitted, and the dumped config omits it."""


def refusal(message: str, *at: str | int) -> PydanticCustomError:
    """`message` continues the path ("limits.steps should be …"); `at` leads from the checked value to the problem."""
    return PydanticCustomError("refused", "{message}", {"message": message, "at": at})


def walk(value: JsonValue, *at: str | int) -> Iterator[tuple[Path, JsonValue]]:
    """The value and all values inside it, with their paths."""
    yield at, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from walk(child, *at, key)


def form_of(tags: dict[type, str], advice: str) -> Discriminator:
    """Chooses between the forms of a setting by the type of the value."""
    return Discriminator(
        lambda value: tags.get(type(value)), custom_error_type="unknown_form", custom_error_message=advice
    )


@dataclass(frozen=True)
class Matching:
    """A regular expression with advice: a bare pattern does not tell people what to write."""

    pattern: str
    advice: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), "pattern": f"^(?:{self.pattern})$"}

    def _check(self, text: str) -> str:
        if re.fullmatch(self.pattern, text, re.ASCII):
            return text
        raise refusal(self.advice)


Name = Annotated[
    str,
    Matching(
        r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}",
        "should start with a letter or _ and contain only letters, digits, _ and -, at most 64 characters",
    ),
]
"""The tool names that model providers accept."""


def names_differ(items: tuple[T, ...]) -> tuple[T, ...]:
    """Ignores case: people and models mix up names that differ only in case."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        name = item.name.casefold()  # type: ignore[attr-defined]
        if name in seen:
            raise refusal("is used twice (case is ignored); rename one", index, "name")
        seen.add(name)
    return items
