"""The result of a check, with advice if it is not ok."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from majlis.cli.local import reason
from majlis.errors import ConfigurationError

Area = Literal["configuration", "database", "bus", "disk", "clock", "port"]


@dataclass(frozen=True, slots=True)
class Finding:
    area: Area
    level: Literal["ok", "warning", "problem"]
    message: str
    advice: str | None = None


def ok(area: Area, message: str) -> Finding:
    return Finding(area, "ok", message)


def warning(area: Area, message: str, advice: str) -> Finding:
    return Finding(area, "warning", message, advice)


def problem(area: Area, message: str, advice: str) -> Finding:
    return Finding(area, "problem", message, advice)


async def guarded(area: Area, failure: str, check: Awaitable[Finding], advice: str) -> Finding:
    """An error in the check becomes a problem; `failure` describes it."""
    try:
        return await check
    except ConfigurationError as error:
        return problem(area, error.message, advice)
    except (sa.exc.SQLAlchemyError, OSError, TimeoutError) as error:
        return problem(area, f"{failure}: {reason(error)}.", advice)
