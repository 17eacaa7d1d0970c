"""All tools of `/mcp`, in the order in which clients list them."""

from __future__ import annotations

from majlis.api.mcp.cards import ANSWER_CARD, ASK_PEOPLE
from majlis.api.mcp.files import READ_FILE
from majlis.api.mcp.messages import REACT, READ_MESSAGES, SEARCH_MESSAGES, SEND_MESSAGE
from majlis.api.mcp.outside_events import RENEW_EVENT, SETTLE_EVENT, TAKE_EVENTS
from majlis.api.mcp.spaces import LIST_SPACES
from majlis.api.mcp.tool import Tool
from majlis.api.mcp.wait_for_messages import WAIT_FOR_MESSAGES

_ALL = (
    LIST_SPACES,
    READ_MESSAGES,
    SEARCH_MESSAGES,
    SEND_MESSAGE,
    WAIT_FOR_MESSAGES,
    REACT,
    READ_FILE,
    ASK_PEOPLE,
    ANSWER_CARD,
    TAKE_EVENTS,
    RENEW_EVENT,
    SETTLE_EVENT,
)
TOOLS: dict[str, Tool] = {tool.name: tool for tool in _ALL}
