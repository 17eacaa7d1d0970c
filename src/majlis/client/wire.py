"""How calls are put into words: paths, queries and bodies as the server reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from majlis.client.call import Call
from majlis.errors import NotFound


def get(path: str, **query: str | int | None) -> Call[Any]:
    asked = {_camel(name): value for name, value in query.items() if value is not None}
    return Call("GET", path, asked, repeatable=True)


def post(path: str, body: Mapping[str, object] | None = None, repeatable: bool = False) -> Call[Any]:
    return Call("POST", path, body=body, repeatable=repeatable)


def patch(path: str, body: Mapping[str, object]) -> Call[Any]:
    return Call("PATCH", path, body=body)


def delete(path: str) -> Call[Any]:
    return Call("DELETE", path)


def at(*parts: str) -> str:
    """`/api/spaces/spc_1/messages`, whatever characters an id came with."""
    if not {"", ".", ".."}.isdisjoint(parts):
        raise NotFound("not_found", "There is nothing with this id.")
    return "/".join(["/api", *(quote(part, safe="", errors="replace") for part in parts)])


def given(**fields: object) -> dict[str, object]:
    """The fields that are not None, under their names on the wire."""
    return camel({name: value for name, value in fields.items() if value is not None})


def camel(fields: Mapping[str, object]) -> dict[str, object]:
    return {_camel(name): value for name, value in fields.items()}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
