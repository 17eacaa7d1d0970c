"""The response to a chat completion: waits for the answer, and sends it whole or as chunks (D3).

The database is the truth; live events say when to read it again, and give the text that an agent is writing. Chunks
that were sent cannot be taken back: if the agent's text is withdrawn, the stream ends with an error, and the client's
next try gets the stored answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from majlis.api.bodies import reply
from majlis.api.error_responses import error_body, error_response
from majlis.conversations.answer import Answer, read_answer
from majlis.conversations.post import Turn
from majlis.entities.caller import Caller
from majlis.errors import MajlisError, Unavailable
from majlis.gateway import Gateway
from majlis.live.stream import Stream
from majlis.models.port import Usage
from majlis.spaces.access import unknown_space
from majlis.sse import EventParser, ServerEvent

BETWEEN = "\n\n"
_POLL_SECONDS = 10.0


class TakesLong(Unavailable):
    status = 504


async def open_completion(
    gateway: Gateway,
    caller: Caller,
    turn: Turn,
    seconds: float,
    streamed: bool,
    with_usage: bool,
    headers: dict[str, str],
) -> Completion:
    async def state() -> str:
        return orjson.dumps({"streams": gateway.hub.texts_in_progress([turn.space_id])}).decode()

    stream = await gateway.hub.open_space(caller, turn.space_id, None, state)
    if stream is None:
        raise unknown_space(turn.space_id)
    return Completion(gateway, stream, turn, seconds, streamed, with_usage, headers)


class Completion(Response):
    def __init__(
        self,
        gateway: Gateway,
        stream: Stream,
        turn: Turn,
        seconds: float,
        streamed: bool,
        with_usage: bool,
        headers: dict[str, str],
    ) -> None:
        self.background = None
        self._gateway = gateway
        self._stream = stream
        self._turn = turn
        self._seconds = seconds
        self._streamed = streamed
        self._with_usage = with_usage
        self._extra = headers
        self._drafts = Drafts(turn.model.id)
        self._changed = asyncio.Event()
        self._sent = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        tasks = [asyncio.create_task(self._listen()), asyncio.create_task(_disconnect(receive))]
        answering = asyncio.create_task(self._send_chunks(send) if self._streamed else self._send_whole(scope, send))
        try:
            await asyncio.wait({answering, tasks[1]}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._gateway.hub.leave(self._stream)
            for task in (*tasks, answering):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(asyncio.CancelledError):
            await answering

    async def _listen(self) -> None:
        parser = EventParser()
        async for chunk in self._stream.chunks():
            for event in parser.feed(chunk):
                self._drafts.hear(event)
            self._changed.set()
        self._changed.set()

    async def _answers(self) -> AsyncIterator[Answer]:
        """Yields the answer so far each time that it may have changed, until it is whole. Raises if there is none."""
        end = asyncio.get_running_loop().time() + self._seconds
        answer = Answer()
        while True:
            self._changed.clear()
            if self._drafts.stale:
                self._drafts.stale = False
                answer = await self._gateway.db.read(read_answer, self._turn)
            if answer.over and answer.error is not None:
                raise answer.error
            yield answer
            if answer.over:
                return
            if self._stream.closed:
                raise Unavailable(
                    "unavailable", "The connection to this conversation has ended. Send the request again."
                )
            left = end - asyncio.get_running_loop().time()
            if left <= 0:
                if self._turn.model.kind == "space":
                    return
                raise TakesLong(
                    "deadline",
                    f"{self._turn.model.name} is still working. Send the same request again to keep waiting.",
                )
            try:
                async with asyncio.timeout(min(left, _POLL_SECONDS)):
                    await self._changed.wait()
            except TimeoutError:
                self._drafts.stale = True

    async def _send_whole(self, scope: Scope, send: Send) -> None:
        try:
            async for answer in self._answers():
                last = answer
        except MajlisError as error:
            await error_response(error, scope["path"])(scope, _nothing, send)
            return
        message = {"role": "assistant", "content": BETWEEN.join(last.texts), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        body = {**self._head("chat.completion"), "choices": [choice], "usage": _usage(last.usage)}
        await reply(body, headers=self._extra)(scope, _nothing, send)

    async def _send_chunks(self, send: Send) -> None:
        headers = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no", **self._extra}
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        await send(self._chunk({"role": "assistant", "content": ""}))
        last = Answer()
        try:
            async for answer in self._answers():
                last = answer
                more = self._more(answer)
                await send(self._chunk({"content": more}) if more else _body(b": waiting\n\n"))
        except MajlisError as error:
            await send(_event(error_body(error, "/v1/")))
        except Exception:
            await send(
                _event(error_body(Unavailable("unavailable", "The answer was interrupted. Send it again."), "/v1/"))
            )
            raise
        else:
            await send(self._chunk({}, "stop"))
            if self._with_usage:
                await send(_event({**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(last.usage)}))
            await send(_body(b"data: [DONE]\n\n"))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _more(self, answer: Answer) -> str:
        """Returns the text that follows the chunks sent so far."""
        texts = list(answer.texts)
        if self._turn.model.streams and not answer.over:
            texts += self._drafts.next(answer)
        text = BETWEEN.join(texts)
        if not text.startswith(self._sent):
            if self._sent.startswith(text) and not answer.over:
                return ""
            raise Unavailable("withdrawn", "The agent withdrew what it was writing. Send the request again.")
        more, self._sent = text[len(self._sent) :], text
        return more

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> Message:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._with_usage else {}
        return _event({**self._head("chat.completion.chunk"), "choices": [choice], **usage})

    def _head(self, kind: str) -> dict[str, Any]:
        turn = self._turn
        made = {"id": f"chatcmpl-{turn.message_id}", "object": kind, "created": turn.created_at // 1000}
        return {**made, "model": turn.model.model}


class Drafts:
    """The texts that the agent is writing, by stream, from live events."""

    def __init__(self, agent_id: str) -> None:
        self.stale = True
        self._agent_id = agent_id
        self._texts: dict[str, str] = {}
        self._runs: dict[str, str] = {}

    def hear(self, event: ServerEvent) -> None:
        data = orjson.loads(event.data)
        match event.type:
            case "connected":
                for each in data["streams"]:
                    if each["agentId"] == self._agent_id:
                        self._texts[each["streamId"]] = each["text"]
            case "tool-call.start":
                if data["agentId"] == self._agent_id and data["toolName"] == "send_message":
                    self._texts.setdefault(data["streamId"], "")
                    self._runs[data["streamId"]] = data["runId"]
                    self.stale = True
            case "tool-input-delta":
                known = self._texts.get(data["streamId"])
                # After a lost part the text stops growing; the stored message has all of it.
                if known is not None and "textDelta" in data and data["offset"] <= len(known):
                    self._texts[data["streamId"]] = max(known, known[: data["offset"]] + data["textDelta"], key=len)
            case "tool-call.error":
                self._texts.pop(data["streamId"], None)
            case "tool-call.complete":
                pass
            case _:
                self.stale = True

    def next(self, answer: Answer) -> list[str]:
        """The text that follows the stored ones. Later ones wait until it is stored."""
        for stream_id, text in self._texts.items():
            if stream_id not in answer.stream_ids and self._runs.get(stream_id) in (None, answer.run_id):
                return [text] if text else []
        return []


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _event(data: dict[str, Any]) -> Message:
    return _body(b"data: " + orjson.dumps(data) + b"\n\n")


def _body(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }
