"""A model whose responses a test writes: a streaming Chat Completions server over real HTTP on 127.0.0.1.

It has its own HTTP code, so that a test can hold back or break a response, or see that the client went away.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any

from tests.conditions import PATIENCE_SECONDS

FILLER_SECONDS = 0.05


@dataclass
class Asked:
    """A request; `n` counts the server's requests from 0."""

    body: dict[str, Any]
    n: int
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @cached_property
    def text(self) -> str:
        return "\n".join(_text(message) for message in self.messages)

    @property
    def system(self) -> str:
        return "\n".join(_text(message) for message in self.messages if message["role"] in ("system", "developer"))

    @property
    def last(self) -> dict[str, Any]:
        return self.messages[-1]

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]

    @property
    def agent(self) -> str:
        found = re.search(r'^IDENTITY:\n(?:  .*\n)*?  name: (".*")$', self.text, re.MULTILINE)
        return str(json.loads(found[1])) if found else ""

    @property
    def trigger_text(self) -> str:
        """The text of the message that triggered the run; empty for plans and services."""
        found = re.search(r"^TRIGGER:\n(?:  .*\n)*?  message: ", self.text, re.MULTILINE)
        return str(json.JSONDecoder().raw_decode(self.text, found.end())[0]) if found else ""

    @property
    def results(self) -> list[Any]:
        """The tool results of this invocation so far."""
        return [json.loads(_text(message)) for message in self.messages if message["role"] == "tool"]

    @property
    def step(self) -> int:
        """0 for the first request of an invocation. Earlier messages of the agent are assistant turns without calls. A
        message that was held does not count, so that a script sends it again (E8)."""
        held = [each for each in self.results if isinstance(each, dict) and each.get("status") == "held"]
        return sum("tool_calls" in message for message in self.messages) - len(held)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@dataclass
class Reply:
    """`usage` is (input, cached, output). If the status is not 200, `text` is the error message."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    usage: tuple[int, int, int] = (100, 0, 10)
    # The response waits for it before its first byte / after half of its pieces.
    gate: asyncio.Event | None = None
    gate_mid: asyncio.Event | None = None
    # Added to the last call's arguments again and again, until `gate_mid` is set.
    filler: str = ""
    # `raw` replaces the body; `hang_up` closes the connection before its end (at `gate_mid`, if there is one).
    raw: bytes | None = None
    hang_up: bool = False
    error_code: str | None = None
    # The length of a streamed piece in characters.
    piece: int = 12


def say(text: str, **more: Any) -> Reply:
    return call("send_message", text=text, **more)


def call(name: str, **arguments: Any) -> Reply:
    return calls((name, arguments))


def calls(*pairs: tuple[str, dict[str, Any]]) -> Reply:
    return Reply(calls=list(pairs))


def silent(text: str = "") -> Reply:
    """No call, so the run ends."""
    return Reply(text=text)


Script = Callable[[Asked], Reply | Awaitable[Reply]]
Part = Script | Reply | Sequence[Reply | Script]


def sequence(*parts: Reply | Script) -> Script:
    """Replies in this order, for any agent; then silence."""
    rest = iter(parts)

    def next_part(asked: Asked) -> Reply | Awaitable[Reply]:
        part = next(rest, None) or silent()
        return part if isinstance(part, Reply) else part(asked)

    return next_part


def by_agent(parts: Mapping[str, Part]) -> Script:
    """A part for each agent; the others stay silent."""
    scripts = {name: _script(part) for name, part in parts.items()}

    def dispatch(asked: Asked) -> Reply | Awaitable[Reply]:
        return scripts[asked.agent](asked) if asked.agent in scripts else silent()

    return dispatch


def _script(part: Part) -> Script:
    if isinstance(part, Reply):
        return sequence(part)
    return part if callable(part) else sequence(*part)


class ModelServer:
    """If a script raises, the response is a 500, and leaving the server's context raises the exception again."""

    def __init__(self, script: Script | None = None, host: str = "127.0.0.1") -> None:
        self._host = host
        self.script: Script = script or sequence()
        self.asked: list[Asked] = []
        self.open_requests = 0
        self.connections = 0
        self.failures: list[Exception] = []
        self.base_url = ""
        # The list of models, the headers of those who asked for it, and the key that every request needs.
        self.offers = ["scripted"]
        # How many tokens a request may have, as the list says. None: it does not say.
        self.context: int | None = 32_000
        self.looks: list[dict[str, str]] = []
        self.key: str | None = None
        self.redirect: str | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()
        self._changed = asyncio.Event()

    @property
    def model(self) -> dict[str, Any]:
        """For an agent's config."""
        return {"provider": "openai", "name": "scripted", "baseUrl": self.base_url}

    async def start(self) -> None:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Connection(self), self._host, 0)
        self.base_url = f"http://{self._host}:{self._server.sockets[0].getsockname()[1]}/v1"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._connections):
            connection.abort()
        await self._server.wait_closed()

    async def __aenter__(self) -> ModelServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if self.failures:
            raise self.failures[0]

    async def until_asked(self, n: int) -> None:
        """Waits for the n-th request since the start."""
        await self._until(lambda: len(self.asked) >= n)

    async def until_open(self, n: int) -> None:
        """Waits until exactly n requests are open; 0 shows that an aborted one is gone."""
        await self._until(lambda: self.open_requests == n)

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def reply_to(self, asked: Asked) -> Reply:
        try:
            reply = self.script(asked)
            return reply if isinstance(reply, Reply) else await reply
        except Exception as failure:
            self.failures.append(failure)
            return Reply(status=500, text=f"the test's script failed: {failure!r}")

    def changed(self) -> None:
        self._changed.set()

    def joined(self, connection: _Connection) -> None:
        self.connections += 1
        self._connections.add(connection)

    def left(self, connection: _Connection) -> None:
        self._connections.discard(connection)


