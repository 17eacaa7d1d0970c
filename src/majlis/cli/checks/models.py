"""Checks that agents can use their models: the key, the package, and the address. Nothing is generated."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import sqlalchemy as sa

from majlis.cli.doctor import Finding, ok, problem, warning
from majlis.cli.local import has_key, is_missing
from majlis.cli.model import size_in_words
from majlis.entities.caller import Caller
from majlis.entities.tokens import Hasher
from majlis.errors import MajlisError
from majlis.hosts import Target
from majlis.models.connect.examine import Examiner
from majlis.models.connect.registry import list_models, parse_choice
from majlis.models.connect.shapes import InUseJson
from majlis.models.guard import ModelGuard
from majlis.models.models import Models
from majlis.models.owner_hosts import model_hosts
from majlis.models.sizes_and_prices import MIN_CONTEXT
from majlis.secret_store import Cipher, Secret, SecretStore
from majlis.server_key import load_server_key
from majlis.settings import Settings
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.open import open_database
from majlis.store.transactions import Database

_DOCTOR = Caller("", "doctor", "service", "owner", token_id="")
_SHOWN = 5


class _Unnoted(SecretStore):
    async def note_use(self, secret: Secret, place: Target | str) -> None:
        """The checks change nothing."""


async def check_models(settings: Settings) -> AsyncIterator[Finding]:
    """Reports nothing if no agent uses a model of a provider. Other checks find problems of the database."""
    if is_missing(settings) or not has_key(settings):
        return
    db = open_database(settings.database)
    try:
        for finding in await _findings(db, settings):
            yield finding
    except (sa.exc.SQLAlchemyError, OSError, TimeoutError, MajlisError):
        return
    finally:
        await db.close()


async def _findings(db: Database, settings: Settings) -> list[Finding]:
    if await db.read(revision) != REVISIONS[-1]:
        return []
    found = await db.read(list_models, _DOCTOR, os.environ, settings.demo_model)
    used = [each for each in (*found["models"], *found["others"]) if each["agents"]]
    store = _Unnoted(db, Cipher(Hasher(load_server_key(settings)).secret_key))
    guard = ModelGuard(settings.model_hosts, settings.model_env, store=store, owners_hosts=lambda: db.read(model_hosts))
    examiner = Examiner(Models(guard=guard), guard)
    return list(await asyncio.gather(*(_check(examiner, each) for each in used)))


async def _check(examiner: Examiner, model: InUseJson) -> Finding:
    names = [agent["name"] for agent in model["agents"]]
    users = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    what = f"{model['title']}, which {users} {'uses' if len(names) == 1 else 'use'}"
    tested = await examiner.test(parse_choice(model["model"]), None, by_owner=False, ask=False)
    failed, context = tested["problem"], tested["context"]
    if context is not None and context["tokens"] < MIN_CONTEXT:
        few = f"{what}, can be used. {size_in_words(context)} Agents need {MIN_CONTEXT:,}."
        return warning("models", few, "Let its server load it with a larger context, or give the agents another model.")
    if failed is None:
        return ok("models", f"{what}, can be used. {size_in_words(context)}")
    said = f" The server says: {failed['detail']}" if failed["detail"] else ""
    advice = f"Connect it with `majlis model add {model['title']}`, or give the agents another model."
    if failed["code"] == "model_key_missing":
        variable = model["key"]["name"]
        advice += f" If `majlis serve` has {variable} in its environment, run this with it, too."
    return problem("models", f"{what}, cannot be used: {failed['message']}{said}", advice)
