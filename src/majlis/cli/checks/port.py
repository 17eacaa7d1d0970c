"""Is the port free, or does Majlis answer on it already?"""

from __future__ import annotations

import errno
import socket

from majlis.cli.checks.finding import Finding, ok, problem
from majlis.cli.remote import default_url
from majlis.client import MajlisClient
from majlis.errors import MajlisError
from majlis.settings import Settings

_ADVICE = {
    errno.EADDRINUSE: "Stop what is using it, or choose another with --port.",
    errno.EACCES: "Choose a port above 1023 with --port.",
    errno.EADDRNOTAVAIL: "Choose an address of this machine with --host; 0.0.0.0 means all of them.",
}


async def check(settings: Settings) -> Finding:
    if settings.port == 0:
        return ok("port", "A free one is taken at each start.")
    url = default_url(settings)
    async with MajlisClient(url, patience_seconds=0) as client:
        try:
            health = await client.health()
        except MajlisError as error:
            return _explain(settings, url, error)
    return ok("port", f"Majlis {health['version']} serves {url} (database {health['database']}, bus {health['bus']}).")


def _explain(settings: Settings, url: str, error: MajlisError) -> Finding:
    if error.code == "unreachable":
        return _free(settings)
    if error.code == "unhealthy":
        return problem("port", f"Majlis serves {url}, and says: {error.message}", "See to the part that it names.")
    return problem("port", f"Something that is not Majlis answers at {url}.", _ADVICE[errno.EADDRINUSE])


def _free(settings: Settings) -> Finding:
    where = f"{settings.host}:{settings.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[
            0
        ]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "Choose another with --host or --port.")
        return problem("port", f"{where} cannot be listened on: {error.strerror}.", advice)
    return ok("port", f"{where} is free.")
