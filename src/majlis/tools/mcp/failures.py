"""How a call can fail, for who must not import the `mcp` package to know."""

from __future__ import annotations

from majlis.errors import MajlisError


class NotCalled(MajlisError):
    """The server did not know this connection any more: the call was not made, and may be made over a new one."""
