"""What can go wrong with a model, each with a stable code and words that a person can act on (J7).

The words reach spaces and logs: no key, no request of ours, and of a provider's own words only a short part.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from majlis.models.keys import Key
from majlis.models.port import ModelFailed

REASON_LENGTH = 300
LONGEST_WAIT_SECONDS = 3600.0

_KEY_LIKE = re.compile(r"\b(?:(?:sk|pk|key|gsk|xai|hf)[-_]|AIza)[-_A-Za-z0-9*.]{6,}|\bBearer\s+\S+", re.IGNORECASE)
# Servers built on pydantic quote the offending part of our request after these.
_ECHO = re.compile(r"""[\s,({\[]*(?:['"]input['"]\s*:|\binput_value=).*""", re.DOTALL)
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|prompt is too long|too many (?:input )?tokens"
    r"|exceeds the maximum number of tokens",
    re.IGNORECASE,
)
# Only what cannot mean a limit per minute: those messages speak of quota, plans and billing as well.
_QUOTA = re.compile(r"insufficient_quota|billing_error|billing_hard_limit|credit balance", re.IGNORECASE)


@dataclass(frozen=True)
class Side:
    """The other side, as messages name it: "The model server at 127.0.0.1:9000", "The provider openai"."""

    name: str
    model: str
    key: Key

    def reason(self, text: str) -> str:
        """A provider's own words, made fit to be shown: one short line without keys and without our request."""
        if self.key.value:
            text = text.replace(self.key.value, "…")
        text = _KEY_LIKE.sub("…", _ECHO.sub("", text))
        line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
        return line if len(line) <= REASON_LENGTH else line[: REASON_LENGTH - 1] + "…"

    def unauthorized(self, status: int = 401) -> ModelFailed:
        variable = self.key.variable
        if self.key.value:
            message = f"refused the key in {variable} ({status}). Put one that is valid for {self.model} there,"
        elif variable:
            message = f"asks for a key ({status}), and {variable} is not set. Set it"
        else:
            message = f"asks for a key ({status}). Name its variable in the model's apiKeyEnv, set that"
        return ModelFailed(
            f"{self.name} {message} in the environment of majlis, and restart.", False, "model_unauthorized"
        )

    def not_found(self, status: int = 404) -> ModelFailed:
        return ModelFailed(
            f'{self.name} does not know the model "{self.model}", or nothing answers there ({status}). '
            "Check the model's name and baseUrl in the agent's config.",
            False,
            "model_not_found",
        )

    def refused(self, reason: str, status: int = 400) -> ModelFailed:
        said = self.reason(reason)
        return ModelFailed(
            f"{self.name} refused the request ({status}){f': {said}' if said else ''}", False, "model_refused_request"
        )

    def too_long(self) -> ModelFailed:
        return ModelFailed(
            f'The prompt is longer than the model "{self.model}" can read. '
            "Lower the agent's window, or choose a model with a longer context.",
            False,
            "model_context_too_long",
        )

    def rate_limited(self, retry_after: float | None) -> ModelFailed:
        return ModelFailed(
            f"{self.name} has had too many requests (429). "
            "A lower concurrentRuns, or a higher tier at the provider, would help.",
            True,
            "model_rate_limited",
            _bounded(retry_after),
        )

    def out_of_quota(self) -> ModelFailed:
        return ModelFailed(
            f"{self.name} says that the account's quota or credit is used up. Check its plan and billing.",
            False,
            "model_quota_exceeded",
        )

    def unavailable(self, status: int | None = None, retry_after: float | None = None) -> ModelFailed:
        code = f" ({status})" if status else ""
        return ModelFailed(
            f"{self.name} is not able to answer just now{code}.", True, "model_unavailable", _bounded(retry_after)
        )

    def unreachable(self, why: str = "") -> ModelFailed:
        said = self.reason(why)
        return ModelFailed(
            f"{self.name} cannot be reached{f': {said}' if said else ''}. Check that it runs and the model's baseUrl.",
            True,
            "model_unreachable",
        )

    def timed_out(self, seconds: float | None = None) -> ModelFailed:
        within = f" within {seconds:g} s" if seconds else " in time"
        return ModelFailed(f"{self.name} did not answer{within}.", True, "model_timeout")

    def broken(self, why: str) -> ModelFailed:
        return ModelFailed(f"{self.name} broke off its answer: {why}.", True, "model_broken_stream")

    def endless(self, most: int) -> ModelFailed:
        return ModelFailed(
            f"{self.name} gave an answer longer than {most // 2**20} MiB, which no model writes; it was not read on.",
            True,
            "model_broken_stream",
        )

    def cut_off(self) -> ModelFailed:
        return ModelFailed(
            f'The model "{self.model}" reached its limit of tokens in the middle of a tool call. '
            "Raise settings.maxTokens in the agent's model.",
            False,
            "model_cut_off",
        )

    def filtered(self) -> ModelFailed:
        return ModelFailed(f"{self.name}'s content filter stopped the answer.", False, "model_filtered")

    def misconfigured(self, why: str) -> ModelFailed:
        return ModelFailed(f"{self.name} cannot be used: {self.reason(why)}", False, "model_misconfigured")

    def of_status(self, status: int, words: str, retry_after: float | None = None) -> ModelFailed:
        """`words` are all that the provider said: message, code and type."""
        if status in (401, 403):
            return self.unauthorized(status)
        if status == 402 or (status in (400, 429) and _QUOTA.search(words)):
            return self.out_of_quota()
        if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(words)):
            return self.too_long()
        if status in (404, 405) or 300 <= status < 400 or "model_not_found" in words:
            return self.not_found(status)
        if status == 429:
            return self.rate_limited(retry_after)
        if status == 408:
            return self.timed_out()
        if status >= 500 or status in (409, 425):
            return self.unavailable(status, retry_after)
        return self.refused(words, status)


def _bounded(seconds: float | None) -> float | None:
    """What is no number of seconds (a server may say "nan") says nothing."""
    if seconds is None or not math.isfinite(seconds):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)
