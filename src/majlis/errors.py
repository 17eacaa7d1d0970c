"""The base exception and its kinds. The API turns them into error responses."""

from __future__ import annotations

from collections.abc import Mapping


class MajlisError(Exception):
    """An error with a stable code, and a message that says what happened and what to do."""

    status = 500

    def __init__(self, code: str, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, object] = dict(details or {})


class Malformed(MajlisError):
    """The request could not be parsed."""

    status = 400


class Unauthenticated(MajlisError):
    """`challenge` becomes the WWW-Authenticate header."""

    status = 401
    challenge = 'Bearer realm="majlis"'


class Forbidden(MajlisError):
    status = 403


class NotFound(MajlisError):
    """Does not exist, or the caller may not know that it exists."""

    status = 404


class Conflict(MajlisError):
    status = 409


class TooLarge(MajlisError):
    status = 413


class Invalid(MajlisError):
    status = 422


class TooMany(MajlisError):
    """A rate limit was exceeded. `retry_after` becomes the Retry-After header."""

    status = 429

    def __init__(self, code: str, message: str, retry_after: int) -> None:
        super().__init__(code, message, {"retryAfterSeconds": retry_after})
        self.retry_after = retry_after


class Unavailable(MajlisError):
    """Try again later. `retry_after` becomes the Retry-After header."""

    status = 503
    retry_after = 1


class ConfigurationError(MajlisError):
    """Majlis cannot start with this configuration. The command line prints one line and exits with 2."""

    def __init__(self, message: str) -> None:
        super().__init__("configuration", message)
