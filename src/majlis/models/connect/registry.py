"""The connected models of a gateway: choices under a name, which agents use them, and which one is the default."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.agents.agents import change_agent
from majlis.agents.config.config import AgentConfig, dump_config, parse_config, require_package
from majlis.agents.config.model import DEMO, ModelChoice, ModelObject, model_name
from majlis.audit.record import record
from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.entities.entities import LIVING
from majlis.errors import Conflict, Invalid, NotFound
from majlis.model_providers import PROVIDERS, find_key
from majlis.models.connect.providers import needs_key, package_for, parts_of
from majlis.models.connect.shapes import AgentNameJson, ConnectedJson, InUseJson, KeyJson, ModelsJson
from majlis.models.owner_hosts import allow_model_host
from majlis.secret_store import PREFIX, Cipher, Secret, delete_secret, put_secret
from majlis.store.tables import agents, connected_models, entities, secrets
from majlis.store.transactions import Database, Tx

MAX_MODELS = 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_AGENTS = (
    sa.select(agents.c.id, entities.c.name, agents.c.config["model"].label("model"))
    .join(entities, entities.c.id == agents.c.id)
    .where(LIVING, sa.not_(agents.c.outside))
    .order_by(entities.c.name)
)

Place = tuple[str, str | None]


def parse_choice(given: Any) -> ModelObject:
    """Raises Invalid with the path in the choice."""
    choice = parse_config({"model": given}).model
    if choice == DEMO:
        raise Invalid("invalid_model", "The demo model is built in. Choose a provider's model.", {"path": "model"})
    return parts_of(choice)


def list_models(tx: Tx, caller: Caller, environ: Mapping[str, str], demo: str) -> ModelsJson:
    """For the owner and admins. `demo` is the setting `demo_model`."""
    require_administrator(caller)
    stored = set(tx.execute(sa.select(secrets.c.name)).scalars())
    users: dict[Place, tuple[ModelChoice, list[AgentNameJson]]] = {}
    for row in tx.all(_AGENTS):
        choice = _parsed(row.model)
        users.setdefault(_place(choice), (choice, []))[1].append({"id": row.id, "name": row.name})
    connected = [_connected(row, users, stored, environ) for row in _rows(tx)]
    demo_agents = users.pop((DEMO, None), (DEMO, []))[1]
    known = {_place(_parsed(each["model"])) for each in connected}
    others = [_in_use(users[place][0], users, stored, environ) for place in users if place not in known]
    return {"models": connected, "others": others, "demo": {"model": demo, "agents": demo_agents}}


def connect_model(
    tx: Tx,
    caller: Caller,
    cipher: Cipher,
    name: str,
    choice: ModelObject,
    key: Secret | None,
    default: bool | None,
    allow: str | None,
) -> None:
    """Stores the key, the model and the host that the owner allows, together. A name that exists is replaced."""
    require_administrator(caller)
    if not _NAME.fullmatch(name):
        message = "name should start with a letter or digit and contain only letters, digits, dots, _ and -."
        raise Invalid("invalid_name", message, {"path": "name"})
    require_package(choice)
    if key is not None:
        _put_key(tx, caller, cipher, key)
    if allow is not None:
        allow_model_host(tx, caller, allow)
    present = {row.name: row for row in _rows(tx)}
    if name not in present and len(present) >= MAX_MODELS:
        raise Invalid("too_many_models", f"There are already {MAX_MODELS} models. Remove one first.")
    # The first one becomes the default.
    is_default = default if default is not None else (present[name].is_default if name in present else not present)
    if is_default:
        tx.execute(connected_models.update().where(connected_models.c.is_default).values(is_default=False))
    row = {"choice": _dumped(choice), "is_default": is_default, "changed_at": tx.now}
    if name in present:
        tx.execute(connected_models.update().where(connected_models.c.name == name).values(**row))
    else:
        tx.execute(connected_models.insert(), {"name": name, "created_at": tx.now, **row})
    record(tx, caller, "model.connected", name, model=model_name(choice), host=choice.base_url, default=is_default)


def remove_model(tx: Tx, caller: Caller, name: str) -> None:
    """Removes the model, and its key unless something else uses it. Refused while agents use the model."""
    require_administrator(caller)
    choice = get_choice(tx, name)
    place, in_use = _place(choice), []
    others = [parts_of(_parsed(row.choice)) for row in _rows(tx) if row.name != name]
    if place not in {_place(other) for other in others}:
        in_use = [row.name for row in tx.all(_AGENTS) if _place(_parsed(row.model)) == place]
    if in_use:
        shown = ", ".join(in_use[:5]) + (f" and {len(in_use) - 5} more" if len(in_use) > 5 else "")
        raise Conflict("model_in_use", f"{shown} use this model. Give them another one first.", {"agents": in_use})
    tx.execute(connected_models.delete().where(connected_models.c.name == name))
    record(tx, caller, "model.removed", name)
    if choice.api_key and all(other.api_key != choice.api_key for other in others) and not _is_used(tx, choice.api_key):
        delete_secret(tx, caller, choice.api_key.removeprefix(PREFIX))


def get_choice(tx: Tx, name: str) -> ModelObject:
    found = tx.one(sa.select(connected_models.c.choice).where(connected_models.c.name == name))
    if found is None:
        raise NotFound("unknown_model", f"No model is connected as {name[:64]}.")
    return parts_of(_parsed(found.choice))


async def use_model(db: Database, caller: Caller, name: str, agent_ids: list[str] | None) -> list[AgentNameJson]:
    """Gives agents this model; without a list, all agents with the model `demo`."""
    require_administrator(caller)
    choice = await db.read(get_choice, name)
    present = {row.id: row.model for row in await db.read(lambda tx: tx.all(_AGENTS))}
    demo_agents = [agent_id for agent_id, model in present.items() if model == DEMO]
    changed: list[AgentNameJson] = []
    for agent_id in demo_agents if agent_ids is None else agent_ids:
        wanted = _replacing(_dumped(choice), present.get(agent_id))
        agent = await change_agent(db, caller, agent_id, None, {"model": wanted})
        changed.append({"id": agent["id"], "name": agent["name"]})
    return changed


def secret_name(choice: ModelObject) -> str:
    """OPENAI_API_KEY for a provider, LLM_EXAMPLE_COM_KEY for a server."""
    if choice.base_url is None:
        known = PROVIDERS.get(choice.provider)
        name = known.keys[0] if known and known.keys else f"{choice.provider}_KEY"
    else:
        name = f"{choice.base_url.split('://')[-1].split('/')[0]}_KEY"
    name = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").upper()[-63:]
    return name if name[0].isalpha() else f"_{name}"


def _put_key(tx: Tx, caller: Caller, cipher: Cipher, key: Secret) -> None:
    present = tx.one(sa.select(secrets.c.hosts).where(secrets.c.name == key.name))
    if present is not None and list(present.hosts) != list(key.hosts):
        message = f"There is already a secret {key.name} for other hosts. Give the key another name."
        raise Conflict("secret_exists", message, {"path": "secret"})
    put_secret(tx, caller, cipher, key.name, key.value, key.hosts)


def _replacing(new: Any, old: Any) -> Any:
    """A merge patch that leaves nothing of the old value."""
    if not (isinstance(new, dict) and isinstance(old, dict)):
        return new
    return dict.fromkeys(old) | {name: _replacing(value, old.get(name)) for name, value in new.items()}


def _is_used(tx: Tx, reference: str) -> bool:
    """True if the config of an agent names it, for a model or a tool."""
    pattern = re.compile(rf"{re.escape(reference)}(?![A-Za-z0-9_-])")
    found = tx.all(sa.select(agents.c.config))
    return any(pattern.search(orjson.dumps(row.config).decode()) for row in found)


def _rows(tx: Tx) -> list[sa.Row[Any]]:
    return list(tx.all(sa.select(connected_models).order_by(connected_models.c.name)))


def _connected(
    row: sa.Row[Any], users: Mapping[Place, tuple[ModelChoice, list[AgentNameJson]]], stored: Collection[str],
    environ: Mapping[str, str],
) -> ConnectedJson:  # fmt: skip
    shown = _in_use(_parsed(row.choice), users, stored, environ)
    return {**shown, "name": row.name, "default": row.is_default, "createdAt": iso(row.created_at)}


def _in_use(
    choice: ModelChoice, users: Mapping[Place, tuple[ModelChoice, list[AgentNameJson]]], stored: Collection[str],
    environ: Mapping[str, str],
) -> InUseJson:  # fmt: skip
    parts = parts_of(choice)
    return {
        "model": _dumped(choice),
        "title": model_name(choice),
        "key": _key_state(parts, stored, environ),
        "install": package_for(parts),
        "agents": users[_place(choice)][1] if _place(choice) in users else [],
    }


def _key_state(choice: ModelObject, stored: Collection[str], environ: Mapping[str, str]) -> KeyJson:
    if choice.api_key is not None:
        return {"name": choice.api_key, "set": choice.api_key.removeprefix(PREFIX) in stored}
    if choice.api_key_env is None and not needs_key(choice):
        return {"name": None, "set": True}
    key = find_key(choice.provider, choice.api_key_env, environ)
    return {"name": key.variable, "set": bool(key.value)}


def _place(choice: ModelChoice) -> Place:
    return model_name(choice), choice.base_url if isinstance(choice, ModelObject) else None


def _parsed(given: Any) -> ModelChoice:
    return given if isinstance(given, str) else ModelObject.model_validate(given)


def _dumped(choice: ModelChoice) -> Any:
    """The choice in its shortest form: "openai:gpt-5.2" if there is nothing else."""
    if isinstance(choice, ModelObject) and choice == ModelObject(provider=choice.provider, name=choice.name):
        choice = model_name(choice)
    return dump_config(AgentConfig(model=choice))["model"]
