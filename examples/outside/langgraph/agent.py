"""A LangGraph graph as an outside agent. Where the graph interrupts, the agent asks the space and waits for the answer.

A thread of the graph is a run of Majlis. The graph keeps its state in a file, and Majlis keeps the wait, so both can be
restarted while people think.
"""

from __future__ import annotations

import os
import time
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found]
from langgraph.types import Command, interrupt  # type: ignore[import-not-found]

from majlis.client import SyncMajlisClient
from majlis.client.shapes import TakenEventJson
from majlis.errors import Conflict, TooMany, Unavailable


class Announcement(TypedDict, total=False):
    request: str
    version: str
    reply: str


def find_version(state: Announcement) -> Announcement:
    return {"version": interrupt("Which version do you want to announce?").strip()}


def write(state: Announcement) -> Announcement:
    """Without a model, so that the example runs as it is. Call yours here."""
    return {"reply": f"Version {state['version']} is out."}


graph = StateGraph(Announcement)
graph.add_node("find_version", find_version)
graph.add_node("write", write)
graph.add_edge(START, "find_version")
graph.add_edge("find_version", "write")
graph.add_edge("write", END)


def handle(client: SyncMajlisClient, app: Any, event: TakenEventJson) -> None:
    trigger, outcome = event["trigger"], event["outcome"]
    if trigger["type"] != "space_message" or (outcome is not None and outcome["status"] == "timeout"):
        client.settle_event(event, "passed")
        return
    state = advance(app, event["runId"], trigger["text"], outcome is not None)
    # A retry of the same event has the same client id, so the message is posted once.
    key, space = event["id"], trigger["spaceId"]
    if state.interrupts:
        question = state.interrupts[0].value
        client.send_for_event(event, space, question, client_id=key, wait={"within": "1 day"})
    else:
        client.send_for_event(event, space, state.values["reply"], client_id=key, reply_to=trigger["messageId"])
        client.settle_event(event, "done")


def advance(app: Any, thread: str, text: str, answered: bool) -> Any:
    """Also right for an event that was handled halfway before: then the graph already stands where it should."""
    config = {"configurable": {"thread_id": thread}}
    state = app.get_state(config)
    if not state.values:
        app.invoke({"request": text}, config)
    elif state.interrupts and answered:
        app.invoke(Command(resume=text), config)
    return app.get_state(config)


def main() -> None:
    with (
        SqliteSaver.from_conn_string(os.environ.get("GRAPH_STATE", "graph.db")) as saver,
        SyncMajlisClient(os.environ["MAJLIS_URL"], os.environ["MAJLIS_TOKEN"]) as client,
    ):
        app = graph.compile(saver)
        while True:
            try:
                for event in client.take_events(wait_seconds=20)["events"]:
                    handle(client, app, event)
            except Conflict:
                continue  # The lease has ended: the event is offered again, or it was canceled.
            except (Unavailable, TooMany):
                time.sleep(1)


if __name__ == "__main__":
    main()
