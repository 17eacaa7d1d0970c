"""LangGraph with its SQLite checkpointer: messages of one person, each answered by three agents. Runs in `.venv-peers`.

`langgraph_agents.py FOLDER sync|async`: a graph of a model that calls a tool, the tool that stores the answer, and the
model once more; a thread for each agent, and a window of the last messages as state, so that it does not grow.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage  # type: ignore[import-not-found]
from langgraph.checkpoint.sqlite import SqliteSaver  # type: ignore[import-not-found]
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]
from typing_extensions import TypedDict

AGENTS = 3
WINDOW = 50
TEXT = "I have looked at it: the figures agree with last week's, and I will tell you when they change."


def latest(before: list[AnyMessage], new: list[AnyMessage]) -> list[AnyMessage]:
    return [*before, *new][-WINDOW:]


class State(TypedDict):
    messages: Annotated[list[AnyMessage], latest]


class Store:
    """Where messages are kept, as durably as ours: a commit each, with a write-ahead log and full flushes."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("CREATE TABLE messages (n INTEGER PRIMARY KEY, sender TEXT, text TEXT, created_at REAL)")

    def add(self, sender: str, text: str) -> None:
        values = (sender, text, time.time())
        self._db.execute("INSERT INTO messages (sender, text, created_at) VALUES (?, ?, ?)", values)


def build(store: Store) -> Any:
    calls = iter(range(1_000_000_000))

    def model(state: State) -> dict[str, list[AnyMessage]]:
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage("")]}
        call = {"id": f"call_{next(calls)}", "name": "send_message", "args": {"text": TEXT}}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def tools(state: State) -> dict[str, list[AnyMessage]]:
        call = state["messages"][-1].tool_calls[0]
        store.add("agent", call["args"]["text"])
        return {"messages": [ToolMessage('{"success": true}', tool_call_id=call["id"])]}

    def further(state: State) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    graph = StateGraph(State)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", further, ["tools", END])
    graph.add_edge("tools", "model")
    return graph


Answer = Callable[[dict[str, Any]], Awaitable[object]]


async def serve(store: Store, answer: Answer) -> None:
    """A line says how many messages; what comes back is how long all of their runs took."""
    print("[]", flush=True)
    number = 0
    for line in sys.stdin:
        started = time.perf_counter()
        for _ in range(int(line)):
            number += 1
            text = f"message {number}: what do you all think of the figures of this week?"
            store.add("person", text)
            await answer({"messages": [HumanMessage(text)]})
        print(json.dumps([time.perf_counter() - started]), flush=True)


async def main(folder: Path, way: str) -> None:
    store = Store(folder / f"messages-{way}.db")
    threads: list[dict[str, Any]] = [{"configurable": {"thread_id": f"agent-{n}"}} for n in range(AGENTS)]
    file = str(folder / f"checkpoints-{way}.db")
    if way == "async":
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            graph = build(store).compile(checkpointer=saver)
            await serve(store, lambda given: asyncio.gather(*(graph.ainvoke(given, thread) for thread in threads)))
    else:
        with SqliteSaver.from_conn_string(file) as saver:
            graph = build(store).compile(checkpointer=saver)

            async def one_after_the_other(given: dict[str, Any]) -> None:
                for thread in threads:
                    graph.invoke(given, thread)

            await serve(store, one_after_the_other)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