class _Connection(asyncio.Protocol):
    """A kept-alive connection with one request at a time, like Chat Completions clients."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._received = b""
        self._answering: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.joined(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.left(self)
        if self._answering is not None:
            self._answering.cancel()

    def abort(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self._received = rest[length:]
        self._answering = asyncio.get_running_loop().create_task(self._answer(lines[0], headers, rest[:length]))

    async def _answer(self, request_line: str, headers: dict[str, str], body: bytes) -> None:
        self._server.open_requests += 1
        try:
            if request_line.split()[:2] == ["GET", "/v1/models"]:
                self._server.looks.append(headers)
            if self._server.key is not None and headers.get("authorization") != f"Bearer {self._server.key}":
                await self._send(Reply(status=401, text="Incorrect API key provided", error_code="invalid_api_key"))
            elif request_line.split()[:2] == ["GET", "/v1/models"]:
                if self._server.redirect is not None:
                    await self._send(Reply(status=302, headers={"Location": self._server.redirect}))
                    return
                size = {"max_model_len": self._server.context} if self._server.context is not None else {}
                offers = [{"id": name, "object": "model", **size} for name in self._server.offers]
                await self._send(Reply(raw=json.dumps({"object": "list", "data": offers}).encode()))
            elif request_line.split()[:2] in (["POST", "/v1/chat/completions"], ["POST", "/v1/messages"]):
                asked = Asked(json.loads(body), len(self._server.asked), headers)
                self._server.asked.append(asked)
                self._server.changed()
                await self._send(await self._server.reply_to(asked))
            else:
                await self._send(Reply(status=404, text=f"there is no {request_line}"))
        finally:
            self._server.open_requests -= 1
            self._server.changed()

    async def _send(self, reply: Reply) -> None:
        if reply.gate is not None:
            await reply.gate.wait()
        kind = "text/event-stream" if reply.status == 200 else "application/json"
        headers = {"Content-Type": kind, "Transfer-Encoding": "chunked", **reply.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._transport.write(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode())
        first, second = _body(reply)
        self._chunk(first)
        if reply.gate_mid is not None:
            await self._hold(reply, reply.gate_mid)
        if reply.gate_mid is None or not reply.hang_up:
            self._chunk(second)
        if reply.hang_up:
            self._transport.close()
        else:
            self._transport.write(b"0\r\n\r\n")

    async def _hold(self, reply: Reply, gate: asyncio.Event) -> None:
        while reply.filler and not gate.is_set():
            call = {"index": len(reply.calls) - 1, "function": {"arguments": reply.filler}}
            self._chunk(_event(_choice({"tool_calls": [call]})))
            with suppress(TimeoutError):
                await asyncio.wait_for(gate.wait(), FILLER_SECONDS)
        await gate.wait()

    def _chunk(self, data: bytes) -> None:
        if data:
            self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))


def _body(reply: Reply) -> tuple[bytes, bytes]:
    """In two halves, with the gate between them."""
    if reply.raw is not None:
        return reply.raw[: len(reply.raw) // 2], reply.raw[len(reply.raw) // 2 :]
    if reply.status != 200:
        error = {"message": reply.text or "scripted refusal", "type": "scripted", "code": reply.error_code}
        return json.dumps({"error": error}).encode(), b""
    deltas = [_event(_choice(delta)) for delta in _deltas(reply)]
    half = (len(deltas) + 1) // 2
    ending = [_event(_choice({}, "tool_calls" if reply.calls else "stop")), _event(_usage(reply)), b"data: [DONE]\n\n"]
    return b"".join(deltas[:half]), b"".join(deltas[half:] + ending)


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if reply.calls else ""}
    for piece in _pieces(reply.text, reply.piece):
        yield {"content": piece}
    for index, (name, arguments) in enumerate(reply.calls):
        function = {"name": name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": _call_id(), "type": "function", "function": function}]}
        for piece in _pieces(json.dumps(arguments, ensure_ascii=False), reply.piece):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


_call_numbers = iter(range(1, 1_000_000_000))


def _call_id() -> str:
    return f"call_{next(_call_numbers)}"


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _usage(reply: Reply) -> dict[str, Any]:
    input, cached, output = reply.usage
    counts = {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}
    return {"choices": [], "usage": {**counts, "prompt_tokens_details": {"cached_tokens": cached}}}


def _event(more: dict[str, Any]) -> bytes:
    chunk = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **more}
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"
