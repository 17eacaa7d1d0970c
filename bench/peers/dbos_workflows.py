"""DBOS as an engine of durable workflows, on SQLite or PostgreSQL, in `.venv-peers`: `dbos_workflows PLACE`.

A workflow for each message and agent, queued in the transaction that stores the message. Its three steps read the last
messages and ask the model (which answers at once), store the answer, and ask again; DBOS commits what each step
returned.

It does less than Majlis: a step that stores a message and dies before its checkpoint stores it again; no order of an
agent's runs, no window of a conversation other than the last messages, no events for other clients. In its favour: its
queue is polled every 10 ms instead of every second, its step for the message is a plain one, which is faster here than
a transaction of its data source, and SQLite has a write-ahead log, which DBOS does not turn on.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSClient  # type: ignore[import-not-found]

from bench.peers.same_work import (
    AGENTS,
    CONCURRENT,
    LATEST,
    POSTGRES_TABLE,
    SQLITE_TABLE,
    TEXT,
    Talk,
    is_postgres,
    run,
    serve,
    texts,
    turn_on_wal,
)

_QUEUE = "runs"
_POLL_SECONDS = 0.01
_ADD = sa.text("INSERT INTO messages (sender, text, created_at) VALUES (:sender, :text, :now)")
_OPEN_RUNS = "SELECT count(*) FROM {}workflow_status WHERE status IN ('ENQUEUED', 'PENDING')"


class Runs:
    """The table of messages and what a workflow does."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._ended = threading.Semaphore(0)

    def set_up(self) -> None:
        """Before DBOS starts."""

        @DBOS.step()  # type: ignore[untyped-decorator]
        def ask() -> str:
            with self._engine.connect() as db:
                return model(list(db.execute(sa.text(LATEST))))

        @DBOS.step()  # type: ignore[untyped-decorator]
        def send(agent: int, text: str) -> None:
            with self._engine.begin() as db:
                add(db, f"agent-{agent}", text)

        @DBOS.step()  # type: ignore[untyped-decorator]
        def ask_again(text: str) -> str:
            return model([text], sent=True)

        @DBOS.workflow(name="run")  # type: ignore[untyped-decorator]
        def one_run(agent: int) -> None:
            answer = ask()
            send(agent, answer)
            assert not ask_again(answer)
            self._ended.release()

    def wait_for(self, count: int) -> None:
        """Until so many have ended, and DBOS has stored it."""
        for _ in range(count):
            self._ended.acquire()
        open_runs = sa.text(_OPEN_RUNS.format("" if self._engine.name == "sqlite" else "dbos."))
        with self._engine.connect() as db:
            while db.execute(open_runs).scalar():
                db.rollback()
                time.sleep(0.002)


def add(db: sa.Connection, sender: str, text: str) -> None:
    db.execute(_ADD, {"sender": sender, "text": text, "now": time.time()})


def model(request: list[Any], sent: bool = False) -> str:
    return "" if sent else TEXT


def person(engine: sa.Engine, client: Any, runs: Runs) -> Talk:
    said = texts()
    options = {"queue_name": _QUEUE, "workflow_name": "run"}

    def talk_now(count: int) -> None:
        for _ in range(count):
            with engine.begin() as db:
                add(db, "person", next(said))
                for agent in range(AGENTS):
                    client.enqueue_in_transaction(db, options, agent)
        runs.wait_for(count * AGENTS)

    return lambda count: asyncio.to_thread(talk_now, count)


def open_engine(place: str) -> sa.Engine:
    if is_postgres(place):
        return sa.create_engine(place.replace("postgresql:", "postgresql+psycopg:", 1), pool_size=CONCURRENT + 5)
    file = Path(place) / "workflows.db"
    turn_on_wal(file)
    return sa.create_engine(f"sqlite:///{file}", connect_args={"timeout": 30})


def main(place: str) -> None:
    engine = open_engine(place)
    with engine.begin() as db:
        db.execute(sa.text(POSTGRES_TABLE if is_postgres(place) else SQLITE_TABLE))
    url = place if is_postgres(place) else str(engine.url)
    # Without its key, DBOS does not speak to its makers' service.
    DBOS(config={"name": "bench", "system_database_url": url, "console_log_level": "ERROR"})
    runs = Runs(engine)
    runs.set_up()
    DBOS.launch()
    DBOS.register_queue(_QUEUE, worker_concurrency=CONCURRENT, polling_interval_sec=_POLL_SECONDS)
    client = DBOSClient(system_database_url=url, application_name="bench")
    run(serve(person(engine, client, runs)))
    client.destroy()
    DBOS.destroy()


if __name__ == "__main__":
    main(*sys.argv[1:])
