"""Decides whether a person wants to be notified of a message, by what they chose in the app.

The web app decides the same for its own notifications (features/notifications/useNotifications.ts).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from majlis.clock import Millis
from majlis.entities.preferences import Preferences, QuietHours

# Older messages are not pushed, for example after the server was down.
RECENT_MILLIS = 10 * 60_000


def is_wanted(chosen: Preferences, message: Any, person_id: str, direct: bool) -> bool:
    """`message` is a row of the table."""
    space_id = message.space_id
    level = chosen.notify.get(space_id, "mentions")
    if level == "none" or space_id in chosen.muted or space_id in chosen.archived:
        return False
    tool = message.tool or {}
    decision = tool.get("ui") is not None and tool.get("status") == "running"
    # Among the messages of tools, only an open card notifies.
    if level == "decisions" or message.kind == "tool":
        return decision
    # In a direct conversation every message is for the person.
    return level == "all" or decision or direct or person_id in (message.mentions or ())


def is_quiet(hours: QuietHours | None, at: Millis, time_zone: str) -> bool:
    """The hours may span midnight."""
    if hours is None or hours.from_ == hours.to:
        return False
    time = f"{datetime.fromtimestamp(at / 1000, UTC).astimezone(ZoneInfo(time_zone)):%H:%M}"
    after, before = time >= hours.from_, time < hours.to
    return (after and before) if hours.from_ < hours.to else (after or before)
