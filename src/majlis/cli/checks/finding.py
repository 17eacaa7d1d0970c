"""What a check found, and for whatever is not well, what to do about it."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from majlis.cli.local import reason
from majlis.errors import ConfigurationError

Area = Literal["configuration", "database", "bus", "disk", "clock", "port"]
Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    area: Area
    level: Level
    message: str
    advice: str | None = None


def ok(area: Area, message: str) -> Finding:
    return Finding(area, "ok", message)


def warning(area: Area, message: str, advice: str) -> Finding:
    return Finding(area, "warning", message, advice)


def problem(area: Area, message: str, advice: str) -> Finding:
    return Finding(area, "problem", message, advice)


async def guarded(area: Area, failure: str, look: Awaitable[Finding], advice: str) -> Finding:
    """A look that fails is a finding, too: `failure` says what that means."""
    try:
        return await look
    except ConfigurationError as error:
        return problem(area, error.message, advice)
    except (sa.exc.SQLAlchemyError, OSError, TimeoutError) as error:
        return problem(area, f"{failure}: {reason(error)}.", advice)
