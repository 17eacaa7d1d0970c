"""A connection to an MCP server. It lives in its own task, because anyio scopes must be closed in the task that opened
them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import structlog
from httpx2 import Auth, HTTPStatusError
from mcp.client import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    URL_ELICITATION_REQUIRED,
    CallToolResult,
    ElicitationRequiredErrorData,
    ElicitRequest,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
    InputRequiredResult,
    InputResponses,
    Resource,
    ResourceTemplate,
)

from majlis import __version__
from majlis.errors import Invalid, MajlisError, Unavailable
from majlis.runs.calls.dialog import MAX_QUESTIONS
from majlis.runs.calls.elicit import Elicitation
from majlis.runs.calls.result import clean
from majlis.tools.mcp.endpoint import Route
from majlis.tools.mcp.offer import Kind, Listed
from majlis.tools.mcp.ongoing import Ongoing, People, Tell
from majlis.tools.mcp.questions import read_question
from majlis.tools.mcp.resources import prompt_list, prompt_result, read_result, resource_list
from majlis.tools.mcp.servers import NotCalled
from majlis.tools.mcp.transports import transports
from majlis.tools.reach.reach import Reach

# Tools, and likewise resources and prompts.
MAX_LISTED = 256
MAX_STATE = 64 * 1024
_PAGES = 20
# Longer than the grace time of a program that ignores SIGTERM.
_CLOSE_SECONDS = 10.0
# After these errors a connection is unusable.
_FINAL = (CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT)
_AMBIGUOUS = (
    "The server asked people a question during several calls at once, so it was not shown. Call again if needed."
)
_logger = structlog.get_logger(__name__)


class Connection:
    """`seconds` limit opening it and listing the tools."""

    def __init__(self, route: Route, reach: Reach, seconds: float, auth: Auth | None = None) -> None:
        self._route = route
        self._reach = reach
        self._seconds = seconds
        self._auth = auth
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._calls = 0
        self._ongoing: set[Ongoing] = set()
        # A retired connection takes no new calls, and closes after the last one.
        self.retired = False
        self.task = asyncio.create_task(self._live(), name="mcp")

    async def ready(self) -> None:
        """Raises Unavailable. A canceled caller does not cancel the opening for others."""
        try:
            async with asyncio.timeout(self._seconds):
                await asyncio.shield(self._client)
        except TimeoutError:
            # Closing a server that hangs takes seconds; do not wait for it.
            self.retire()
            raise self._too_slow() from None

    @property
    def idle(self) -> bool:
        return self._calls == 0

    async def listed(self) -> Listed:
        """Resources and prompts are only listed if the server says that it has any."""
        client = await asyncio.shield(self._client)
        has = client.server_capabilities
        with self._judged():
            async with asyncio.timeout(self._seconds):
                tools = await _pages(client.list_tools, "tools") if has.tools is not None else []
                listed = Listed(tools)
                if has.resources is not None:
                    listed.resources, listed.templates = await self._resources(client)
                if has.prompts is not None:
                    listed.prompts = await _pages(client.list_prompts, "prompts", optional=True)
                return listed

    async def _resources(self, client: Client) -> tuple[list[Resource], list[ResourceTemplate]]:
        resources = await _pages(client.list_resources, "resources", optional=True)
        return resources, await _pages(client.list_resource_templates, "resource_templates", optional=True)

    async def call(
        self,
        kind: Kind,
        name: str,
        input: dict[str, Any],
        seconds: float,
        tell: Tell,
        people: People,
        earlier: Elicitation | None,
    ) -> CallToolResult | Elicitation:
        """The server's questions, if it ended the call with them. `earlier` has the answers to those before."""
        client = await asyncio.shield(self._client)
        with self._judged():
            async with asyncio.timeout(seconds) as limit:
                ongoing = Ongoing(limit, seconds, tell, people)
                self._ongoing.add(ongoing)
                try:
                    with ongoing.here():
                        result = await self._send(client, kind, name, input, ongoing, earlier)
                except MCPError as error:
                    if error.code != URL_ELICITATION_REQUIRED:
                        raise
                    return _pages_to_open(error)
                finally:
                    ongoing.over = True
                    self._ongoing.discard(ongoing)
            return _questions(result) if isinstance(result, InputRequiredResult) else result

    async def _send(
        self,
        client: Client,
        kind: Kind,
        name: str,
        input: dict[str, Any],
        ongoing: Ongoing,
        earlier: Elicitation | None,
    ) -> CallToolResult | InputRequiredResult:
        session, responses = client.session, _responses(earlier)
        state = earlier.state if earlier is not None else None
        if kind == "read_resource":
            if "uri" not in input:
                resources, templates = await self._resources(client)
                return resource_list(Listed(resources=resources, templates=templates))
            read = await session.read_resource(
                input["uri"], input_responses=responses, request_state=state, allow_input_required=True
            )
            return read if isinstance(read, InputRequiredResult) else read_result(read)
        if kind == "get_prompt":
            if "name" not in input:
                return prompt_list(Listed(prompts=await _pages(client.list_prompts, "prompts")))
            prompt = await session.get_prompt(
                input["name"],
                input.get("arguments"),
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            )
            return prompt if isinstance(prompt, InputRequiredResult) else prompt_result(prompt)
        send = partial(
            session.call_tool,
            name,
            input,
            progress_callback=ongoing.progressed,
            input_responses=responses,
            request_state=state,
            allow_input_required=True,
        )
        try:
            return await send()
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # The tool's schema has changed, and with it the headers of its calls.
        await _pages(client.list_tools, "tools")
        return await send()

    async def _elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """A question while a call runs. Over stdio nothing says of which call, so it has to be the only one: the
        question must not reach the people of another space."""
        call = Ongoing.of_this_task() or (next(iter(self._ongoing)) if len(self._ongoing) == 1 else None)
        try:
            question = read_question("", params)
        except Invalid as error:
            return ErrorData(code=INVALID_PARAMS, message=error.message)
        if call is None:
            for each in self._ongoing:
                each.people.note(_AMBIGUOUS)
            return ElicitResult(action="cancel")
        reply = await call.ask(question)
        return ElicitResult(action=reply.action, content=reply.content)

    def retire(self) -> None:
        self.retired = True
        if self.idle:
            self._over.set()

    async def close(self) -> None:
        self.retired = True
        self._over.set()
        if not self._client.done():
            self.task.cancel()
        _, late = await asyncio.wait([self.task], timeout=_CLOSE_SECONDS)
        if late:
            self.task.cancel()
            await asyncio.wait([self.task])

    @contextlib.contextmanager
    def _judged(self) -> Any:
        """Counts the call, and retires the connection if its error makes it unusable."""
        self._calls += 1
        try:
            yield
        except MCPError as error:
            self.retired = self.retired or error.code in _FINAL
            kind = NotCalled if error.code == INVALID_REQUEST else Unavailable
            raise kind("mcp_error", error.message[:1000]) from error
        except MajlisError:
            raise
        except TimeoutError:
            self.retired = True
            raise Unavailable("timeout", "the server did not respond in time") from None
        except Exception as error:
            self.retired = True
            raise Unavailable("mcp_broken", why(error)) from error
        finally:
            self._calls -= 1
            if self.retired:
                self.retire()

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._seconds):
                    client = await self._open(stack)
                    # The library would run the patterns of the server's output schema with `re` (G1).
                    client.session.validate_tool_result = _accept  # type: ignore[method-assign]
                self._client.set_result(client)
                await self._over.wait()
        except (Exception, asyncio.CancelledError) as error:
            self.retired = True
            if not self._client.done():
                slow = isinstance(error, TimeoutError)
                self._client.set_exception(self._too_slow() if slow else Unavailable("mcp_unreachable", why(error)))
                self._client.exception()  # avoids the warning if no caller waits for it
            else:
                _logger.info("MCP connection closed with an error", reason=why(error))

    async def _open(self, stack: AsyncExitStack) -> Client:
        """A server that refuses the newer way of HTTP may have the older one. The error is that of the first."""
        refused: Exception | None = None
        for streams in transports(self._route, self._reach, self._auth, self.retire):
            client = Client(streams, cache=None, client_info=_WE, elicitation_callback=self._elicit)
            try:
                return await stack.enter_async_context(client)
            except Exception as error:
                refused = refused or error
                if not isinstance(_first(error), MCPError | HTTPStatusError):
                    break
        assert refused is not None
        raise refused

    def _too_slow(self) -> Unavailable:
        return Unavailable("mcp_unreachable", f"the server did not respond within {self._seconds:g} seconds")


