"""An `http` tool: its input becomes a request, and the answer a result that a model can read."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, Literal

import orjson

from majlis.agents.config.tools import HttpTool
from majlis.errors import MajlisError, Unavailable
from majlis.runs.calls.result import plain
from majlis.tool_decorator import ToolContext
from majlis.tools.http.exchange import Answered, Exchange
from majlis.tools.http.fill import Filling
from majlis.tools.http.request import compose
from majlis.tools.json_schema import parse_input
from majlis.tools.reach.secrets import Secrets

_SHOWN_OF_AN_ERROR = 1000
_TEXTS = ("text/", "application/json", "application/xml", "application/yaml", "application/x-ndjson")

_CHARSETS = ("utf-8", "utf-16", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252", "windows-1256", "shift_jis")


class Http:
    outside: Literal[True] = True

    def __init__(self, config: HttpTool, exchange: Exchange, secrets: Secrets) -> None:
        self.name = config.name
        self.visible = config.visible
        self.idempotent = config.idempotent
        self._config = config
        self._exchange = exchange
        self._secrets = secrets

    def parse(self, arguments: str) -> Any:
        return parse_input(self.name, self._config.input_schema, arguments)

    async def act(self, context: ToolContext, input: Any) -> Any:
        seconds = self._config.execution.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return self._result(await self._answered(context, input))
        except TimeoutError:
            raise Unavailable(
                "timeout",
                f"{self.name} gave no whole answer within {seconds} seconds. Whether it had an effect is not known.",
            ) from None

    async def _answered(self, context: ToolContext, input: Any) -> Answered:
        execution = self._config.execution
        try:
            outgoing = compose(execution, Filling(input, self._secrets), context.idempotency_key)
            return await self._exchange.send(outgoing, execution.max_bytes)
        except MajlisError as error:
            message = self._secrets.mask(f"{self.name} failed: {error.message}")
            raise MajlisError(error.code, message) from None

    def _result(self, answered: Answered) -> dict[str, Any]:
        status, body = answered.status, self._body(answered)
        if status < 400:
            return {"success": True, "status": status, **body}
        shown = orjson.dumps(plain(next(iter(body.values()), ""))).decode()[:_SHOWN_OF_AN_ERROR]
        advice = (
            "Try again later." if status == 429 or status >= 500 else "Mend the input, or tell people what is wrong."
        )
        raise MajlisError("http_status", f"{self.name} answered {status} {_phrase(status)}: {shown}. {advice}")

    def _body(self, answered: Answered) -> dict[str, Any]:
        kind, _, options = answered.headers.get("content-type", "text/plain").lower().partition(";")
        kind = kind.strip()
        if not answered.content:
            return {}
        if not kind.startswith(_TEXTS) and not kind.endswith(("+json", "+xml")):
            return {"note": f"The answer is {kind[:100]}, not text, and is not shown.", "bytes": len(answered.content)}
        text = self._secrets.mask(_decoded(answered.content, options))
        if "json" in kind:
            try:
                return {"body": orjson.loads(text)}
            except orjson.JSONDecodeError:
                # Said to be JSON and is not: the model may still make something of it.
                pass
        return {"body": text}


def _decoded(content: bytes, options: str) -> str:
    charset = options.partition("charset=")[2].partition(";")[0].strip(' "')
    # Not any codec that Python has: some are slow, and some are no encodings of text.
    return content.decode(charset if charset in _CHARSETS else "utf-8", errors="replace")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
