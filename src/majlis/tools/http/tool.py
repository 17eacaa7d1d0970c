"""An `http` tool: sends a request and turns the response into a result for the model."""

from __future__ import annotations

import asyncio
import mimetypes
from email.message import Message
from http.client import responses
from typing import Any

import orjson

from majlis.agents.config.tools import HttpTool
from majlis.errors import MajlisError, Unavailable
from majlis.runs.calls.made_files import MadeFile, WithFiles
from majlis.runs.calls.result import plain
from majlis.tool_decorator import ToolContext
from majlis.tools.configured import ConfiguredTool
from majlis.tools.http.request import Filler, compose, target_of
from majlis.tools.reach.exchange import Exchange, Response
from majlis.tools.reach.secrets import Secrets

_MAX_ERROR = 1000
_TEXTS = ("text/", "application/json", "application/xml", "application/yaml", "application/x-ndjson")

_CHARSETS = ("utf-8", "utf-16", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252", "windows-1256", "shift_jis")


class Http(ConfiguredTool):
    def __init__(self, config: HttpTool, exchange: Exchange, secrets: Secrets) -> None:
        super().__init__(config)
        self._execution = config.execution
        self._exchange = exchange
        self._secrets = secrets

    async def act(self, context: ToolContext, input: Any) -> Any:
        seconds = self._execution.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return self._result(await self._send(context, input))
        except TimeoutError:
            raise Unavailable(
                "timeout",
                f"{self.name} did not respond within {seconds} seconds. It is unknown whether it had an effect.",
            ) from None

    async def _send(self, context: ToolContext, input: Any) -> Response:
        try:
            stored = await self._secrets.stored(self._execution.headers.values(), target_of(self._execution))
            outgoing = compose(self._execution, Filler(input, self._secrets, stored), context.idempotency_key)
            return await self._exchange.send(outgoing, self._execution.max_bytes)
        except MajlisError as error:
            message = self._secrets.mask(f"{self.name} failed: {error.message}")
            raise MajlisError(error.code, message) from None

    def _result(self, response: Response) -> dict[str, Any]:
        status, body = response.status, self._body(response)
        if status < 400:
            found = WithFiles({"success": True, "status": status, **body})
            if "note" in body:
                found.made, found.instead = [MadeFile(_name(response), response.content)], ("note", "bytes")
            return found
        shown = orjson.dumps(plain(next(iter(body.values()), ""))).decode()[:_MAX_ERROR]
        temporary = status == 429 or status >= 500
        advice = "Try again later." if temporary else "Fix the input, or tell people about the error."
        answer = f"{status} {responses.get(status, '')}: {shown}"
        raise MajlisError("http_status", f"{self.name} answered {answer}. {advice}")

    def _body(self, response: Response) -> dict[str, Any]:
        kind, _, options = response.headers.get("content-type", "text/plain").lower().partition(";")
        kind = kind.strip()
        if not response.content:
            return {}
        if not kind.startswith(_TEXTS) and not kind.endswith(("+json", "+xml")):
            return {"note": f"The response is {kind[:100]} and not shown.", "bytes": len(response.content)}
        text = self._secrets.mask(_decoded(response.content, options))
        if "json" in kind:
            try:
                return {"body": orjson.loads(text)}
            except orjson.JSONDecodeError:
                pass  # The model may still understand it as text.
        return {"body": text}


def _name(response: Response) -> str:
    """The name of the file: the one the server gives, or `response` with the ending of its type."""
    given = Message()
    given["content-disposition"] = response.headers.get("content-disposition", "")
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    return given.get_filename() or f"response{mimetypes.guess_extension(kind) or ''}"


def _decoded(content: bytes, options: str) -> str:
    charset = options.partition("charset=")[2].partition(";")[0].strip(' "')
    # Not all codecs of Python: some are slow, and some do not encode text.
    return content.decode(charset if charset in _CHARSETS else "utf-8", errors="replace")
