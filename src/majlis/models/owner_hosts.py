"""The hosts that the owner has allowed for models in the app, beside the setting `model_hosts` (G6)."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.audit.record import record
from majlis.entities.caller import Caller, require_administrator
from majlis.errors import Forbidden, Invalid
from majlis.hosts import HOST
from majlis.store.tables import gateway as facts
from majlis.store.transactions import Tx

_KEY = "model_hosts"
_MOST = 200


class ModelHostsJson(TypedDict):
    """`settings` are those of the setting `model_hosts`."""

    hosts: list[str]
    settings: list[str]


def model_hosts(tx: Tx) -> list[str]:
    found = tx.execute(sa.select(facts.c.value).where(facts.c.key == _KEY)).scalar_one_or_none()
    hosts: list[str] = orjson.loads(found) if found is not None else []
    return hosts


def show_model_hosts(tx: Tx, caller: Caller, settings: Sequence[str]) -> ModelHostsJson:
    require_administrator(caller)
    return {"hosts": model_hosts(tx), "settings": list(settings)}


def put_model_hosts(tx: Tx, caller: Caller, settings: Sequence[str], hosts: Sequence[str]) -> ModelHostsJson:
    if caller.role != "owner":
        raise Forbidden("not_allowed", "Only the owner of this gateway can allow hosts for models.")
    for index, host in enumerate(hosts):
        if len(hosts) > _MOST or not HOST.fullmatch(host) or host.startswith("*:") or host == "*":
            message = f"{host[:100]} is not a host; use api.example.com, *.example.com or localhost:9000."
            raise Invalid("invalid_host", message, {"path": f"hosts.{index}"})
    _store(tx, caller, hosts)
    return show_model_hosts(tx, caller, settings)


def allow_model_host(tx: Tx, caller: Caller, host: str) -> None:
    """Adds a host that the owner connects a model at."""
    put_model_hosts(tx, caller, (), [*model_hosts(tx), host])


def _store(tx: Tx, caller: Caller, hosts: Sequence[str]) -> None:
    tx.execute(facts.delete().where(facts.c.key == _KEY))
    listed = sorted({host.lower() for host in hosts})
    tx.execute(facts.insert(), {"key": _KEY, "value": orjson.dumps(listed).decode()})
    record(tx, caller, "model_hosts.changed", hosts=listed)
