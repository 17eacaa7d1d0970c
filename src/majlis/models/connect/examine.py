"""Tries models before they are saved: which ones a key offers, and whether one of them answers."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from majlis.agents.config.model import ModelObject
from majlis.errors import Forbidden, Invalid, MajlisError
from majlis.hosts import Target, parse_target
from majlis.model_providers import LOCAL_SERVERS, PROVIDER_HOSTS, Key, local_url
from majlis.models.connect.list_models import LOOPBACK, listing_at, offered
from majlis.models.connect.providers import needs_key, package_for, title_of
from majlis.models.connect.shapes import FoundJson, LookJson, ProblemJson, SizeJson, TestJson
from majlis.models.guard import ModelGuard
from majlis.models.models import Models
from majlis.models.port import Answer, ModelFailed, Patience, Prompt, System, ToolSpec, User, final_answer, read_input
from majlis.models.provider_errors import WITHOUT_TOOLS, ProviderErrors
from majlis.secret_store import PREFIX, Secret

_ANSWER_SECONDS = 90.0
_SHOWN = 500
_SAY = ToolSpec(
    "send_message",
    "Say something to the person.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
_TURNS = (
    System("You are being connected to a chat server. Speak with the tool send_message."),
    User(("Say hello in one short sentence.",)),
)


class Examiner:
    def __init__(self, models: Models, guard: ModelGuard, environ: Mapping[str, str] = os.environ) -> None:
        self._models = models
        self._guard = guard
        self.environ = environ

    async def look(self, choice: ModelObject, pasted: Secret | None, by_owner: bool) -> LookJson:
        """The models that are offered with this key. `choice.name` does not matter."""
        try:
            return {"models": await self._offers(choice, await self._key(choice, pasted, by_owner)), "problem": None}
        except ModelFailed as failed:
            return {"models": [], "problem": _problem(choice, failed, pasted)}

    async def test(self, choice: ModelObject, pasted: Secret | None, by_owner: bool, ask: bool) -> TestJson:
        """Without `ask` nothing is generated: it checks the key, the package, the address and the model's name."""
        started = time.monotonic()
        try:
            key = await self._key(choice, pasted, by_owner)
            answer = await self._asked(choice, key) if ask else await self._checked(choice, key)
            millis = _millis_since(started)
            # Asked last, because servers that load a model on first use know its size only then.
            context = await self._models.contexts.look(choice, key)
        except ModelFailed as failed:
            problem = _problem(choice, failed, pasted)
            return _tested(None, _millis_since(started), None, problem)
        return _tested(answer, millis, context, None)

    async def find(self) -> list[FoundJson]:
        """Servers at their usual ports on this machine. Nothing else is contacted, and no key is sent."""
        found = await asyncio.gather(*map(self._found, LOCAL_SERVERS))
        return [each for each in found if each is not None]

    async def host_to_allow(self, choice: ModelObject, pasted: Secret | None, by_owner: bool) -> str | None:
        """The host that the owner allows by connecting this model, if it is not allowed yet."""
        try:
            await self._guard.key_for(choice, pasted)
            return None
        except ModelFailed as failed:
            if not by_owner:
                raise Forbidden(failed.code, failed.message) from None
        try:
            await self._guard.key_for(choice, pasted, by_owner)
        except ModelFailed as failed:
            raise Invalid(failed.code, failed.message) from None
        assert choice.base_url is not None
        return parse_target(choice.base_url).authority

    async def _key(self, choice: ModelObject, pasted: Secret | None, by_owner: bool) -> Key:
        key = await self._guard.key_for(choice, pasted, by_owner)
        if needs_key(choice) and not key.value:
            message = f"{title_of(choice.provider)} needs a key. Paste one, or set {key.variable} where Majlis runs."
            raise ModelFailed(message, False, "model_key_missing")
        return key

    async def _offers(self, choice: ModelObject, key: Key) -> list[str]:
        listing = listing_at(choice.provider, choice.base_url, key.value, self.environ)
        if listing is None:
            message = f"{title_of(choice.provider)} does not list its models. Enter the name of the model."
            raise ModelFailed(message, False, "model_list_unavailable")
        name = f"The server at {urlsplit(listing.url).netloc}"
        return await offered(listing, ProviderErrors(name, choice.name, key))

    async def _checked(self, choice: ModelObject, key: Key) -> Answer | None:
        if (command := package_for(choice)) is not None:
            raise _missing(choice, command)
        try:
            names = await self._offers(choice, key)
        except ModelFailed as failed:
            # Many servers answer messages but have no list.
            if failed.code in ("model_list_unavailable", "model_not_found"):
                return None
            raise
        if names and choice.name not in names and choice.base_url is None and choice.provider in LOCAL_SERVERS:
            shown = ", ".join(names[:5])
            message = f'{title_of(choice.provider)} has no model "{choice.name}". It has: {shown}.'
            raise ModelFailed(message, False, "model_not_found")
        return None

    async def _asked(self, choice: ModelObject, key: Key) -> Answer:
        if (command := package_for(choice)) is not None:
            raise _missing(choice, command)
        prompt = Prompt(_TURNS, (_SAY,), patience=Patience(_ANSWER_SECONDS, _ANSWER_SECONDS))
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                try:
                    return await final_answer(self._models.opened(choice, key), prompt)
                except ModelFailed as failed:
                    if failed.code != WITHOUT_TOOLS:
                        raise
                    return await final_answer(self._models.opened(choice, key), replace(prompt, tools=()))
        except TimeoutError:
            errors = ProviderErrors(title_of(choice.provider), choice.name, key)
            raise errors.timed_out(_ANSWER_SECONDS) from None

    async def _found(self, provider: str) -> FoundJson | None:
        url = local_url(provider, self.environ) or ""
        if urlsplit(url).hostname not in LOOPBACK:
            return None
        listing = listing_at(provider, url, None, self.environ)
        assert listing is not None
        try:
            names = await offered(listing, ProviderErrors(title_of(provider), "", Key(None)))
        except ModelFailed:
            return None
        return {"provider": provider, "title": title_of(provider), "baseUrl": url, "models": names}


