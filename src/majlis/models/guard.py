"""Decides where a model may be reached, and which key goes there (G6).

A config is written by admins. The owner's settings decide what it can reach with the server's network and keys.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from ipaddress import ip_address

from majlis.agents.config.model import ModelObject
from majlis.errors import MajlisError
from majlis.hosts import HostRule, Target, parse_target
from majlis.model_providers import PROVIDER_HOSTS, PROVIDERS, Key, find_key
from majlis.models.port import ModelFailed
from majlis.secret_store import PREFIX, Secret, SecretStore

ASK = "Ask the owner of this gateway to allow it."


async def _none() -> Collection[str]:
    return ()


class ModelGuard:
    def __init__(
        self,
        hosts: Iterable[str] = (),
        env: Collection[str] = (),
        environ: Mapping[str, str] = os.environ,
        store: SecretStore | None = None,
        owners_hosts: Callable[[], Awaitable[Collection[str]]] = _none,
    ) -> None:
        """`hosts` and `env` are the settings `model_hosts` and `model_env`; `owners_hosts` reads what the owner has
        allowed in the app."""
        self._rules = [HostRule.parse(host) for host in hosts]
        self._env = frozenset(env)
        self._environ = environ
        self._store = store
        self._owners_hosts = owners_hosts

    async def key_for(self, choice: ModelObject, pasted: Secret | None = None, by_owner: bool = False) -> Key:
        """Raises ModelFailed if the settings do not allow the host, or the key for this host. `pasted` is a key that is
        not stored yet; `by_owner`: the owner asks, who may allow any host."""
        try:
            target = parse_target(choice.base_url) if choice.base_url is not None else None
            secret = await self._secret(choice, target, pasted)
        except MajlisError as error:
            raise _refused(f"The model cannot be used: {error.message}") from None
        key = Key(f"{PREFIX}{secret.name}", secret.value) if secret else self._from_environment(choice, target)
        # A known provider's key never goes there unencrypted, even if the owner asks.
        allowed = by_owner and target is not None and target.host not in PROVIDER_HOSTS.values()
        if target is not None and not allowed and not await self._may_reach(target, key, secret):
            keyed = " with a key" if is_loopback(target) else ""
            raise _refused(f"{target.authority} may not be used by models{keyed}: it is not in model_hosts. {ASK}")
        return key

    def settled_key(self, choice: ModelObject) -> Key | None:
        """The key, if the settings alone decide, which stay the same while Majlis runs. None if a stored secret or a
        host that the owner has allowed decides, or if the model is refused: then `key_for` has to be asked each
        time."""
        if choice.api_key is not None:
            return None
        try:
            target = parse_target(choice.base_url) if choice.base_url is not None else None
            key = self._from_environment(choice, target)
        except (MajlisError, ModelFailed):
            return None
        return key if target is None or self._allowed_by_settings(target, key) else None

    async def _secret(self, choice: ModelObject, target: Target | None, pasted: Secret | None) -> Secret | None:
        if choice.api_key is None:
            return None
        name = choice.api_key.removeprefix(PREFIX)
        if self._store is None:
            raise _refused("Stored secrets cannot be used here.")
        found = pasted or await self._store.get(name)
        place = target or _own_target(choice.provider)
        unbound = not found.hosts and (target is None or target.host in PROVIDER_HOSTS.values())
        if not unbound and (place is None or not found.allows(place)):
            where = place.authority if place is not None else f'the provider "{choice.provider}"'
            raise _refused(f"The secret {name} must not be sent to {where}. Ask an admin to store it for this host.")
        if pasted is None:
            await self._store.note_use(found, place or choice.provider)
        return found

    def _from_environment(self, choice: ModelObject, target: Target | None) -> Key:
        """The provider's own variables are for the provider's own host; others must be in `model_env`."""
        own = PROVIDERS[choice.provider].keys if choice.provider in PROVIDERS else ()
        at_home = target is None or target.host == PROVIDER_HOSTS.get(choice.provider)
        name = choice.api_key_env
        if name is None:
            return find_key(choice.provider, None, self._environ) if at_home else Key(None)
        if name not in self._env and not (at_home and name in own):
            raise _refused(f"The environment variable {name} is not allowed by the setting model_env. {ASK}")
        found = find_key(choice.provider, name, self._environ)
        if not found.value:
            message = (
                f"The environment variable {name}, which apiKeyEnv names, is not set. Set it in the environment of"
            )
            raise ModelFailed(f"{message} Majlis, then restart it.", False, "model_unauthorized")
        return found

    async def _may_reach(self, target: Target, key: Key, secret: Secret | None) -> bool:
        if self._allowed_by_settings(target, key):
            return True
        if secret is not None and secret.set_by_owner and secret.allows(target):
            return True
        return _covered(target, map(HostRule.parse, await self._owners_hosts()))

    def _allowed_by_settings(self, target: Target, key: Key) -> bool:
        if target.host in PROVIDER_HOSTS.values() and target.scheme == "https":
            return True
        return (is_loopback(target) and not key.value) or _covered(target, self._rules)


def _covered(target: Target, rules: Iterable[HostRule]) -> bool:
    return any(rule.covers(target, any_port=True) for rule in rules)


def is_loopback(target: Target) -> bool:
    try:
        return ip_address(target.host).is_loopback
    except ValueError:
        return target.host == "localhost"


def _own_target(provider: str) -> Target | None:
    host = PROVIDER_HOSTS.get(provider)
    return Target("https", host, 443, "/") if host is not None else None


def _refused(message: str) -> ModelFailed:
    return ModelFailed(message, False, "model_not_allowed")
