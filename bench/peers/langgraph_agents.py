"""LangGraph with its SQLite or PostgreSQL checkpointer, in `.venv-peers`: `langgraph_agents PLACE sync|async`.

A graph of a model that calls a tool, the tool that stores the answer, and the model once more; a thread for each agent,
and a window of the last messages as state, so that it does not grow. Durability is its default: each checkpoint is
committed, in the background while the next step runs.

It does less than Majlis: no queue that survives a crash (a run that has not begun is lost), no claims, no events for
other clients, no unread counts. In its favour: on PostgreSQL each agent has a checkpointer and a connection of its own,
because one checkpointer holds a lock.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage  # type: ignore[import-not-found]
from langgraph.checkpoint.postgres import PostgresSaver  # type: ignore[import-not-found]
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # type: ignore[import-not-found]
from langgraph.checkpoint.sqlite import SqliteSaver  # type: ignore[import-not-found]
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]
from typing_extensions import TypedDict

from bench.peers.same_work import (
    AGENTS,
    TEXT,
    WINDOW,
    Messages,
    Talk,
    is_postgres,
    open_messages,
    run,
    serve,
    side_by_side,
    texts,
)


def latest(before: list[AnyMessage], new: list[AnyMessage]) -> list[AnyMessage]:
    return [*before, *new][-WINDOW:]


class State(TypedDict):
    messages: Annotated[list[AnyMessage], latest]


Nodes = tuple[Callable[..., Any], Callable[..., Any]]


def build(nodes: Nodes) -> Any:
    made = StateGraph(State)
    made.add_node("model", nodes[0])
    made.add_node("tools", nodes[1])
    made.add_edge(START, "model")
    made.add_conditional_edges(
        "model", lambda state: "tools" if state["messages"][-1].tool_calls else END, ["tools", END]
    )
    made.add_edge("tools", "model")
    return made


def nodes_of(messages: Messages, way: str) -> Nodes:
    calls = iter(range(1_000_000_000))

    def model(state: State) -> dict[str, list[AnyMessage]]:
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage("")]}
        call = {"id": f"call_{next(calls)}", "name": "send_message", "args": {"text": TEXT}}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def tools(state: State) -> dict[str, list[AnyMessage]]:
        call = state["messages"][-1].tool_calls[0]
        messages.add_now("agent", call["args"]["text"])
        return {"messages": [ToolMessage('{"success": true}', tool_call_id=call["id"])]}

    async def async_model(state: State) -> dict[str, list[AnyMessage]]:
        return model(state)

    async def async_tools(state: State) -> dict[str, list[AnyMessage]]:
        call = state["messages"][-1].tool_calls[0]
        await messages.add("agent", call["args"]["text"])
        return {"messages": [ToolMessage('{"success": true}', tool_call_id=call["id"])]}

    return (model, tools) if way == "sync" else (async_model, async_tools)


@asynccontextmanager
async def open_savers(place: str, way: str) -> AsyncIterator[list[Any]]:
    """A checkpointer for each agent. On SQLite, which has one writer, they share one."""
    file = str(Path(place) / "checkpoints.db")
    async with AsyncExitStack() as stack:
        if is_postgres(place) and way == "sync":
            savers = [stack.enter_context(PostgresSaver.from_conn_string(place))] * AGENTS
            savers[0].setup()
        elif is_postgres(place):
            opened = (AsyncPostgresSaver.from_conn_string(place) for _ in range(AGENTS))
            savers = [await stack.enter_async_context(saver) for saver in opened]
            await savers[0].setup()
        elif way == "sync":
            savers = [stack.enter_context(SqliteSaver.from_conn_string(file))] * AGENTS
        else:
            savers = [await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(file))] * AGENTS
        yield savers


def one_after_another(messages: Messages, answer: Callable[[int, str], object]) -> Talk:
    """The sync way: its checkpointer holds a lock, so threads would only wait for each other."""
    said = texts()

    async def talk(count: int) -> None:
        for _ in range(count):
            text = next(said)
            messages.add_now("person", text)
            for agent in range(AGENTS):
                answer(agent, text)

    return talk


async def main(place: str, way: str) -> None:
    async with open_messages(place) as messages, open_savers(place, way) as savers:
        graph = build(nodes_of(messages, way))
        graphs = [graph.compile(checkpointer=saver) for saver in savers]
        threads: list[dict[str, Any]] = [{"configurable": {"thread_id": f"agent-{n}"}} for n in range(AGENTS)]

        async def answer(agent: int, text: str) -> None:
            await graphs[agent].ainvoke({"messages": [HumanMessage(text)]}, threads[agent])

        def answer_now(agent: int, text: str) -> None:
            graphs[agent].invoke({"messages": [HumanMessage(text)]}, threads[agent])

        await serve(one_after_another(messages, answer_now) if way == "sync" else side_by_side(messages, answer))


if __name__ == "__main__":
    run(main(*sys.argv[1:]))
