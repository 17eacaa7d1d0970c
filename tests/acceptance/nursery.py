"""A process that has everything loaded and forks a server whenever it is told to.

`kill -9` two hundred times is only worth testing if a restart is quick; this one takes tens of milliseconds, and
the killed process is as dead as any. Each line on stdin starts one; its pid and port come back on stdout.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from majlis.gateway import open_gateway
from majlis.http_server import Server, bind
from majlis.logs import set_up_logging
from majlis.settings import load_settings
from tests.acceptance.warming import warm_up


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    warm_up(load_settings())
    for _ in sys.stdin:
        if os.fork() == 0:
            sys.stdin.close()
            asyncio.run(serve())
            os._exit(0)


async def serve() -> None:
    settings = load_settings()
    set_up_logging(settings)
    listener = bind(settings)
    gateway = await open_gateway(settings)
    sys.stdout.write(f"{os.getpid()} {listener.getsockname()[1]}\n")
    sys.stdout.flush()
    await Server(gateway).serve(sockets=[listener])


if __name__ == "__main__":
    main()
