"""Procrastinate on PostgreSQL as a job engine, in `.venv-peers`: `procrastinate_jobs URL`.

A job for each message and agent, deferred in the transaction that stores the message, and a worker in the same process
that is woken by LISTEN. A job reads the last messages, answers (the model answers at once), stores the answer and ends.

It does less than Majlis: it stores no steps, so a job that dies is done again from its beginning and may send twice; no
order of an agent's runs, no window of a conversation other than the last messages, no events for other clients. In its
favour: finished jobs are kept, but nothing about what the model was asked and said.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time

import procrastinate  # type: ignore[import-not-found]

from bench.peers.same_work import AGENTS, CONCURRENT, LATEST, POSTGRES_ADD, POSTGRES_TABLE, TEXT, run, serve, texts

_OPEN_JOBS = "SELECT count(*) AS count FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"


async def main(url: str) -> None:
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=CONCURRENT + 5, max_size=CONCURRENT + 5)
    app = procrastinate.App(connector=connector)
    said = texts()
    ended = asyncio.Semaphore(0)

    @app.task(name="run")  # type: ignore[untyped-decorator]
    async def one_run(agent: int) -> None:
        async with connector.pool.connection() as connection:
            request = await (await connection.execute(LATEST)).fetchall()
        answer = model(request)
        async with connector.pool.connection() as connection:
            await connection.execute(POSTGRES_ADD, (f"agent-{agent}", answer, time.time()))
        assert not model([*request, answer], sent=True)
        ended.release()

    async def talk(count: int) -> None:
        for _ in range(count):
            async with connector.pool.connection() as connection:
                await connection.execute(POSTGRES_ADD, ("person", next(said), time.time()))
                defer = one_run.configure(connection=connection)
                await defer.batch_defer_async(*({"agent": agent} for agent in range(AGENTS)))
        for _ in range(count * AGENTS):
            await ended.acquire()
        while True:
            if not (await connector.execute_query_one_async(_OPEN_JOBS))["count"]:
                return
            await asyncio.sleep(0.002)

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await connector.execute_query_async(POSTGRES_TABLE)
        worker = asyncio.create_task(app.run_worker_async(concurrency=CONCURRENT, install_signal_handlers=False))
        await serve(talk)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


def model(request: list[object], sent: bool = False) -> str:
    return "" if sent else TEXT


if __name__ == "__main__":
    run(main(*sys.argv[1:]))