async def _pages(list_page: Callable[..., Any], name: str, optional: bool = False) -> list[Any]:
    """`optional`: a server that cannot list these has none."""
    found: list[Any] = []
    cursor: str | None = None
    try:
        for _ in range(_PAGES):
            page = await list_page(cursor=cursor)
            found += getattr(page, name)
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_LISTED:
                break
    except MCPError as error:
        if not optional or error.code in _FINAL:
            raise
    return found[:MAX_LISTED]


def _responses(earlier: Elicitation | None) -> InputResponses | None:
    if earlier is None or earlier.resend or not earlier.answers:
        return None
    return {
        key: ElicitResult(action=reply.action, content=reply.content if reply.action == "accept" else None)
        for key, reply in earlier.answers.items()
    }


def _questions(result: InputRequiredResult) -> Elicitation:
    asked = result.input_requests or {}
    if len(asked) > MAX_QUESTIONS:
        raise Unavailable("mcp_error", f"the server asked more than {MAX_QUESTIONS} questions at once")
    state = result.request_state
    if state is not None and (len(state) > MAX_STATE or clean(state) != state):
        raise Unavailable("mcp_error", f"the server's request state is longer than {MAX_STATE} characters or not text")
    questions = []
    for key, each in asked.items():
        if not isinstance(each, ElicitRequest):
            raise Unavailable("mcp_error", f"the server asked for {each.method}, which Majlis does not offer")
        questions.append(read_question(key, each.params))
    return Elicitation(server="", questions=tuple(questions), state=state)


def _pages_to_open(error: MCPError) -> Elicitation:
    """The server wants people to open pages, and the call again afterwards."""
    data = ElicitationRequiredErrorData.model_validate(error.error.data, by_name=False)
    pages = [read_question(str(n), params) for n, params in enumerate(data.elicitations[:MAX_QUESTIONS])]
    return Elicitation(server="", questions=tuple(pages), resend=True)


async def _accept(name: str, result: CallToolResult) -> None:
    """We rely on no output schema: the model reads whatever the server says."""


_WE = Implementation(name="majlis", version=__version__)


def why(error: BaseException) -> str:
    error = _first(error)
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}"
    words = next(iter(str(error).splitlines()), "")[:500]
    return f"{words} ({type(error).__name__})" if words else type(error).__name__


def _first(error: BaseException) -> BaseException:
    """The first exception of a possible group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
