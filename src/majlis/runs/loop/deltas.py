"""Streams calls to the space while the model writes them: the text of `send_message` (M15), and the arguments of
visible tools (J4). Nothing else that the model writes is streamed.

Deltas are ephemeral, at most 20 a second per stream. The stored message carries the stream's id and replaces them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import orjson
from pydantic_core import from_json

from majlis.models.port import CallDelta, CallStarted, TextDelta
from majlis.runs.calls.masks import holds_secrets, masked
from majlis.store import ids

_EVERY_SECONDS = 0.05
# The place of the text among the streams of an answer; calls count from 0.
_TEXT = -1
# Half of a surrogate pair, which JSON parsers refuse. Escaped backslashes and whole pairs are matched first, and kept.
_LONE_SURROGATE = re.compile(r"(\\\\|\\ud[89ab]..\\ud[c-f]..)|\\ud[89a-f]..", re.IGNORECASE)


class Channel(Protocol):
    """The hub of this process, which sends deltas to clients."""

    def publish_ephemeral(self, topic: str, type: str, data: dict[str, Any]) -> None: ...

    def watch(self, topic: str, heard: Callable[[bytes], None]) -> Callable[[], None]:
        """Calls `heard` with the events of the topic, and of others, until the returned function is called."""
        ...

    def stream_began(self, stream: SpokenStream) -> None: ...

    def stream_ended(self, stream: SpokenStream) -> None: ...


class CallStream(Protocol):
    """A call that is streamed while the model writes it."""

    @property
    def id(self) -> str | None: ...

    def complete(self, result: Any) -> None: ...

    def fail(self, error: str) -> None: ...


class Unstreamed:
    """A call that is not streamed."""

    id = None

    def complete(self, result: Any) -> None: ...

    def fail(self, error: str) -> None: ...


class SpokenStream:
    """One `send_message` being written into one space."""

    tool_name = "send_message"
    # Clients that connect later get the text so far.
    repeatable = True

    def __init__(self, channel: Channel, space_id: str, run_id: str, agent_id: str) -> None:
        self.id = ids.new("str")
        self.space_id = space_id
        self.run_id = run_id
        self.agent_id = agent_id
        self.text = ""
        self._arguments = ""
        self._sent = 0
        self._channel = channel
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._over = False
        self._tell_start()
        if self.repeatable:
            channel.stream_began(self)

    @property
    def is_open(self) -> bool:
        return not self._over

    def feed(self, arguments: str) -> None:
        self._arguments += arguments
        if self._timer is None and not self._over:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._last + _EVERY_SECONDS - loop.time())
            if wait:
                self._timer = loop.call_later(wait, self._flush)
            else:
                self._flush()

    def flush(self) -> None:
        """The call is complete: send the rest before the message is stored."""
        if self._timer is not None:
            self._timer.cancel()
        self._flush()

    def tell_again(self) -> None:
        """The whole text so far, for a client that has just connected to another node."""
        self._tell_start()
        self._tell("tool-input-delta", textDelta=self.text[: self._sent], offset=0)

    def complete(self, result: Any) -> None:
        if self._end():
            self._tell("tool-call.complete", result=result)

    def fail(self, error: str) -> None:
        """Clients remove the partial text (J3)."""
        if self._end():
            self._tell("tool-call.error", error=error)

    def _flush(self) -> None:
        self._timer = None
        if self._over:
            return
        self.text = self._visible_text()
        if len(self.text) <= self._sent:
            return
        self._last = asyncio.get_running_loop().time()
        offset, self._sent = self._sent, len(self.text)
        self._tell_more(self.text[offset:], offset)

    def _visible_text(self) -> str:
        """The part of the arguments that may be shown so far. It only ever grows."""
        text = _partial_object(self._arguments).get("text")
        return text if isinstance(text, str) and len(text) > len(self.text) else self.text

    def _tell_more(self, text: str, offset: int) -> None:
        self._tell("tool-input-delta", textDelta=text, offset=offset)

    def _end(self) -> bool:
        if self._over:
            return False
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self.repeatable:
            self._channel.stream_ended(self)
        return True

    def _tell_start(self) -> None:
        self._tell("tool-call.start", runId=self.run_id, agentId=self.agent_id, toolName=self.tool_name)

    def _tell(self, type: str, **data: Any) -> None:
        data = {"streamId": self.id, "spaceId": self.space_id, **data}
        self._channel.publish_ephemeral(self.space_id, type, data)


UNSTREAMED = Unstreamed()


class TextStream(SpokenStream):
    """The text of an agent that speaks by text (E10)."""

    def _visible_text(self) -> str:
        return self._arguments


class ArgumentStream(SpokenStream):
    """One call of a visible tool: its arguments as JSON. If they contain secrets, they are sent only when complete,
    with the secrets masked."""

    # The message with the whole call follows at once.
    repeatable = False

    def __init__(self, name: str, schema: Mapping[str, Any], *where: Any) -> None:
        self.tool_name = name
        self._schema = schema if holds_secrets(schema) else None
        self._complete = False
        super().__init__(*where)

    def flush(self) -> None:
        self._complete = True
        super().flush()

    def _visible_text(self) -> str:
        if self._schema is None:
            return self._arguments
        if not self._complete or not self._arguments:
            return ""
        return orjson.dumps(masked(self._schema, _parsed(self._arguments))).decode()

    def _tell_more(self, text: str, offset: int) -> None:
        self._tell("tool-input-delta", argsDelta=text, offset=offset)


class Deltas:
    """The streams of one answer. A call is streamed to the space that will be active when it is made. `streamed` gives
    the input schema of visible tools."""

    def __init__(
        self,
        channel: Channel,
        space_id: str | None,
        run_id: str,
        agent_id: str,
        streamed: Callable[[str], Mapping[str, Any] | None] = lambda name: None,
        speaks: bool = False,
        silent: bool = False,
    ) -> None:
        self._channel = channel
        self._space_id = space_id
        self._run_id = run_id
        self._agent_id = agent_id
        self._streamed = streamed
        # The text is streamed too, until the model calls a tool (E10).
        self._speaks = speaks
        # No further message of this answer is streamed.
        self._silent = silent
        self._streams: dict[int, SpokenStream] = {}

    def hear(self, event: TextDelta | CallStarted | CallDelta) -> None:
        if isinstance(event, CallStarted) and self._speaks:
            self._speaks = False
            self.of(_TEXT).fail("The agent called a tool.")
        match event:
            case TextDelta(text=text) if self._speaks and self._space_id is not None and not self._silent:
                if _TEXT not in self._streams:
                    self._streams[_TEXT] = TextStream(self._channel, self._space_id, self._run_id, self._agent_id)
                self._streams[_TEXT].feed(text)
            case CallStarted(name="send_message", index=index) if self._space_id is not None and not self._silent:
                self._streams[index] = SpokenStream(self._channel, self._space_id, self._run_id, self._agent_id)
            case CallStarted(name="enter_space"):
                # The rest of this answer goes to another space, if the agent may enter it: it is not streamed.
                self._space_id = None
            case CallStarted(name=name, index=index) if self._space_id is not None and name != "send_message":
                schema = self._streamed(name)
                if schema is not None:
                    where = self._channel, self._space_id, self._run_id, self._agent_id
                    self._streams[index] = ArgumentStream(name, schema, *where)
            case CallDelta(index=index) if index in self._streams:
                self._streams[index].feed(event.arguments)

    def text(self) -> CallStream:
        return self.of(_TEXT)

    def of(self, index: int) -> CallStream:
        return self._streams.get(index, UNSTREAMED)

    def flush(self) -> None:
        for stream in self._streams.values():
            stream.flush()

    def being_said(self) -> SpokenStream | None:
        """The message that is being written, with what may be shown of it."""
        for stream in self._streams.values():
            if stream.repeatable and stream.is_open:
                stream.flush()
                if stream.text.strip():
                    return stream
        return None

    def withdraw(self, reason: str) -> None:
        """Ends the streams of messages that have become stale: of those being written, and of those that follow in this
        answer (E8)."""
        self._silent = True
        for stream in self._streams.values():
            if stream.repeatable:
                stream.fail(reason)

    def leave(self, space_id: str) -> None:
        """Ends the streams in a space that the agent is no longer a member of (A7)."""
        for stream in self._streams.values():
            if stream.space_id == space_id:
                stream.fail("The agent is no longer a member of this space.")
        if self._space_id == space_id:
            self._space_id = None

    def fail(self, error: str) -> None:
        for stream in self._streams.values():
            stream.fail(error)


def _partial_object(arguments: str) -> dict[str, Any]:
    try:
        try:
            found = from_json(arguments, allow_partial="trailing-strings")
        except ValueError:
            found = from_json(_LONE_SURROGATE.sub(r"\1", arguments), allow_partial="trailing-strings")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _parsed(arguments: str) -> Any:
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments
