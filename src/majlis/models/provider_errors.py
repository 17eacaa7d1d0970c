"""Errors of models, each with a stable code and a message that a person can act on (J7).

The messages reach spaces and logs: they contain no key, nothing of our request, and little of the provider's words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from majlis.model_providers import Key
from majlis.models.port import ModelFailed

REASON_LENGTH = 300
_MAX_READ = 20_000
CONTEXT_TOO_LONG = "model_context_too_long"
MAX_RETRY_SECONDS = 3600.0

_KEY_LIKE = re.compile(r"\b(?:(?:sk|pk|key|gsk|xai|hf)[-_]|AIza)[-_A-Za-z0-9*.]{6,}|\bBearer\s+\S+", re.IGNORECASE)
# Servers built on pydantic quote the invalid part of our request after these.
_ECHO = re.compile(r"""['"]input['"]\s*:|\binput_value=""")
_BEFORE_ECHO = " \t\r\n,({["
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|prompt is too long|too many (?:input )?tokens"
    r"|exceeds the maximum number of tokens",
    re.IGNORECASE,
)
# Messages about limits per minute also mention quota, plans and billing, so only exact codes count.
_QUOTA = re.compile(r"insufficient_quota|billing_error|billing_hard_limit|credit balance", re.IGNORECASE)

# Ollama, vLLM, llama.cpp, Groq, OpenRouter and OpenAI, in this order.
_NO_TOOLS = re.compile(
    r"does not support (?:tools|function)|tool choice requires|tools param requires|tool calling`? is not supported"
    r"|support tool use|tools is not supported|functions? calling is not (?:supported|enabled)",
    re.IGNORECASE,
)
WITHOUT_TOOLS = "model_without_tools"

# llama.cpp, vLLM, Ollama, OpenRouter, DeepSeek, Groq and OpenAI.
_NO_PICTURES = re.compile(
    r"image input|image_url|mmproj|multimodal|support(?:s|ed|ing)? (?:for )?(?:images?|vision)\b"
    r"|(?:images?|vision) (?:input |inputs |is |are )*not supported",
    re.IGNORECASE,
)
WITHOUT_PICTURES = "model_without_pictures"


