"""A tool of `/mcp`: its input and output as types, the scopes it needs, and the function that runs it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from majlis.api.auth import Entry
from majlis.api.bodies import Body
from majlis.entities.scopes import Scope
from majlis.gateway import Gateway
from majlis.tools.json_schema import input_error, schema_of

REPORT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Call:
    """`entry` needs the scopes of the tool."""

    gateway: Gateway
    entry: Entry
    # Seconds so far, and at most.
    progress: Callable[[float, float], Awaitable[None]]

    def goes_on(self, seconds: float) -> Callable[[], Awaitable[bool]]:
        """For loops that check whether the client has disconnected. That would cancel the call, so this only reports
        progress."""
        began = time.monotonic()
        next_report = began

        async def is_gone() -> bool:
            nonlocal next_report
            now = time.monotonic()
            if now >= next_report:
                next_report = now + REPORT_SECONDS
                await self.progress(min(now - began, seconds), seconds)
            return False

        return is_gone


@dataclass(frozen=True, slots=True)
class Picture:
    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A result with a picture for models that can see."""

    result: Mapping[str, Any]
    picture: Picture


Run = Callable[[Call, Any], Awaitable[Mapping[str, Any] | Shown]]


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    description: str
    needs: tuple[Scope, ...]
    input: type[Body]
    output: Any
    run: Run
    # Hints for clients.
    reads_only: bool = False
    destroys: bool = False
    is_idempotent: bool = field(default=False)

    def parse(self, arguments: Mapping[str, Any]) -> BaseModel:
        try:
            return self.input.model_validate(arguments)
        except ValidationError as error:
            raise input_error(self.name, error) from None

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return schema_of(self.input)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        found: dict[str, Any] = _untitled(TypeAdapter(self.output).json_schema(mode="serialization"))
        return found


def _untitled(schema: Any) -> Any:
    """The schema without the titles that are made of names. A property may be called `title`."""
    if isinstance(schema, list):
        return [_untitled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    return {key: _untitled(value) for key, value in kept.items()}
