"""The one root exception. Whatever a caller did wrong is a MajlisError; the edge turns it into the one error shape."""

from __future__ import annotations

from collections.abc import Mapping


class MajlisError(Exception):
    """A refusal with a stable code and a sentence that says what to do next."""

    status = 500

    def __init__(self, code: str, message: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, object] = dict(details or {})


class Malformed(MajlisError):
    """The request could not be read at all."""

    status = 400


class Unauthenticated(MajlisError):
    status = 401


class Forbidden(MajlisError):
    status = 403


class NotFound(MajlisError):
    """Not there, or not for this caller to know of: the two are never told apart."""

    status = 404


class Conflict(MajlisError):
    status = 409


class TooLarge(MajlisError):
    status = 413


class Invalid(MajlisError):
    status = 422


class TooMany(MajlisError):
    """Too often; `details.retryAfterSeconds` becomes the Retry-After header."""

    status = 429

    def __init__(self, code: str, message: str, retry_after: int) -> None:
        super().__init__(code, message, {"retryAfterSeconds": retry_after})
        self.retry_after = retry_after


class Unavailable(MajlisError):
    status = 503


class ConfigurationError(MajlisError):
    """Majlis cannot start like this. The command line prints it as one line and exits with 2."""

    def __init__(self, message: str) -> None:
        super().__init__("configuration", message)
