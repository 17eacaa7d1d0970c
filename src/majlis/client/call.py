"""A call is described once, as a value, and sent by either client: `@call` makes a method of both out of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")
Method = Literal["GET", "POST", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """`T` is what the answer holds."""

    method: Method
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    # Sending it twice does what sending it once does, so a lost answer may be asked for again.
    repeatable: bool = False


class AsyncSender(ABC):
    @abstractmethod
    async def send(self, call: Call[T]) -> T: ...


class SyncSender(ABC):
    @abstractmethod
    def send(self, call: Call[T]) -> T: ...


class call(Generic[P, T]):  # noqa: N801 - read as a decorator
    """A method that is awaited on the async client and simply called on the sync one."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, client: AsyncSender, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: SyncSender, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: None, owner: type) -> Self: ...

    def __get__(self, client: AsyncSender | SyncSender | None, owner: type) -> Any:
        if client is None:
            return self

        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.send(self.describe(client, *args, **kwargs))

        return update_wrapper(method, self.describe)
