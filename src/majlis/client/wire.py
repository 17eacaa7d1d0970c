"""API calls as values. `@call` turns a function that returns a `Call` into a method of both clients."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, overload
from urllib.parse import quote

from majlis.errors import NotFound

if TYPE_CHECKING:
    from majlis.client.clients import MajlisClient, SyncMajlisClient

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """`T` is the type of the response."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    # Sending it twice has the same effect as sending it once, so it is retried after a lost response.
    repeatable: bool = False
    # Name and content of a file to upload.
    file: tuple[str, bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # The response is not JSON.
    binary: bool = False
    # How long the server may take to respond by design.
    waits_seconds: float = 0


class call(Generic[P, T]):  # noqa: N801 - used as a decorator
    """A coroutine method on the async client, a plain method on the sync client."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, client: MajlisClient, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: SyncMajlisClient, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Self: ...

    def __get__(self, client: MajlisClient | SyncMajlisClient | None, owner: type) -> Any:
        if client is None:
            return self

        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.send(self.describe(client, *args, **kwargs))

        return update_wrapper(method, self.describe)


def get(*path: str, **query: str | int | None) -> Call[Any]:
    given = {_camel(name): value for name, value in query.items() if value is not None}
    return Call("GET", at(*path), given, repeatable=True)


def post(*path: str, body: Mapping[str, object] | None = None, repeatable: bool = False) -> Call[Any]:
    return Call("POST", at(*path), body=body, repeatable=repeatable)


def patch(*path: str, body: Mapping[str, object]) -> Call[Any]:
    return Call("PATCH", at(*path), body=body)


def put(*path: str, body: Mapping[str, object]) -> Call[Any]:
    return Call("PUT", at(*path), body=body)


def delete(*path: str) -> Call[Any]:
    return Call("DELETE", at(*path))


def at(*parts: str) -> str:
    """`/api/spaces/spc_1/messages`, with every part escaped."""
    if not {"", ".", ".."}.isdisjoint(parts):
        raise NotFound("not_found", "There is nothing with this id.")
    return "/".join(["/api", *(quote(part, safe="", errors="replace") for part in parts)])


def given(**fields: object) -> dict[str, object]:
    """The fields that are not None, in camelCase."""
    return camel({name: value for name, value in fields.items() if value is not None})


def camel(fields: Mapping[str, object]) -> dict[str, object]:
    return {_camel(name): value for name, value in fields.items()}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
