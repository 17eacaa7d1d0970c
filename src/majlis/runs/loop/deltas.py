"""Words on their way: what an agent writes with `send_message` reaches the space while it is being written (M15), and
so do the arguments of visible tools (J4).

Nothing else of the model's leaves. Deltas are ephemeral and sent at most 20 times a second for each stream; the stored
message carries the stream's id and is the truth.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import orjson

from majlis.models.port import CallDelta, CallStarted
from majlis.runs.calls.masks import holds_secrets, masked
from majlis.runs.loop.partial_text import PartialText
from majlis.store import ids

_EVERY_SECONDS = 0.05


class Channel(Protocol):
    """Where streams are heard: the hub of this process."""

    def publish_ephemeral(self, topic: str, type: str, data: dict[str, Any]) -> None: ...

    def stream_began(self, stream: SpokenStream) -> None: ...

    def stream_ended(self, stream: SpokenStream) -> None: ...


class CallStream(Protocol):
    """A call that people see while it is written."""

    @property
    def id(self) -> str: ...

    def complete(self, result: Any) -> None: ...

    def fail(self, error: str) -> None: ...


class SpokenStream:
    """One `send_message` being written into one space."""

    tool_name = "send_message"
    # Whoever connects in the middle is told what there is so far.
    told_again = True

    def __init__(self, channel: Channel, space_id: str, run_id: str, agent_id: str) -> None:
        self.id = ids.new("str")
        self.space_id = space_id
        self.run_id = run_id
        self.agent_id = agent_id
        self.text = ""
        self._sent = 0
        self._channel = channel
        self._partial = PartialText()
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._over = False
        self._tell_start()
        if self.told_again:
            channel.stream_began(self)

    def feed(self, arguments: str) -> None:
        self.text += self._shown(arguments)
        if self._timer is None and len(self.text) > self._sent and not self._over:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._last + _EVERY_SECONDS - loop.time())
            if wait:
                self._timer = loop.call_later(wait, self._flush)
            else:
                self._flush()

    def flush(self) -> None:
        """The call is written: what was held back goes out before the message is stored."""
        if self._timer is not None:
            self._timer.cancel()
        self._flush()

    def tell_again(self) -> None:
        """For somebody who has just connected elsewhere: the whole so far, from the beginning."""
        self._tell_start()
        self._tell("tool-input-delta", textDelta=self.text[: self._sent], offset=0)

    def complete(self, result: Any) -> None:
        if self._end():
            self._tell("tool-call.complete", result=result)

    def fail(self, error: str) -> None:
        """Whoever shows the partial text takes it away (J3)."""
        if self._end():
            self._tell("tool-call.error", error=error)

    def _flush(self) -> None:
        self._timer = None
        if self._over or len(self.text) <= self._sent:
            return
        self._last = asyncio.get_running_loop().time()
        offset, self._sent = self._sent, len(self.text)
        self._tell_more(self.text[offset:], offset)

    def _shown(self, arguments: str) -> str:
        return self._partial.feed(arguments)

    def _tell_more(self, text: str, offset: int) -> None:
        self._tell("tool-input-delta", textDelta=text, offset=offset)

    def _end(self) -> bool:
        if self._over:
            return False
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self.told_again:
            self._channel.stream_ended(self)
        return True

    def _tell_start(self) -> None:
        self._tell("tool-call.start", runId=self.run_id, agentId=self.agent_id, toolName=self.tool_name)

    def _tell(self, type: str, **data: Any) -> None:
        data = {"streamId": self.id, "spaceId": self.space_id, **data}
        self._channel.publish_ephemeral(self.space_id, type, data)


class ArgumentStream(SpokenStream):
    """One call of a visible tool being written: its arguments' JSON as it comes. Where some of it is secret, nothing is
    told until it is written, and then with the secrets masked."""

    # The message with the whole call follows within moments.
    told_again = False

    def __init__(self, name: str, schema: Mapping[str, Any], *where: Any) -> None:
        self.tool_name = name
        self._schema = schema if holds_secrets(schema) else None
        self._held = ""
        super().__init__(*where)

    def flush(self) -> None:
        if self._schema is not None and self._held:
            held, self._held = self._held, ""
            self.text += orjson.dumps(masked(self._schema, _parsed(held))).decode()
        super().flush()

    def _shown(self, arguments: str) -> str:
        if self._schema is None:
            return arguments
        self._held += arguments
        return ""

    def _tell_more(self, text: str, offset: int) -> None:
        self._tell("tool-input-delta", argsDelta=text, offset=offset)


class Speaking:
    """The streams of one answer: a call is shown in the space that is active when it will be made. `streamed` knows the
    visible tools, with the schemas of their input."""

    def __init__(
        self,
        channel: Channel,
        space_id: str | None,
        run_id: str,
        agent_id: str,
        streamed: Callable[[str], Mapping[str, Any] | None] = lambda name: None,
    ) -> None:
        self._channel = channel
        self._space_id = space_id
        self._run_id = run_id
        self._agent_id = agent_id
        self._streamed = streamed
        self._streams: dict[int, SpokenStream] = {}

    def hear(self, event: CallStarted | CallDelta) -> None:
        match event:
            case CallStarted(name="send_message", index=index) if self._space_id is not None:
                self._streams[index] = SpokenStream(self._channel, self._space_id, self._run_id, self._agent_id)
            case CallStarted(name="enter_space"):
                # What follows in this answer is said elsewhere, if the agent may go there: it is not streamed.
                self._space_id = None
            case CallStarted(name=name, index=index) if self._space_id is not None:
                schema = self._streamed(name)
                if schema is not None:
                    where = self._channel, self._space_id, self._run_id, self._agent_id
                    self._streams[index] = ArgumentStream(name, schema, *where)
            case CallDelta(index=index) if index in self._streams:
                self._streams[index].feed(event.arguments)

    def of(self, index: int) -> SpokenStream | None:
        return self._streams.get(index)

    def flush(self) -> None:
        for stream in self._streams.values():
            stream.flush()

    def leave(self, space_id: str) -> None:
        """The agent is no member any more: what it was saying there ends at once (A7)."""
        for stream in self._streams.values():
            if stream.space_id == space_id:
                stream.fail("The agent is no longer a member of this space.")
        if self._space_id == space_id:
            self._space_id = None

    def fail(self, error: str) -> None:
        for stream in self._streams.values():
            stream.fail(error)


def _parsed(arguments: str) -> Any:
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments
