"""An outside agent that counts words: it asks for a text, waits for the answer and counts."""

from __future__ import annotations

import os
import time

from majlis.client import SyncMajlisClient
from majlis.client.shapes import TakenEventJson
from majlis.errors import Conflict, TooMany, Unavailable


def handle(client: SyncMajlisClient, event: TakenEventJson) -> None:
    trigger, outcome = event["trigger"], event["outcome"]
    if trigger["type"] != "space_message":
        client.settle_event(event, "passed", "Only messages are counted.")
    elif outcome is None and trigger["text"].strip().lower().endswith("count"):
        # The run pauses. The answer, or the timeout, is a new event with an outcome.
        wait = {"from_": [trigger["senderId"]], "within": "10 minutes"}
        client.send_for_event(event, trigger["spaceId"], "Which text?", client_id=event["id"], wait=wait)  # type: ignore[arg-type]
    elif outcome is not None and outcome["status"] == "timeout":
        client.settle_event(event, "passed", "There was no answer.")
    else:
        text = f"{len(trigger['text'].split())} words."
        # A retry of the same event has the same client id, so the answer is posted once.
        client.send_for_event(event, trigger["spaceId"], text, client_id=event["id"], reply_to=trigger["messageId"])
        client.settle_event(event, "done")


def main() -> None:
    with SyncMajlisClient(os.environ["MAJLIS_URL"], os.environ["MAJLIS_TOKEN"]) as client:
        while True:
            try:
                for event in client.take_events(wait_seconds=20)["events"]:
                    handle(client, event)
            except Conflict:
                continue  # The lease has ended: the event is offered again, or it was canceled.
            except (Unavailable, TooMany):
                time.sleep(1)


if __name__ == "__main__":
    main()