def pasted_secret(choice: ModelObject, name: str, value: str, by_owner: bool) -> tuple[ModelObject, Secret]:
    """The choice with this secret as its key, and the secret, bound to the host of the choice."""
    value = value.strip()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise Invalid(
            "invalid_key", "This is not a key: keys have no spaces or line breaks. Copy it again.", {"path": "key"}
        )
    keyed = choice.model_copy(update={"api_key": f"{PREFIX}{name}", "api_key_env": None})
    return keyed, Secret(name, value, hosts_of(choice), by_owner)


def hosts_of(choice: ModelObject) -> tuple[str, ...]:
    """Where a key for this model may be sent. Providers with a host per account have none."""
    if choice.base_url is not None:
        return (_target(choice.base_url).authority,)
    host = PROVIDER_HOSTS.get(choice.provider)
    return (host,) if host else ()


def _target(base_url: str) -> Target:
    try:
        return parse_target(base_url)
    except MajlisError as error:
        raise Invalid("invalid_url", f"The address cannot be used: {error.message}", {"path": "baseUrl"}) from None


def _missing(choice: ModelObject, command: str) -> ModelFailed:
    message = (
        f"{title_of(choice.provider)} needs a package that is not installed. Run {command} where Majlis runs, then "
        "restart it."
    )
    return ModelFailed(message, False, "model_package_missing")


def _problem(choice: ModelObject, failed: ModelFailed, pasted: Secret | None) -> ProblemJson:
    message = failed.message
    if pasted is not None and failed.code == "model_unauthorized":
        where = urlsplit(choice.base_url).netloc if choice.base_url else title_of(choice.provider)
        message = f"{where} rejected this key. Check that you copied all of it and that it has not expired."
    return {"code": failed.code, "message": message, "detail": failed.detail}


def _millis_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _tested(answer: Answer | None, millis: int, context: SizeJson | None, problem: ProblemJson | None) -> TestJson:
    said: Any = ""
    if answer is not None:
        inputs = [read_input(call) or {} for call in answer.calls]
        said = answer.text or next((str(given["text"]) for given in inputs if "text" in given), "")
    calls = bool(answer and answer.calls)
    return {
        "text": said.strip()[:_SHOWN],
        "callsTools": calls,
        "millis": millis,
        "context": context,
        "problem": problem,
    }