@dataclass(frozen=True)
class ProviderErrors:
    """`name` starts a sentence: "The model server at 127.0.0.1:9000", "The provider openai"."""

    name: str
    model: str
    key: Key

    def reason(self, text: str) -> str:
        """The provider's message as one short line, without keys and without our request."""
        text = text[:_MAX_READ]
        if self.key.value:
            text = text.replace(self.key.value, "…")
        if echo := _ECHO.search(text):
            text = text[: echo.start()].rstrip(_BEFORE_ECHO)
        text = _KEY_LIKE.sub("…", text)
        line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
        return line if len(line) <= REASON_LENGTH else line[: REASON_LENGTH - 1] + "…"

    def unauthorized(self, status: int = 401) -> ModelFailed:
        variable = self.key.variable
        if variable and variable.startswith("secret:"):
            message = f"rejected the key in {variable} ({status}). Store a key that is valid for {self.model}."
            return self._final(message, "model_unauthorized")
        if self.key.value:
            message = f"rejected the key in {variable} ({status}). Set a key that is valid for {self.model}"
        elif variable:
            message = f"requires a key ({status}), but {variable} is not set. Set it"
        else:
            message = (
                f"requires a key ({status}). Store it and write secret:NAME as the model's apiKey, or name its "
                "variable in apiKeyEnv, allow it in model_env and set it"
            )
        return self._final(f"{message} in the environment of Majlis, then restart it.", "model_unauthorized")

    def not_found(self, status: int = 404) -> ModelFailed:
        return self._final(
            f'has no model "{self.model}", or no API at this address ({status}). '
            "Check the model's name and baseUrl in the agent's config.",
            "model_not_found",
        )

    def refused(self, reason: str, status: int = 400) -> ModelFailed:
        why = " An admin can read the server's reason in the steps of the run." if reason else ""
        return self._final(f"rejected the request ({status}).{why}", "model_refused_request", self.reason(reason))

    def without_tools(self, status: int) -> ModelFailed:
        return self._final(f'serves "{self.model}", which cannot call tools ({status}).', WITHOUT_TOOLS)

    def without_pictures(self, status: int) -> ModelFailed:
        return self._final(f'serves "{self.model}", which does not accept pictures ({status}).', WITHOUT_PICTURES)

    def too_long(self) -> ModelFailed:
        return ModelFailed(
            f'The prompt is too long for the model "{self.model}". '
            "Lower the agent's window, or choose a model with a longer context.",
            False,
            CONTEXT_TOO_LONG,
        )

    def rate_limited(self, retry_after: float | None) -> ModelFailed:
        return self._passing(
            "received too many requests (429). Lower concurrentRuns, or choose a higher tier at the provider.",
            "model_rate_limited",
            retry_after,
        )

    def out_of_quota(self) -> ModelFailed:
        return self._final(
            "reports that the account's quota or credit is used up. Check its plan and billing.", "model_quota_exceeded"
        )

    def unavailable(self, status: int | None = None, retry_after: float | None = None) -> ModelFailed:
        code = f" ({status})" if status else ""
        return self._passing(f"is temporarily unavailable{code}.", "model_unavailable", retry_after)

    def unreachable(self, why: str = "") -> ModelFailed:
        return self._passing(
            f"cannot be reached{self._because(why)}. Check that it is running, and the model's baseUrl.",
            "model_unreachable",
        )

    def timed_out(self, seconds: float | None = None) -> ModelFailed:
        within = f" within {seconds:g} s" if seconds else " in time"
        return self._passing(f"did not answer{within}.", "model_timeout")

    def hung(self, seconds: float, begun: bool) -> ModelFailed:
        """Not retried within the run, which holds one of the agent's slots: its event backs off."""
        name = "idleSeconds" if begun else "firstByteSeconds"
        what = "stopped in the middle of its answer" if begun else "did not begin to answer"
        advice = f"If it needs more time, raise limits.{name} of the agent."
        failed = self._passing(f"{what} for {seconds:g} s. {advice}", "model_hung")
        failed.slow = True
        return failed

    def broken(self, why: str) -> ModelFailed:
        return self._passing(f"sent an answer that cannot be used: {why}.", "model_broken_stream")

    def endless(self, most: int) -> ModelFailed:
        return self.broken(f"it is longer than {most // 2**20} MiB")

    def cut_off(self) -> ModelFailed:
        return ModelFailed(
            f'The model "{self.model}" reached its token limit in the middle of a tool call. '
            "Raise settings.maxTokens in the agent's model.",
            False,
            "model_cut_off",
        )

    def filtered(self) -> ModelFailed:
        return self._final("stopped the answer because of its content filter.", "model_filtered")

    def misconfigured(self, why: str) -> ModelFailed:
        return self._final(f"cannot be used: {self.reason(why)}", "model_misconfigured")

    def of_status(self, status: int, words: str, retry_after: float | None = None) -> ModelFailed:
        """`words` are the provider's message, code and type."""
        failed = self._of_status(status, words, retry_after)
        failed.detail = failed.detail or self.reason(words)
        return failed

    def _of_status(self, status: int, words: str, retry_after: float | None) -> ModelFailed:
        if status in (401, 403):
            return self.unauthorized(status)
        if _NO_TOOLS.search(words):
            return self.without_tools(status)
        if _NO_PICTURES.search(words):
            return self.without_pictures(status)
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

    def of_body(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelFailed:
        """For a refused request."""
        try:
            words = words_of(orjson.loads(body))
        except orjson.JSONDecodeError:
            # A proxy's HTML page adds nothing to the status.
            words = "" if body.lstrip().startswith(b"<") else body.decode(errors="replace")
        return self.of_status(status, words, _retry_after(headers))

    def in_stream(self, error: Any) -> ModelFailed:
        """For an error in the middle of a stream. Without a status it counts as a temporary problem of the server."""
        words = words_of(error)
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and 400 <= code < 600:
            return self.of_status(code, words)
        if "rate_limit" in words:
            return self.of_status(429, words)
        if "invalid_request" in words or "context_length" in words:
            return self.of_status(400, words)
        return self.unavailable()

    def _final(self, message: str, code: str, detail: str = "") -> ModelFailed:
        return ModelFailed(f"{self.name} {message}", False, code, detail=detail)

    def _passing(self, message: str, code: str, retry_after: float | None = None) -> ModelFailed:
        return ModelFailed(f"{self.name} {message}", True, code, _bounded(retry_after))

    def _because(self, why: str) -> str:
        reason = self.reason(why)
        return f": {reason}" if reason else ""


def words_of(body: Any) -> str:
    """The message, which people see, then the code and type, which tell kinds of errors apart."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return str(error)
    message = error.get("message") or error.get("detail") or ""
    marks = [str(error[name]) for name in ("code", "type") if error.get(name)]
    return f"{message} ({', '.join(marks)})" if marks else str(message)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from a number or a date."""
    text = headers.get("retry-after", "")
    try:
        return float(headers["retry-after-ms"]) / 1000 if "retry-after-ms" in headers else float(text)
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _bounded(seconds: float | None) -> float | None:
    """None for anything that is not a number of seconds; a server may say "nan"."""
    if seconds is None or not math.isfinite(seconds):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_SECONDS)
