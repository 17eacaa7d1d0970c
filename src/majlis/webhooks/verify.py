"""Checks that a request to a webhook is signed with its secret, and finds the id of its delivery."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from majlis import clock
from majlis.errors import Invalid, Unauthenticated

Scheme = Literal["github", "stripe", "standard", "secret", "none"]

_TOLERANCE_MILLIS = 300_000


def check_secret(scheme: Scheme, secret: str) -> None:
    """Called before the webhook is created."""
    if scheme == "standard":
        try:
            _standard(secret)
        except Exception:
            problem = (
                "A secret of Standard Webhooks is whsec_ and base64. Store the secret of the sender as it is shown."
            )
            raise Invalid("invalid_secret", problem, {"path": "verify.secret"}) from None


def verify(scheme: Scheme, secret: str | None, headers: Mapping[str, str], body: bytes) -> None:
    if scheme == "none":
        return
    assert secret is not None
    checks = {"github": _github, "stripe": _stripe, "standard": _verify_standard, "secret": _shared}
    try:
        right = checks[scheme](secret, headers, body)
    except Exception:
        # Input that makes a parser fail is not a valid signature.
        right = False
    if not right:
        raise Unauthenticated("bad_signature", f"The request is not signed with this webhook's secret ({scheme}).")


def delivery_id(scheme: Scheme, headers: Mapping[str, str], payload: Any) -> str | None:
    """The sender's id for this delivery. It is the same when the sender tries again."""
    match scheme:
        case "github":
            found = headers.get("x-github-delivery")
        case "stripe":
            found = payload.get("id") if isinstance(payload, dict) else None
        case _:
            found = headers.get("webhook-id") or headers.get("idempotency-key")
    return found if isinstance(found, str) and found else None


def _github(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    return _same(f"sha256={_signed(secret, body)}", headers.get("x-hub-signature-256", ""))


def _stripe(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    parts = [part.strip().partition("=") for part in headers.get("stripe-signature", "").split(",")]
    [at] = [value for name, _, value in parts if name == "t"]
    if abs(clock.now() - int(at) * 1000) > _TOLERANCE_MILLIS:
        return False
    expected = _signed(secret, at.encode() + b"." + body)
    return any(_same(expected, value) for name, _, value in parts if name == "v1")


def _verify_standard(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    _standard(secret).verify(body, dict(headers), json_parse=False)
    return True


def _shared(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return _same(secret.strip(), headers.get("x-webhook-secret") or bearer)


def _standard(secret: str) -> Any:
    from standardwebhooks.webhooks import Webhook

    return Webhook(secret.strip())


def _signed(secret: str, data: bytes) -> str:
    return hmac.new(secret.strip().encode(), data, sha256).hexdigest()


def _same(expected: str, given: str) -> bool:
    return hmac.compare_digest(expected.encode(), given.encode())
