"""What administrators should know about the server itself."""

from __future__ import annotations

from fastapi import Response
from typing_extensions import TypedDict

from majlis import __version__
from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.backup.status import last_backup
from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.store.transactions import Tx

router = new_router("system")


class SystemJson(TypedDict):
    version: str
    database: str
    bus: str
    # Null if `majlis backup` was never run. Backups by other programs leave no trace.
    lastBackupAt: str | None


@router.get("/api/system", response_model=SystemJson, responses=refusals(403))
async def get_system(gateway: TheGateway, entry: TheEntry) -> Response:
    """The version, the database, and when the last backup was made. For the owner and admins."""
    made = await entry.read(_last_backup)
    system: SystemJson = {
        "version": __version__,
        "database": gateway.db.dialect,
        "bus": gateway.bus.kind,
        "lastBackupAt": None if made is None else iso(made),
    }
    return reply(system)


def _last_backup(tx: Tx, caller: Caller) -> int | None:
    require_administrator(caller)
    return last_backup(tx)
