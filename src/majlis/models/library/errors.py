"""The library's exceptions under the same stable codes as our own client's (J7)."""

from __future__ import annotations

from pydantic_ai import exceptions as library

from majlis.models.port import ModelFailed
from majlis.models.provider_errors import Side


def failure(side: Side, error: Exception) -> ModelFailed:
    match error:
        case library.ModelAPIError():
            return _of_provider(side, error)
        case library.ContentFilterError():
            return side.filtered()
        case library.UnexpectedModelBehavior():
            return side.broken("a part of it has an unknown form")
        case library.UserError() | ValueError() if not side.key.value and side.key.variable:
            return side.misconfigured(f"set {side.key.variable} in the environment of majlis, and restart.")
        case library.UserError() | ValueError() | ImportError():
            return side.misconfigured(str(error))
    return ModelFailed(f"{side.name} failed in an unexpected way ({type(error).__name__}).", False, "model_error")


def _of_provider(side: Side, error: library.ModelAPIError) -> ModelFailed:
    match error:
        case library.ModelAuthenticationError():
            return side.unauthorized(_status(error) or 401)
        case library.ModelNotFoundError():
            return side.not_found()
        case library.ModelContextWindowExceededError():
            return side.too_long()
        case library.ModelQuotaExceededError():
            return side.out_of_quota()
        case library.ModelRateLimitError():
            return side.rate_limited(error.retry_after)
        case library.ModelTimeoutError():
            return side.timed_out()
        case library.ModelRequestTimeout():
            return side.timed_out(error.timeout)
        case library.ModelConnectionError(phase="read"):
            return side.broken("the connection was lost")
        case library.ModelConnectionError():
            return side.unreachable(str(error.__cause__ or ""))
        case library.ModelUnavailableError() | library.ModelServerError():
            return side.unavailable(_status(error), error.retry_after)
        case library.ModelHTTPError():
            return side.of_status(error.status_code, _reason(error.body), error.retry_after)
        case library.ModelRequestRejectedError():
            return side.refused(_reason(error.body))
    return side.broken("it could not be read")


def _status(error: library.ModelAPIError) -> int | None:
    return error.status_code if isinstance(error, library.ModelHTTPError) else None


def _reason(body: object) -> str:
    """Of the provider's body only its message: the exception's own text would show all of it."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    return str(inner.get("message", "")) if isinstance(inner, dict) else ""
