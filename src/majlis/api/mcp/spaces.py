"""`list_spaces`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from majlis.api.bodies import Body, IdText
from majlis.api.mcp.tool import Call, Tool
from majlis.spaces.queries import list_spaces
from majlis.spaces.shapes import SpaceJson


class ListSpaces(Body):
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    after: IdText | None = Field(default=None, description="The id of the last space of the previous page.")


class SpacesJson(TypedDict):
    spaces: list[SpaceJson]
    hasMore: bool


async def _list_spaces(call: Call, input: ListSpaces) -> SpacesJson:
    found = await call.entry.snapshot(list_spaces, input.limit + 1, input.after)
    return {"spaces": found[: input.limit], "hasMore": len(found) > input.limit}


LIST_SPACES = Tool(
    "list_spaces",
    "List spaces",
    "List the spaces that you are a member of, the most recently active first, with their members, your unread count "
    "and the last message.",
    ("read",),
    ListSpaces,
    SpacesJson,
    _list_spaces,
    reads_only=True,
)
