"""How routes are built: what the server does not need for its answers waits for the OpenAPI document."""

from __future__ import annotations

from typing import get_type_hints

from fastapi.routing import APIRoute
from starlette.responses import Response

from majlis.api.app import ROUTES, openapi_document
from majlis.api.route import Route


def test_every_handler_returns_a_finished_response() -> None:
    """So no route needs the type of its response to answer."""
    assert len(ROUTES) > 150
    for route in ROUTES:
        assert isinstance(route, APIRoute)
        assert issubclass(get_type_hints(route.endpoint)["return"], Response), route.path


def test_types_of_responses_are_built_with_the_document_only() -> None:
    openapi_document()
    ours = [route for route in ROUTES if isinstance(route, Route)]
    assert len(ours) == len(ROUTES)
    assert sum(len(route.described().response_fields) for route in ours) > 1000
    assert [route.path for route in ours if route.response_field or route.response_fields] == []
