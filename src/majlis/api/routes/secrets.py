"""Named secrets. No response contains a value."""

from __future__ import annotations

from fastapi import Response

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import NewSecret, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.secret_store import Cipher, SecretJson, delete_secret, list_secrets, put_secret

router = new_router("secrets")


@router.get("/api/secrets", response_model=list[SecretJson], responses=refusals())
async def list_all(entry: TheEntry) -> Response:
    """The names of the stored secrets and their hosts, never their values. For the owner and admins."""
    return reply(await entry.read(list_secrets))


@router.put("/api/secrets/{name}", response_model=SecretJson, responses=refusals())
async def put(gateway: TheGateway, entry: TheEntry, name: str, body: NewSecret) -> Response:
    """Stores a secret under this name, or replaces its value and its hosts."""
    cipher = Cipher(gateway.hasher.secret_key)
    return reply(await entry.write(put_secret, cipher, name, body.value, body.hosts))


@router.delete("/api/secrets/{name}", status_code=204, responses=refusals(404))
async def delete(entry: TheEntry, name: str) -> Response:
    await entry.write(delete_secret, name)
    return nothing()
