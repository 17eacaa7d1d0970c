"""Finds references to messages in a text, by `msg:<id>` or by permalink (X12)."""

from __future__ import annotations

import re

# Per message, so that no text can pull a whole history into one line.
MAX_REFERENCES = 3
_REFERENCE = re.compile(r"(?:(?<!\w)msg:|/messages/)(msg_[0-9a-z]{16})(?!\w)")


def references(text: str) -> list[str]:
    """Ids in order, without repeats."""
    if "msg_" not in text:
        return []
    return list(dict.fromkeys(_REFERENCE.findall(text)))[:MAX_REFERENCES]
