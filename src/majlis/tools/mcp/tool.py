"""A tool of an MCP server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from majlis.agents.config.mcp import McpServer
from majlis.errors import MajlisError
from majlis.runs.calls.dialog import AskingContext, Dialog
from majlis.runs.calls.elicit import Elicitation, Reply, ServerQuestion
from majlis.runs.calls.made_files import WithFiles
from majlis.tool_decorator import ToolContext
from majlis.tools.json_schema import parse_input, parse_object
from majlis.tools.mcp.offer import Offered
from majlis.tools.mcp.ongoing import Nobody, People
from majlis.tools.mcp.result_content import files_of, result_json
from majlis.tools.mcp.servers import Servers
from majlis.tools.reach.secrets import Secrets

if TYPE_CHECKING:
    from mcp.types import CallToolResult

# Errors after the call was sent.
_SENT = ("timeout", "mcp_error", "mcp_broken", "bad_question")
MAX_ROUNDS = 10


class Mcp:
    """Not idempotent: what a server says about the effects of its tools is only a hint."""

    outside: Literal[True] = True
    idempotent = False

    def __init__(self, config: McpServer, offered: Offered, servers: Servers, secrets: Secrets) -> None:
        self.name = offered.spec.name
        self.visible = config.shows(offered.tool)
        self._config = config
        self._offered = offered
        self._servers = servers
        self._secrets = secrets

    def parse(self, arguments: str) -> dict[str, Any]:
        """The server validates the input of its tools against its own schema."""
        if self._offered.kind != "tool":
            return dict(parse_input(self.name, self._offered.spec.schema, arguments))
        return parse_object(self.name, arguments)

    async def act(self, context: ToolContext, input: dict[str, Any]) -> Any:
        """An `Elicitation` if the call goes on when people have answered the server's questions."""
        dialog = context.dialog if isinstance(context, AskingContext) else None
        try:
            result = await self._answered(context, input, dialog)
            if isinstance(result, Elicitation):
                return result
        except MajlisError as error:
            effect = "It is unknown whether it had an effect" if error.code in _SENT else "It was not called"
            advice = "Your other tools work. Try this one again later, or continue without it."
            message = f"{self.name} failed: {error.message.rstrip('.')}. {effect}. {advice}"
            raise MajlisError(error.code, self._secrets.mask(message)) from None
        found = WithFiles(self._secrets.mask_all(result_json(result)))
        found.made, found.instead = await asyncio.to_thread(files_of, result), ("attachments",)
        notes = list(dialog.notes) if dialog is not None else []
        if result.is_error:
            told = " ".join([str(found.get("text") or dict(found)), *notes])
            raise MajlisError("tool_error", f"{self.name} returned an error: {told}")
        if notes:
            found["notes"] = notes
        return found

    async def _answered(
        self, context: ToolContext, input: dict[str, Any], dialog: Dialog | None
    ) -> CallToolResult | Elicitation:
        """Calls again with answers until the server is done, or the run has to pause for them."""
        people: People = _Asked(dialog, self._config.name) if dialog is not None else Nobody()
        earlier = dialog.resumed if dialog is not None else None
        rounds = earlier.rounds if earlier is not None else 0
        while True:
            if earlier is not None and earlier.resend and not _accepted(earlier):
                raise MajlisError("declined", "the server wanted a person to open a page, and no person did")
            offered = self._offered
            result = await self._servers.call(
                self._config, offered.kind, offered.tool, input, context.tell, people, earlier
            )
            if not isinstance(result, Elicitation):
                return result
            rounds += 1
            if rounds > MAX_ROUNDS:
                raise MajlisError("mcp_error", f"the server asked again and again, {MAX_ROUNDS} times")
            notes = tuple(dialog.notes) if dialog is not None else ()
            earlier = result.model_copy(update={"server": self._config.name, "rounds": rounds, "notes": notes})
            if not earlier.questions:
                # The server only wants the call again.
                await asyncio.sleep(min(0.05 * 2**rounds, 1.0))
            elif dialog is not None and dialog.pauses:
                return earlier
            while earlier.questions:
                earlier = earlier.answered(await people.ask(earlier.questions[0]))


class _Asked:
    def __init__(self, dialog: Dialog, server: str) -> None:
        self._dialog = dialog
        self._server = server

    async def ask(self, question: ServerQuestion) -> Reply:
        return await self._dialog.ask(self._server, question)

    def note(self, text: str) -> None:
        self._dialog.note(text)


def _accepted(earlier: Elicitation) -> bool:
    return all(reply.action == "accept" for reply in earlier.answers.values())
