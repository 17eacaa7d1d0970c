"""Routes whose responses are described only when the OpenAPI document is asked for.

Handlers return finished responses, so the types of responses serve the document alone. FastAPI would build them at
import, for 1,300 responses, which took a third of the server's start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

Endpoint = Callable[..., Any]


class Route(APIRoute):
    def __init__(self, path: str, endpoint: Endpoint, **options: Any) -> None:
        super().__init__(path, endpoint, **(options | {"response_model": None, "responses": None}))
        self._options = options

    def described(self) -> APIRoute:
        """The same route with the types of its responses."""
        return APIRoute(self.path, self.endpoint, **self._options)


def new_router(tag: str, include_in_schema: bool = True) -> APIRouter:
    return APIRouter(
        tags=[tag], include_in_schema=include_in_schema, route_class=Route, generate_unique_id_function=_operation_id
    )


def _operation_id(route: APIRoute) -> str:
    """A stable name for SDKs, such as `messages_create`."""
    return f"{route.tags[0]}_{route.name}"
